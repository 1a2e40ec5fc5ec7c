"""What is looked for in a text, and one part of its score."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ledger.result import Result

MENTION: Final = 15
"""A suspicious word in an ordinary sentence: shown, and by itself no reason even to warn."""
SHOWN_CHARACTERS_MAX: Final = 120


class ScreeningMatch(Result, frozen=True):
    """One part of the score, and where it was found."""

    kind: str
    points: int
    detail: str


class Pattern(NamedTuple):
    """What is looked for: `commanded` speaks to a reader and counts `points`, `mentioned` counts `MENTION`."""

    kind: str
    points: int
    commanded: re.Pattern[str]
    mentioned: re.Pattern[str] | None = None
    near: re.Pattern[str] | None = None
    """In lower case: a word without which `commanded` cannot match, so that long documents are read near it alone."""
    respelled: bool = True
    """Also looked for in the other readings: false for what is made of signs."""


def compiled(text: str) -> re.Pattern[str]:
    """A pattern whatever the case, line by line."""
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


def shown(found: str) -> str:
    """What was found, in ASCII and in one line."""
    return ascii(" ".join(found.split()))[1:-1][:SHOWN_CHARACTERS_MAX]
