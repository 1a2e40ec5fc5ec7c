"""Screening of text from outside: an additive score, its parts, and the action that follows (S4-22 … S4-29).

Points are added and cut at 100: from 80 BLOCK, from 50 ESCALATE, from 20 WARN, else ALLOW. Unlike the published rules a
pattern counts in full only where it speaks to a reader: "ignore all previous instructions" at the head of a sentence
blocks, "should the parser ignore previous instructions?" is a mention. A text longer than the limit is escalated by
its length alone. The rules have a version, which a run records: a screening by other rules is taken as given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from ledger.result import Result
from rounds.screening import rules
from rounds.screening.rules import ScreeningMatch

RULES_VERSION: Final = rules.VERSION
"""Version of the rules by which a run is screened."""
SCORE_MAX: Final = 100
QUESTION_MAX: Final = 5_000
DOCUMENT_MAX: Final = 1_000_000
IMPORT_MAX: Final = 100_000_000
BLOCK_FROM: Final = 80
ESCALATE_FROM: Final = 50
WARN_FROM: Final = 20

ScreeningAction = Literal["ALLOW", "WARN", "ESCALATE", "BLOCK"]


class ScreeningResult(Result, frozen=True):
    """The score, from 0 to 100, the action that follows, and its parts."""

    score: int
    action: ScreeningAction
    issues: list[ScreeningMatch]


def screen(text: str, length_max: int = QUESTION_MAX) -> ScreeningResult:
    """Return the score of a text, its parts, and the action. `length_max` is in characters."""
    issues = [*_length(text, length_max), *rules.issues(text)]
    # Points are cut at the maximum and not normalized, so that adding harmless text never lowers a score.
    score = min(SCORE_MAX, sum(issue.points for issue in issues))
    return ScreeningResult(score=score, action=_action(score), issues=issues)


def _action(score: int) -> ScreeningAction:
    if score >= BLOCK_FROM:
        return "BLOCK"
    if score >= ESCALATE_FROM:
        return "ESCALATE"
    return "WARN" if score >= WARN_FROM else "ALLOW"


def _length(text: str, length_max: int) -> Iterator[ScreeningMatch]:
    if len(text) > length_max:
        # Length alone escalates and never blocks: a person decides whether a long text is meant.
        yield ScreeningMatch("too long", ESCALATE_FROM, f"{len(text)} characters, more than {length_max}")
    elif len(text.strip()) < 3:
        yield ScreeningMatch("too short", 10, f"{len(text.strip())} characters")
