"""Visibility in `structured`: the tables of FORMAT 5, one row per kind of step.

The verifier sees the question, the documents and the places that tested claims name; the lead sees what drift checks
found and the open questions, and every objection; a supplement is written from the proposal alone,
without the claims of earlier rounds; and a reviewer of verdicts sees neither those nor the positions of others.
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

_JUDGE: Final[View] = {C.QUESTION: Sight("all_to_judge"), C.PLACES: Sight("named")}
_CHECK_BASE: Final[View] = {
    **_JUDGE,
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

# A sealed position is given without proposal and supplements: they show where the lead
# and others are heading.
_SEALED: Final[View] = {
    C.QUESTION: ALL,
    C.PLAN: ALL,
    C.DECISIONS: ALL,
    C.OLD_CLAIMS: Sight("pending"),
    C.ARTIFACTS: ALL,
    C.CLAIMS: ALL,
}

VISIBILITY: Final[Mapping[str, View]] = {
    "B": {**_TALK, C.FLIPS: Sight("last_tensions"), C.UNANSWERED: ALL},
    # A supplement is written from the proposal alone, so claims of earlier rounds are left out.
    "C": {**{column: sight for column, sight in _TALK.items() if column != C.OLD_CLAIMS}, C.PROPOSAL: ALL},
    "D": {**_TALK, C.PROPOSAL: ALL, C.SUPPLEMENTS: ALL},
    "E.position": _SEALED,
    "E.belief": _SEALED,
    "E.check1": {**_CHECK_BASE, C.ARTIFACTS: Sight("listed", ("action", "critic"))},
    "E.check2": {**_CHECK_BASE, C.ARTIFACTS: Sight("listed", ("guardian", "observer"))},
    "E.check3": {
        **_CHECK_BASE,
        C.ARTIFACTS: Sight("listed", ("observer", "critic")),
        C.VERDICTS: Sight("listed", ("1", "2")),
    },
    "E.check4": {**_CHECK_BASE, C.DECISIONS: ALL, C.ARTIFACTS: ALL},
    "F": {
        column: sight for column, sight in _WHOLE_ROUND.items() if column not in (C.POSITIONS, C.OLD_CLAIMS)
    },
    "G": {**_WHOLE_ROUND, C.FLIPS: Sight("all_and_objections")},
    "H": {C.QUESTION: GOALS, C.DECISIONS: ALL},
    "S.resolve": {
        **_JUDGE,
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
