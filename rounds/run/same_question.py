"""Comparison of questions to a person, in any script: when two ask the same, one answer settles both.

A newer question covers an older one where it asks all that the older asks, with all its numbers and names. A question
for more, or one with another word that matters, stands alone: "keep" and "drop" may differ in one word, and one answer
must not settle both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ledger.events.ids import MENTION
from ledger.language.words import UNSPACED, asks
from ledger.plain_text import sentences

WORDS_MIN: Final = 3
LETTERS_MIN: Final = 4
STEM: Final = 5
"""Letters by which a word is known, so that "night" and "nightly" are one."""
DENIALS: Final = frozenset({"no", "not", "never"})
_WORD: Final = re.compile(r"\w+(?:[.,/-]\w+)*")
_NAME: Final = re.compile(r"[^\W\d_]+\d+")
"""A name with a number: `R1`. A question often says "them" of what the sentence before it names."""
# Ids of the ledger look like numbered names and differ between two questions about the same thing.
_REFERENCE: Final = re.compile(rf"\b{MENTION}(?:#[\w-]+)?")


def covers(newer: str, older: str) -> bool:
    """Return whether a newer question asks all that an older one asks, with all its numbers and names."""
    return asks_all_of(words_asked(newer), words_asked(older))


def asks_all_of(newer: frozenset[str], older: frozenset[str]) -> bool:
    """Return whether the words of a newer question hold those of an older one; few words must be the same."""
    # Texts without a word, of marks alone, are not alike for that; a denial turns a question around.
    if not older or (newer ^ older) & DENIALS:
        return False
    return newer >= older if len(older) >= WORDS_MIN else newer == older


def words_asked(text: str) -> frozenset[str]:
    """Return the words of what is asked, in any script, with the numbered names of the sentences around it."""
    questions = [sentence for sentence in sentences(text) if asks(sentence)]
    named = (word for word in _WORD.findall(_REFERENCE.sub(" ", text)) if _NAME.fullmatch(word))
    return frozenset(
        part for word in (*_WORD.findall(" ".join(questions) or text), *named) for part in _parts(word)
    )


def _parts(word: str) -> Iterator[str]:
    folded = word.casefold()
    # Scripts without spaces are compared by pairs of characters, since their words cannot be split simply.
    for run in UNSPACED.findall(folded):
        yield from (run[n : n + 2] for n in range(max(1, len(run) - 1)))
    has_digit = any(letter.isdigit() for letter in folded)
    # Short words such as "is" and "the" would make any two questions look alike; numbers and denials must count.
    if not UNSPACED.search(folded) and (len(folded) >= LETTERS_MIN or has_digit or folded in DENIALS):
        yield folded if has_digit else folded[:STEM]
