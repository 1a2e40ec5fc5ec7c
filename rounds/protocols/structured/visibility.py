"""Visibility in `structured`: the tables of FORMAT 5, one row per kind of step.

The verifier sees the question, the documents and the places that tested claims name; the lead sees what drift checks
found and the open questions, and every objection; a supplement is written from the proposal alone,
without the claims of earlier rounds; and a reviewer of verdicts sees neither those nor the positions of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detectors.stopping.readiness import counted_alone, dropped
from ledger.state.state import State
from roles.protocol import Column, Sight, View
from rounds.protocols.schedule import active_roles
from rounds.protocols.step_table import ALL

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
"""What each kind of step sees. A column that is not named is never shown; one that is named also needs a place in
`roles/prompts/structured/layout.json`, or no brief shows it (`tests/roles/test_layout.py` looks)."""


# ---------------------------------------------------------------- the option for a role's claim

# Left to themselves, roles raise claims about the leader, and about two options at once; in recorded runs an option
# was then left without a single tested claim. With the rule `rivals`, each role gets one option per round.
RULE: Final = "rivals"
SPREAD: Final = "spread"


def spreads(state: State) -> bool:
    """Return whether roles get an option for their claim; runs opened without the rule never did."""
    return state.opening.rules.get(RULE) == SPREAD and len(state.options) > 1


def option_for(state: State, round_: int, role: str) -> str | None:
    """Return the option for a role's claim, of those that no verdict dropped.

    `state` is that at the opening of phase D.

    A pending claim about one option alone counts like a test. Roles choose one after the other, in
    role order, and ties follow the order of the options.
    """
    counts, gone = counted_alone(state), dropped(state)
    # Without pending claims in the count, all roles of a round would be sent to the same option.
    for claim in state.claims.values():
        if claim.status == "pending" and len(claim.about) == 1 and claim.about[0] in counts:
            counts[claim.about[0]] += 1
    living = {option: count for option, count in counts.items() if option not in gone}
    # With one living option there is no rival left to spread claims over.
    for author in active_roles(state, round_) if len(living) > 1 else ():
        option = min(living, key=living.__getitem__)
        living[option] += 1
        if author == role:
            return option
    return None


YOURS: Final = """\
let the claim that you raise be about {option} alone (`about`: {option} and no other), for it or against it: options
can be compared only when each was tested. Where nothing about {option} alone is worth a test, say so in a finding, and
raise what is"""
