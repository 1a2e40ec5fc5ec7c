"""Observations: what the signals count, per round, in one pass over a State.

`rounds` are the deliberation rounds 1 … R, silent ones too. Two things are left out of them:

- the closing synthesis (phase S): it resolves what is pending and asks nothing new (SD-19), so neither its
  moves nor a round that holds nothing else may look like fresh disagreement or like a sudden silence;
- a round of a live run whose cross-validation is still going on: half a round would read as a falling one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec

from ledger.events import RoundOpened
from ledger.state.lifecycle import TESTED, Move
from ledger.state.state import CheckFacts, ClaimFacts, State

ROLES: Final = ("action", "guardian", "observer", "critic")
"""The roles of an import that names no cast (SD-1)."""
NEUTRAL_ROLE: Final = "verifier"
SYNTHESIS: Final = "S"
_UNTIL_CROSS_VALIDATION: Final = frozenset({"A", "B", "C", "D", "E"})
_DISAGREEMENT: Final = frozenset({"BROKEN", "UNCLEAR"})
_TESTED: Final = frozenset(TESTED)
_ARTIFACT: Final = re.compile(r"(?:^|/)([a-z][a-z0-9_]*)\.md#([a-z]+)")
_PART_OF_SECTION: Final = {
    "trace": "action",
    "invariant": "guardian",
    "step": "observer",
    "friction": "observer",
    "attack": "critic",
}


class Tally(msgspec.Struct):
    """Counts of one round. `tested` are the verifications that took a claim out of pending, once per claim."""

    round: int
    stress: bool = False
    disagreeing: list[str] = msgspec.field(default_factory=list[str])
    robust: list[str] = msgspec.field(default_factory=list[str])
    broken: int = 0
    tested: list[str] = msgspec.field(default_factory=list[str])
    tensions: int = 0

    def add(self, identity: str, check: CheckFacts) -> None:
        """Count one verification."""
        if check.result in _DISAGREEMENT:
            self.disagreeing.append(identity)
        if check.result == "BROKEN":
            self.broken += 1
        elif check.result == "ROBUST":
            self.robust.append(identity)

    @property
    def disagreement(self) -> int:
        """Return the number of BROKEN and UNCLEAR verdicts (SD-63)."""
        return len(self.disagreeing)


class Observations(msgspec.Struct, frozen=True):
    """Everything that a signal looks at."""

    state: State
    roles: tuple[str, ...]
    rounds: tuple[Tally, ...]
    settled: tuple[RoundOpened, ...]
    """Every round, ascending, without the one whose cross-validation is still going on."""

    @property
    def calm(self) -> tuple[Tally, ...]:
        """Return the deliberation rounds in which no role was absent."""
        return tuple(tally for tally in self.rounds if not tally.stress)


def observe(state: State) -> Observations:
    """Count `state`."""
    running = running_round(state)
    return Observations(
        state=state,
        roles=deliberating_roles(state),
        rounds=deliberation_rounds(state),
        settled=tuple(state.rounds[number] for number in sorted(state.rounds) if number != running),
    )


def deliberating_roles(state: State) -> tuple[str, ...]:
    """Return the roles that argue: the cast without the neutral verifier. Their number is the N of S3 and S4."""
    return tuple(role for role in state.roles if role != NEUTRAL_ROLE) or ROLES


def is_import(state: State) -> bool:
    """Return whether the ledger began as an import, including a fork or a redaction of one."""
    opened = state.opened
    return opened is not None and (opened.origin.type == "import" or opened.by == "import")


def untested(state: State, through: int | None = None) -> tuple[str, ...]:
    """Return claims that no check tested, as of the end of round `through` (None: now), in order.

    The closing synthesis settles what is still pending without asking anything new (SD-19), which is not a test.
    """
    return tuple(
        identity
        for identity, claim in state.claims.items()
        if (through is None or claim.round <= through) and not is_tested(claim, through)
    )


def is_tested(claim: ClaimFacts, through: int | None = None) -> bool:
    """Return whether a check tested the claim by the end of round `through` (None: now)."""
    first = first_test(claim)
    return first is not None and (through is None or first.place.round <= through)


def first_test(claim: ClaimFacts) -> Move | None:
    """Return the move that took the claim out of pending; None while it waits, or when only the closing settled it."""
    first = min((move for move in claim.moves if move.to in _TESTED), default=None)
    return None if first is None or first.place.phase == SYNTHESIS else first


def deliberation_rounds(state: State) -> tuple[Tally, ...]:
    """Return rounds 1 … R: R is the last that has a verification outside the synthesis and is checked to the end."""
    running = running_round(state)
    counted = {
        identity: check
        for identity, check in state.checks.items()
        # A repeated check is a second opinion on the same thing and would count one disagreement twice.
        if check.phase != SYNTHESIS and check.repeats is None and check.round != running
    }
    # Rounds up to the last one with a check count, silent ones too: a gap is part of the trend.
    last = max((check.round for check in counted.values()), default=0)
    stressed = {number for number, opened in state.rounds.items() if opened.absent is not None}
    tallies = [Tally(number, stress=number in stressed) for number in range(1, last + 1)]
    for identity, check in counted.items():
        if check.round >= 1:
            tallies[check.round - 1].add(identity, check)
    for claim in state.claims.values():
        # Each claim counts once, when it leaves pending by the first legal move.
        first = first_test(claim)
        if first is not None and 1 <= first.place.round <= last:
            tallies[first.place.round - 1].tested.append(first.by)
    for concern in state.concerns.values():
        if concern.type == "tension" and 1 <= concern.round <= last:
            tallies[concern.round - 1].tensions += 1
    return tuple(tallies)


def running_round(state: State) -> int | None:
    """Return the round of a live run whose cross-validation is still going on, None otherwise."""
    if state.opened is None or is_import(state) or state.round not in state.rounds:
        return None
    # The validation that ends a round shows that its checks are complete.
    open_still = state.phase in _UNTIL_CROSS_VALIDATION and state.round not in state.validated
    return state.round if open_still else None


def parts(state: State) -> Mapping[str, str]:
    """Return role → its part (`action`, `guardian`, `observer`, `critic`), by name unless sections tell all four.

    An import may call its roles what it likes, also by each other's names: there the sections that checks cite in a
    role's artifacts say it. An attack is the adversary's all the same, an invariant the guardian's, a trace the one's
    who acts and a step the walking observer's (SD-6, SD-10, SD-12, SD-14).
    """
    # Live runs use the roles of the protocol, whose names are their parts.
    by_name = {role: role for role in ROLES}
    if not is_import(state):
        return by_name
    seen: dict[str, Counter[str]] = {}
    for check in state.checks.values():
        for ref in check.refs:
            match = _ARTIFACT.search(ref)
            part = _PART_OF_SECTION.get(match[2]) if match else None
            if match and part:
                seen.setdefault(match[1], Counter())[part] += 1
    by_section = {role: counted.most_common(1)[0][0] for role, counted in seen.items() if role in by_name}
    # Partial evidence could swap two roles, so names count unless all four parts are found.
    return by_section if set(by_section.values()) == set(ROLES) else by_name
