"""Rounds as the failure modes count them: the events of each, and its bad and good units by id.

A `RoundIndex` holds the ids of each round, so that one can be counted again without reading the others.
`index_rounds`
builds it from a whole State, `RoundIndex.take` keeps it up to date event by event; both give the same index.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from detectors.observations import deliberating_roles, running_round
from ledger.events import Claim, Decision, Event, Flip, Position, Verification
from ledger.events.ids import number_of, parse_reference, round_of
from ledger.state.lifecycle import TESTED
from ledger.state.state import CheckFacts, State

_TESTED: Final = frozenset(TESTED)
_LINE_LEVEL: Final = re.compile(r"#.*[0-9]$")
NOT_APPLICABLE: Final = "NOT_APPLICABLE"


class Held(msgspec.Struct):
    """Ids of one round's events; `touched` are claims that its checks moved."""

    checks: list[str] = msgspec.field(default_factory=list[str])
    positions: list[str] = msgspec.field(default_factory=list[str])
    flips: list[str] = msgspec.field(default_factory=list[str])
    claims: list[str] = msgspec.field(default_factory=list[str])
    decisions: list[str] = msgspec.field(default_factory=list[str])
    touched: set[str] = msgspec.field(default_factory=set[str])


class RoundIndex(msgspec.Struct):
    """Index of the rounds, with the first round in which a decision cites each thing."""

    rounds: dict[int, Held] = msgspec.field(default_factory=dict[int, Held])
    cited: dict[str, int] = msgspec.field(default_factory=dict[str, int])

    def round(self, number: int) -> Held:
        """Return the ids of a round."""
        held = self.rounds.get(number)
        if held is None:
            held = self.rounds[number] = Held()
        return held

    def cite(self, identity: str, round_: int) -> None:
        """Record that a decision of this round cites `identity`."""
        # The earliest round counts, because FM-2 asks whether a verdict was used soon.
        self.cited[identity] = min(round_, self.cited.get(identity, round_))

    def take(self, event: Event) -> bool:
        """Add one event to the index; return whether it belongs there."""
        held, identity = self.round(event.round), event.id or ""
        match event:
            case Verification():
                if event.phase != "S" and event.repeats is None:
                    held.checks.append(identity)
                held.touched.update(change.claim_id for change in event.claim_status_changes)
            case Position():
                held.positions.append(identity)
            case Flip():
                held.flips.append(identity)
            case Claim():
                held.claims.append(identity)
            case Decision():
                held.decisions.append(identity)
                for cite in event.cites:
                    self.cite(cite.id, event.round)
            case _:
                return False
        return True


def index_rounds(state: State) -> RoundIndex:
    """Return the index of a whole State."""
    index = RoundIndex()
    for identity, check in state.checks.items():
        if check.phase != "S" and check.repeats is None:
            index.round(check.round).checks.append(identity)
    for identity, position in state.positions.items():
        index.round(position.round).positions.append(identity)
    for identity, flip in state.flips.items():
        index.round(flip.round).flips.append(identity)
    for identity, claim in state.claims.items():
        index.round(claim.round).claims.append(identity)
        for move in claim.moves:
            # Only checks touch claims here, to match what `take` reads from single events.
            if move.by in state.checks:  # another claim that replaces this one is no test of it
                index.round(move.place.round).touched.add(identity)
    for identity, decision in state.decisions.items():
        index.round(decision.round).decisions.append(identity)
        for cite in decision.cites:
            index.cite(cite.id, decision.round)
    return index


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
    robust: Units = msgspec.field(default_factory=Units)
    unopposed: Units = msgspec.field(default_factory=Units)
    """Checks; bad where ROBUST and no sealed position differed from the lead's, as far as any was sealed."""
    pro_forma: Units = msgspec.field(default_factory=Units)
    unanchored: Units = msgspec.field(default_factory=Units)
    drift: Units = msgspec.field(default_factory=Units)
    shallow: Units = msgspec.field(default_factory=Units)
    vague: Units = msgspec.field(default_factory=Units)
    cited_claims: list[tuple[str, str]] = msgspec.field(default_factory=list[tuple[str, str]])
    """(role that raised the claim, id of the citing decision), one for each citation."""
    arrivals: list[str] = msgspec.field(default_factory=list[str])
    resolutions: list[str] = msgspec.field(default_factory=list[str])
    answered_checks: list[str] = msgspec.field(default_factory=list[str])
    positions: list[str] = msgspec.field(default_factory=list[str])


def count_rounds(state: State, references_at_least: int) -> tuple[RoundUnits, ...]:
    """Return rounds 1 … R with their units; R is the last round whose cross-validation is complete."""
    index = index_rounds(state)
    return tuple(
        count_round(state, index, number, references_at_least)
        for number in range(1, last_round(state, index) + 1)
    )


def last_round(state: State, index: RoundIndex) -> int:
    """Return R, the last round with a check outside the synthesis and complete cross-validation; 0 without one."""
    running = running_round(state)
    checked = (number for number, held in index.rounds.items() if held.checks and number != running)
    return max(checked, default=0)


