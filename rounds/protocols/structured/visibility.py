"""What each kind of step of `structured` may see: the tables of FORMAT 5, a row a kind of step.

Version 2 differs in this: who judges sees the question, the documents and the places that the tested claims name;
the lead sees what drift checks said and which questions stand open; who decides sees every objection; a supplement is
written from the proposal alone, without the claims of earlier rounds; and who looks at verdicts sees neither those nor
the positions of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from roles.protocol import Column, Sight, View

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

VISIBILITY_1: Final[Mapping[str, View]] = {
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

_JUDGE: Final[View] = {C.QUESTION: Sight("all_to_judge"), C.PLACES: Sight("named")}
_ROUND_2: Final[View] = {
    column: sight for column, sight in _WHOLE_ROUND.items() if column not in (C.POSITIONS, C.OLD_CLAIMS)
}
VISIBILITY: Final[Mapping[str, View]] = {
    **VISIBILITY_1,
    "E.belief": VISIBILITY_1["E.position"],
    "B": {**VISIBILITY_1["B"], C.UNANSWERED: ALL},
    "C": {column: sight for column, sight in VISIBILITY_1["C"].items() if column != C.OLD_CLAIMS},
    **{
        step: {**VISIBILITY_1[step], **_JUDGE}
        for step in ("E.check1", "E.check2", "E.check3", "E.check4", "S.resolve")
    },
    "F": _ROUND_2,
    "G": {**_WHOLE_ROUND, C.FLIPS: Sight("all_and_objections")},
}
"""The same from version 2 on."""
