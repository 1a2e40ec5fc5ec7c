"""Units of the failure modes, round by round, by id: a unit is bad when it shows the failure, else good."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from detectors.observations import SYNTHESIS, deliberating_roles, running_round
from ledger.events.ids import event_id, parse_reference
from ledger.state.state import CheckFacts, State

_LINE_LEVEL: Final = re.compile(r"#.*[0-9]$")
NOT_APPLICABLE: Final = "NOT_APPLICABLE"


class Units(msgspec.Struct):
    """Units of one kind in one round: ids of the bad ones and of the others."""

    bad: list[str] = msgspec.field(default_factory=list[str])
    good: list[str] = msgspec.field(default_factory=list[str])

    @property
    def counts(self) -> tuple[int, int]:
        """Return (bad, all)."""
        return len(self.bad), len(self.bad) + len(self.good)

    def add(self, identity: str, is_bad: bool) -> None:
        """Count one unit."""
        (self.bad if is_bad else self.good).append(identity)


class RoundUnits(msgspec.Struct):
    """Units of one round, counted for every failure mode."""

    round: int
    present: tuple[str, ...]
    lead: str | None
    absent: str | None
    planned: str | None
    giving_in: Units = msgspec.field(default_factory=Units)
    """FM-1: checks, once for each position against the lead's; bad where it was given up without new evidence."""
    unopposed: Units = msgspec.field(default_factory=Units)
    """FM-1: checks; bad where ROBUST and no position was held against the lead's, nor given up for new evidence."""
    pro_forma: Units = msgspec.field(default_factory=Units)
    """FM-2: checks of the round before; bad where BROKEN moved no claim and no decision cites it by now."""
    unanchored: Units = msgspec.field(default_factory=Units)
    """FM-3: claims and decisions of the round; bad where they name no goal."""
    drift: Units = msgspec.field(default_factory=Units)
    """FM-3: the drift check of the round; bad where it failed."""
    shallow: Units = msgspec.field(default_factory=Units)
    """FM-6: checks; bad where they moved no claim and cite too few numbered places."""
    vague: Units = msgspec.field(default_factory=Units)
    """FM-5: claims; bad where their test names no outcome."""
    cited_claims: list[tuple[str, str]] = msgspec.field(default_factory=list[tuple[str, str]])
    """(role that raised the claim, id of the citing decision), one for each citation."""
    arrivals: list[str] = msgspec.field(default_factory=list[str])
    """Claims that were raised in the round."""
    answered_checks: list[str] = msgspec.field(default_factory=list[str])
    positions: list[str] = msgspec.field(default_factory=list[str])


def count_rounds(state: State, references_at_least: int) -> tuple[RoundUnits, ...]:
    """Return rounds 1 … R with their units; R is the last round whose cross-validation is complete."""
    checks = {
        identity: check
        for identity, check in state.checks.items()
        if check.phase != SYNTHESIS and check.repeats is None
    }
    running = running_round(state)
    last = max((check.round for check in checks.values() if check.round != running), default=0)
    rounds = {number: _empty(state, number) for number in range(1, last + 1)}
    answered = {identity: check for identity, check in checks.items() if check.result != NOT_APPLICABLE}
    for identity, check in answered.items():
        if units := rounds.get(check.round):
            units.answered_checks.append(identity)
            # A numbered place (`…#attack-3`, `K-1#L10-L20`) is no header and no whole.
            deep = sum(_LINE_LEVEL.search(ref) is not None for ref in check.refs)
            units.shallow.add(identity, deep < references_at_least and check.moved == 0)
    _count_positions(state, answered, rounds)
    _count_claims(state, rounds)
    _count_decisions(state, rounds)
    _count_pro_forma(state, answered, rounds)
    for number, drift in state.drift.items():
        if units := rounds.get(number):
            units.drift.add(drift.id, drift.verdict == "FAIL")
    return tuple(rounds.values())


def _empty(state: State, number: int) -> RoundUnits:
    opened = state.rounds.get(number)
    absent = opened.absent if opened else None
    return RoundUnits(
        round=number,
        present=tuple(role for role in deliberating_roles(state) if role != absent),
        lead=opened.lead if opened else None,
        absent=absent,
        planned=opened.planned_stress if opened else None,
    )


def _count_positions(
    state: State, answered: Mapping[str, CheckFacts], rounds: Mapping[int, RoundUnits]
) -> None:
    """Count FM-1: positions that differed from the lead's on a check, and checks that found nothing.

    A position is bad when it was given up without a new reference. A check is bad when it is ROBUST and each
    position that differed, if any, is bad.
    """
    sealed: dict[str, dict[str, tuple[str, str]]] = {}
    for identity, position in state.positions.items():
        if units := rounds.get(position.round):
            units.positions.append(identity)
            check = answered.get(position.on)
            if check is not None and check.round == position.round:
                sealed.setdefault(position.on, {})[position.role] = (position.stance, identity)
    turned = {flip.of: flip.because for flip in state.flips.values()}
    for verdict, stances in sealed.items():
        check = answered[verdict]
        units = rounds[check.round]
        leading = stances.get(units.lead or "")
        for stance, sealed_position in stances.values():
            # A position that agrees with the lead cannot be given up to it.
            if leading is not None and stance != leading[0]:
                because = turned.get(sealed_position)
                # References that the check cited itself were known before, so a flip on them is not explained.
                units.giving_in.add(verdict, because is not None and not set(because) - set(check.refs))
    for units in rounds.values():
        for identity in units.answered_checks:
            robust = answered[identity].result == "ROBUST"
            units.unopposed.add(identity, robust and identity not in units.giving_in.good)


def _count_claims(state: State, rounds: Mapping[int, RoundUnits]) -> None:
    for identity, claim in state.claims.items():
        if units := rounds.get(claim.round):
            units.arrivals.append(identity)
            units.vague.add(identity, claim.vague)
            units.unanchored.add(identity, not claim.anchored)


def _count_decisions(state: State, rounds: Mapping[int, RoundUnits]) -> None:
    for identity, decision in state.decisions.items():
        units = rounds.get(decision.round)
        # Only decisions of rounds count, because a final one cites claims of all rounds again.
        if units is None or decision.type != "round":
            continue
        units.unanchored.add(identity, not decision.anchored)
        cited = (state.claims.get(cite.id) for cite in decision.cites)
        units.cited_claims += [(claim.raised_by, identity) for claim in cited if claim is not None]


def _count_pro_forma(
    state: State, answered: Mapping[str, CheckFacts], rounds: Mapping[int, RoundUnits]
) -> None:
    """Count FM-2 checks of the round before; bad when BROKEN changed no claim and no decision cites it by now."""
    cited: dict[str, int] = {}
    for decision in state.decisions.values():
        for cite in decision.cites:
            # The earliest round counts, because FM-2 asks whether a verdict was used soon.
            cited[cite.id] = min(decision.round, cited.get(cite.id, decision.round))
    for identity, check in answered.items():
        if units := rounds.get(check.round + 1):
            ignored = cited.get(identity, units.round + 1) > units.round
            units.pro_forma.add(identity, check.result == "BROKEN" and not check.moved and ignored)


def same_round_artifact(ref: str, role: str, number: int) -> bool:
    """Return whether a reference is the artifact of `role` in round `number`: moot's own, or an import's path."""
    target = parse_reference(ref).id
    if target == event_id("artifact", number, role):
        return True
    match = re.search(r"round_0*(\d+)/([a-z_]+)\.md$", target)
    return match is not None and int(match[1]) == number and match[2] == role
