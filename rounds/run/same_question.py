"""Comparison of questions to a person, in any script: when two ask the same, one answer settles both.

A newer question covers an older one where it asks nearly all that the older asks, with all its numbers and names. A
question for more, or for another number or name, stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ledger.events.ids import MENTION
from ledger.language.words import UNSPACED, asks
from ledger.plain_text import sentences

ASKED_AGAIN: Final = (3, 4)
"""The share of an older question's words that a newer one must have: three in four."""
WORDS_MIN: Final = 3
LETTERS_MIN: Final = 4
_WORD: Final = re.compile(r"\w+(?:[.,/-]\w+)*")
_NAME: Final = re.compile(r"[^\W\d_]+\d+")
"""A name with a number: `R1`. A question often says "them" of what the sentence before it names."""
# Ids of the ledger look like numbered names and differ between two questions about the same thing.
_REFERENCE: Final = re.compile(rf"\b{MENTION}(?:#[\w-]+)?")


def covers(newer: str, older: str) -> bool:
    """Return whether a newer question asks nearly all that an older one asks, with all its numbers and names."""
    return asks_all_of(words_asked(newer), words_asked(older))


def asks_all_of(newer: frozenset[str], older: frozenset[str]) -> bool:
    """Return whether the words of a newer question hold nearly all of an older one, with all its numbers and names."""
    common = len(newer & older)
    part, whole = ASKED_AGAIN
    # A number decides: "within 5 days" and "within 30 days" share almost all words and ask different things.
    numbers = (word for word in older if any(letter.isdigit() for letter in word))
    if len(older) < WORDS_MIN:
        # Texts without a word, of marks alone, are not alike for that.
        return bool(older) and newer == older
    return common * whole >= len(older) * part and newer.issuperset(numbers)


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
    # Short words such as "is" and "the" would make any two questions look alike; short numbers must count.
    is_long = len(folded) >= LETTERS_MIN or any(letter.isdigit() for letter in folded)
    if is_long and not UNSPACED.search(folded):
        yield folded
