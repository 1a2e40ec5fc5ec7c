r"""Spellings: one text as a reader sees it, however it was written down, and where in the writing each part stands.

    "p\u0061ss\/word"   pass&#x2F;word   pass%2Fword   p a (NFD, full width, zero-width joiners) …      →  pass/word

Undone are escapes of JSON, TOML, HTML and addresses, to any depth of quoting; folded are compatible Unicode forms
(NFKD), characters that nobody sees, and white space, which becomes one blank. Case is kept, and so is every other
code: base64, a hash, a translation or a picture of the words is another text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

Place = tuple[int, int]
"""From and to, as indices into the text as it was written."""

_SPELLED: Final = re.compile(
    r"""
    \\+ (?: u(?P<high>[dD][89abAB][0-9a-fA-F]{2}) \\+ u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})
          | u(?P<four>[0-9a-fA-F]{4}) | U(?P<eight>00[01][0-9a-fA-F]{5}) | x(?P<two>[0-9a-fA-F]{2})
          | (?P<letter>[nrtbf"'/]) | (?P<bare>) )
  | (?P<percent>(?:%[0-9a-fA-F]{2})+)
  | (?P<entity>&(?:\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});)
    """,
    re.VERBOSE,
)
_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)


def undone(text: str) -> str:
    """`text` without its escapes."""
    return _SPELLED.sub(_meant, text)


def folded(text: str) -> str:
    """`text` in one Unicode form, without what is not seen, every white space one blank."""
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFKD", text))
    return " ".join(text.split())


def placed(text: str) -> tuple[str, list[Place]]:
    """`folded(undone(text))`, and for each of its characters the place in `text` that it came from."""
    seen: list[str] = []
    places: list[Place] = []
    for cluster, place in _clusters(_characters(text)):
        kept = cluster if cluster.isascii() else _UNSEEN.sub("", unicodedata.normalize("NFKD", cluster))
        for character in kept:
            if not character.isspace():
                seen.append(character)
                places.append(place)
            elif seen and seen[-1] == " ":
                places[-1] = (places[-1][0], place[1])
            elif seen:
                seen.append(" ")
                places.append(place)
    if seen and seen[-1] == " ":
        seen.pop()
        places.pop()
    return "".join(seen), places


def _characters(text: str) -> Iterator[tuple[str, Place]]:
    """Each character that is meant, and what it was written as."""
    end = 0
    for spelled in _SPELLED.finditer(text):
        yield from ((text[at], (at, at + 1)) for at in range(end, spelled.start()))
        yield from ((character, spelled.span()) for character in _meant(spelled))
        end = spelled.end()
    yield from ((text[at], (at, at + 1)) for at in range(end, len(text)))


def _clusters(characters: Iterator[tuple[str, Place]]) -> Iterator[tuple[str, Place]]:
    """Each character with the marks that stand on it: the order of marks is what a Unicode form changes."""
    whole, begin, end = "", 0, 0
    for character, place in characters:
        if whole and unicodedata.combining(character):
            whole, end = whole + character, place[1]
            continue
        if whole:
            yield whole, (begin, end)
        whole, (begin, end) = character, place
    if whole:
        yield whole, (begin, end)


def _meant(spelled: re.Match[str]) -> str:
    """What an escape stands for; what stands for nothing is left as it is."""
    part = spelled.groupdict()
    if part["high"]:
        pair = 0x10000 + ((int(part["high"], 16) & 0x3FF) << 10) + (int(part["low"], 16) & 0x3FF)
        return chr(pair)
    code = part["four"] or part["eight"] or part["two"]
    if code:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else spelled[0]
    if part["letter"]:
        return _LETTERS.get(part["letter"], part["letter"])
    if part["percent"]:
        return bytes.fromhex(part["percent"].replace("%", "")).decode("utf-8", "replace")
    if part["entity"]:
        return html.unescape(part["entity"])
    return "\\"
