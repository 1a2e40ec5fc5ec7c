"""Patterns that screening looks for, and parts of its score."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ledger.result import Result

MENTION: Final = 15
"""Points of a suspicious word in an ordinary sentence; alone it does not even warn."""
SHOWN_CHARACTERS_MAX: Final = 120


class ScreeningMatch(Result, frozen=True):
    """One part of the score, and its place in the text."""

    kind: str
    points: int
    detail: str


class Pattern(NamedTuple):
    """A pattern: `commanded` speaks to a reader and counts `points`, `mentioned` counts `MENTION`."""

    kind: str
    points: int
    commanded: re.Pattern[str]
    mentioned: re.Pattern[str] | None = None
    near: re.Pattern[str] | None = None
    """In lower case: a word without which `commanded` cannot match, so that long documents are read near it alone."""
    respelled: bool = True
    """Also looked for in the other readings: false for what is made of signs."""


def compiled(text: str) -> re.Pattern[str]:
    """Compile a pattern that ignores case and works line by line."""
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


def excerpt(match: str) -> str:
    """Return a match in ASCII and in one line."""
    # ASCII, because a match may hold invisible or right-to-left characters that would disturb a terminal.
    return ascii(" ".join(match.split()))[1:-1][:SHOWN_CHARACTERS_MAX]
