"""What each kind of step of `structured` may see: the table of FORMAT 5, a row a kind of step."""

from __future__ import annotations

from typing import Final

from roles.protocol import Column, Sight, Step, View

ALL: Final = Sight("all")
GOALS: Final = Sight("goals")
OPEN_OR_CITED: Final = Sight("open_or_cited")
CITED: Final = Sight("cited")
C = Column

_CHECK_BASE: Final[View] = {
    C.QUESTION: GOALS,
    C.PLAN: Sight("absent"),
    C.OLD_CLAIMS: Sight("may_move"),
    C.CLAIMS: ALL,
}
_TALK: Final[View] = {
    C.QUESTION: ALL,
    C.PLAN: ALL,
    C.DECISIONS: ALL,
    C.OLD_CLAIMS: OPEN_OR_CITED,
    C.AMENDMENTS: ALL,
}
_WHOLE_ROUND: Final[View] = {
    **_TALK,
    C.PROPOSAL: ALL,
    C.SUPPLEMENTS: ALL,
    C.ARTIFACTS: ALL,
    C.CLAIMS: ALL,
    C.POSITIONS: ALL,
    C.VERDICTS: ALL,
}

VISIBILITY: Final[dict[str, View]] = {
    "B": {**_TALK, C.FLIPS: Sight("last_tensions")},
    "C": {**_TALK, C.PROPOSAL: ALL},
    "D": {**_TALK, C.PROPOSAL: ALL, C.SUPPLEMENTS: ALL},
    "E.position": {
        C.QUESTION: ALL,
        C.PLAN: ALL,
        C.DECISIONS: ALL,
        C.OLD_CLAIMS: Sight("pending"),
        C.ARTIFACTS: ALL,
        C.CLAIMS: ALL,
    },
    "E.check1": {**_CHECK_BASE, C.ARTIFACTS: Sight("listed", ("action", "critic"))},
    "E.check2": {**_CHECK_BASE, C.ARTIFACTS: Sight("listed", ("guardian", "observer"))},
    "E.check3": {
        **_CHECK_BASE,
        C.ARTIFACTS: Sight("listed", ("observer", "critic")),
        C.VERDICTS: Sight("listed", ("1", "2")),
    },
    "E.check4": {**_CHECK_BASE, C.DECISIONS: ALL, C.ARTIFACTS: ALL},
    "F": _WHOLE_ROUND,
    "G": {**_WHOLE_ROUND, C.FLIPS: ALL},
    "H": {C.QUESTION: GOALS, C.DECISIONS: ALL},
    "S.resolve": {
        C.QUESTION: GOALS,
        C.OLD_CLAIMS: Sight("pending"),
        C.ARTIFACTS: CITED,
        C.VERDICTS: CITED,
    },
    "S.review": {
        C.QUESTION: ALL,
        C.DECISIONS: ALL,
        C.OLD_CLAIMS: Sight("every"),
        C.VERDICTS: CITED,
        C.FLIPS: Sight("open_tensions"),
        C.AMENDMENTS: ALL,
    },
    "S.close": {
        C.QUESTION: ALL,
        C.DECISIONS: ALL,
        C.OLD_CLAIMS: Sight("every"),
        C.ARTIFACTS: CITED,
        C.VERDICTS: CITED,
        C.FLIPS: Sight("reviews_and_open_tensions"),
        C.AMENDMENTS: ALL,
    },
}
"""A column that is not named is never shown."""


def row_of(step: Step) -> str:
    """The row that a step reads: all artifacts share one."""
    return "D" if step.task.startswith("D.") else step.task