def count_round(state: State, index: RoundIndex, number: int, references_at_least: int) -> RoundUnits:
    """Return one round with its units. It reads only that round's ids and the checks of the round before."""
    units = _empty(state, deliberating_roles(state), number)
    held = index.round(number)
    for identity in held.checks:
        check = state.checks[identity]
        if check.result != NOT_APPLICABLE:
            _count_check(units, identity, check, references_at_least)
    _count_positions(state, held, units)
    _count_unopposed(units)
    _count_claims(state, held, units)
    _count_decisions(state, held, units)
    _count_pro_forma(state, index, units)
    drift = state.drift.get(number)
    if drift is not None:
        units.drift.add(drift.id, drift.verdict == "FAIL")
    return units


def _empty(state: State, roles: tuple[str, ...], number: int) -> RoundUnits:
    opened = state.rounds.get(number)
    absent = opened.absent if opened else None
    return RoundUnits(
        round=number,
        present=tuple(role for role in roles if role != absent),
        lead=opened.lead if opened else None,
        absent=absent,
        planned=opened.planned_stress if opened else None,
    )


def _count_check(units: RoundUnits, identity: str, check: CheckFacts, references_at_least: int) -> None:
    units.answered_checks.append(identity)
    units.robust.add(identity, check.result == "ROBUST")
    deep = sum(line_level(ref) for ref in check.refs)
    units.shallow.add(identity, deep < references_at_least and check.moved == 0)


def _count_positions(state: State, held: Held, units: RoundUnits) -> None:
    """Count FM-1 positions that differed from the lead's on a check; bad when given up without a new reference."""
    sealed: dict[str, dict[str, tuple[str, str]]] = {}
    units.positions.extend(held.positions)
    for identity in held.positions:
        position = state.positions[identity]
        sealed.setdefault(position.on, {})[position.role] = (position.stance, identity)
    turned = {state.flips[identity].of: state.flips[identity].because for identity in held.flips}
    for verdict, stances in sealed.items():
        check = state.checks.get(verdict)
        if check is None or check.round != units.round or check.result == NOT_APPLICABLE:
            continue
        leading = stances.get(units.lead or "")
        for stance, sealed_position in stances.values():
            # A position that agrees with the lead cannot be given up to it.
            if leading is not None and stance != leading[0]:
                because = turned.get(sealed_position)
                # References that the check cited itself were known before, so a flip on them is not explained.
                units.giving_in.add(verdict, because is not None and not set(because) - set(check.refs))


def _count_unopposed(units: RoundUnits) -> None:
    """Count FM-1 checks in order; bad when they found nothing and no position was held against them."""
    stood_against, robust = set(units.giving_in.good), set(units.robust.bad)
    for identity in units.answered_checks:
        units.unopposed.add(identity, identity in robust and identity not in stood_against)


def _count_claims(state: State, held: Held, units: RoundUnits) -> None:
    for identity in held.claims:
        claim = state.claims[identity]
        units.arrivals.append(identity)
        units.vague.add(identity, claim.vague)
        units.unanchored.add(identity, not claim.anchored)
    # A set has no order, and lists of ids are recorded as evidence, so they must come out the same every time.
    for identity in sorted(held.touched, key=_order):
        tested = [move for move in state.claims[identity].moves if move.to in _TESTED]
        first = min(tested, default=None)
        if first is not None and first.place.phase != "S" and first.place.round == units.round:
            units.resolutions.append(identity)


def _order(identity: str) -> tuple[int, int]:
    return round_of(identity) or 0, number_of(identity)


def _count_decisions(state: State, held: Held, units: RoundUnits) -> None:
    for identity in held.decisions:
        decision = state.decisions[identity]
        # Only decisions of rounds count, because a final one cites claims of all rounds again.
        if decision.type != "round":
            continue
        units.unanchored.add(identity, not decision.anchored)
        for cite in decision.cites:
            claim = state.claims.get(cite.id)
            if claim is not None:
                units.cited_claims.append((claim.raised_by, identity))


def _count_pro_forma(state: State, index: RoundIndex, units: RoundUnits) -> None:
    """Count FM-2 checks of the round before; bad when BROKEN changed no claim and no decision cites it by now."""
    for identity in index.round(units.round - 1).checks:
        check = state.checks[identity]
        if check.result == NOT_APPLICABLE:
            continue
        ignored = index.cited.get(identity, units.round + 1) > units.round
        units.pro_forma.add(identity, check.result == "BROKEN" and not check.moved and ignored)


def line_level(ref: str) -> bool:
    """Return whether a reference names a numbered place (`…#attack-3`, `K-1#L10-L20`), not a header or a whole."""
    return _LINE_LEVEL.search(ref) is not None


def same_round_artifact(ref: str, role: str, number: int) -> bool:
    """Return whether a reference is the artifact of `role` in round `number`: moot's own, or an import's path."""
    target = parse_reference(ref).id
    if target == f"A-{number}-{role}":
        return True
    match = re.search(r"round_0*(\d+)/([a-z_]+)\.md$", target)
    return match is not None and int(match[1]) == number and match[2] == role
