"""Meanings of option ids: the asker's words from the opening, the agenda or a document of the opening."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ledger.events import Agenda
from ledger.language.words import word_count
from ledger.plain_text import first_sentence, one_line
from ledger.state.book import Book

_LISTED: Final = re.compile(r"^\s*(?:[-*+]\s+)?[*_`]*(O-\d+)[*_`]*[:.)]?\s+(\S.*)$", re.MULTILINE)
"""A line of a document that begins with the id of an option: `- O-2 One journal with a hash chain.`"""
# Skip ids that a parenthesis explains already; an opening one becomes part of the gloss.
_NAMED: Final = re.compile(r"(\()?\b(O-\d+)\b(?! \()")
# Words of refusal shortly before a name: "not X", "rather than X". A "but" or a comma ends their reach.
_SET_ASIDE: Final = re.compile(
    r"\b(?:not|no|than|over|against|beats|instead of|rather than)\b(?:(?!\bbut\b)[^,;:.]){0,25}\Z"
)
"""Words before an option's name by which a sentence rules the option out."""
WORDS: Final = 8
"""Maximum words of an option next to its id; a longer one is cut at its first comma, colon or semicolon."""


def options_of(book: Book) -> dict[str, str]:
    """Return option texts by id, from the opening, else the agenda, else a document of the opening.

    In a document, the first line that begins with an id defines it. Empty where no source defines the ids: then
    each text that uses an `O-1` means its own.
    """
    opening = book.state.opening
    agendas = list(book.of(Agenda))
    # The asker's own list wins over an agenda that a role wrote.
    options = opening.options or (agendas[-1].options if agendas else ())
    if options:
        return {option.id: option.text for option in options}
    options_listed: dict[str, str] = {}
    for document in opening.context:
        raw = book.blobs.read(document.sha256)
        # Documents come from the user and need not be valid UTF-8.
        for identity, text in _LISTED.findall(raw.decode("utf-8", "replace")) if raw else ():
            # A document may name an option again later; its first line is the definition.
            options_listed.setdefault(identity, one_line(text))
    return options_listed


def named(book: Book, text: str) -> str:
    """Return a text in which each option has the asker's words at its first mention."""
    options = options_of(book) if "O-" in text else {}
    # Glossing every mention would drown a sentence, so only the first has the words.
    seen: set[str] = set()

    def glossed(match: re.Match[str]) -> str:
        opens, identity = match[1] or "", match[2]
        if identity in seen or identity not in options:
            return match[0]
        seen.add(identity)
        words = _short(options[identity])
        return f"{opens}{identity}: {words}" if opens else f"{identity} ({words})"

    return _NAMED.sub(glossed, text)


def option_said(options: Mapping[str, str], text: str) -> str | None:
    """Return the option whose name comes first in the first sentence of a text; None where it names none.

    The name of an option is its text up to the first comma, colon or semicolon, as in ``Take `lru`: it is
    simple``.
    """
    sentence = first_sentence(text).replace("`", "").casefold()
    mentions: list[tuple[int, int, str]] = []
    for identity, words in options.items():
        name = re.split(r"[,;:]", one_line(words).replace("`", ""))[0].strip(" .").casefold()
        # Whole words only: the option `list` must not match inside "listing".
        places = re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", sentence) if name else ()
        mentions += [
            # At the same place the longest name wins, so "lru cache" beats "lru".
            (place.start(), -len(name), identity)
            for place in places
            if not _SET_ASIDE.search(sentence, 0, place.start())
        ]
    return min(mentions)[2] if mentions else None


def _short(text: str) -> str:
    line = one_line(text)
    line = line if word_count(line) <= WORDS else re.split(r"[,;:]", line)[0]
    return line.rstrip(".")
