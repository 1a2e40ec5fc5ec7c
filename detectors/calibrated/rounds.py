"""What the failure modes count, per deliberation round, in one pass over a State; ids of bad and good units beside."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from detectors.observations import deliberating_roles, deliberation_rounds
from ledger.ids import parse_reference
from ledger.lifecycle import TESTED
from ledger.state import CheckFacts, State

_TESTED: Final = frozenset(TESTED)
_LINE_LEVEL: Final = re.compile(r"#.*[0-9]$")
NOT_APPLICABLE: Final = "NOT_APPLICABLE"


class Units(msgspec.Struct):
    """Units of one kind in one round: ids of the bad ones and of the others."""

    bad: list[str] = msgspec.field(default_factory=list[str])
    good: list[str] = msgspec.field(default_factory=list[str])

    @property
    def counts(self) -> tuple[int, int]:
        """(bad, all)."""
        return len(self.bad), len(self.bad) + len(self.good)

    def add(self, identity: str, is_bad: bool) -> None:
        """Count one unit."""
        (self.bad if is_bad else self.good).append(identity)


class RoundUnits(msgspec.Struct):
    """One round, counted for every failure mode."""

    round: int
    present: tuple[str, ...]
    lead: str | None
    absent: str | None
    planned: str | None
    giving_in: Units = msgspec.field(default_factory=Units)
    robust: Units = msgspec.field(default_factory=Units)
    pro_forma: Units = msgspec.field(default_factory=Units)
    unanchored: Units = msgspec.field(default_factory=Units)
    drift: Units = msgspec.field(default_factory=Units)
    shallow: Units = msgspec.field(default_factory=Units)
    vague: Units = msgspec.field(default_factory=Units)
    cited_claims: list[tuple[str, str]] = msgspec.field(default_factory=list[tuple[str, str]])
    """(role that raised the claim, id of the citing decision), one for each citation."""
    arrivals: list[str] = msgspec.field(default_factory=list[str])
    resolutions: list[str] = msgspec.field(default_factory=list[str])
    listed: int | None = None
    unlinked: int = 0
    answered_checks: list[str] = msgspec.field(default_factory=list[str])


def count_rounds(state: State, references_at_least: int) -> tuple[RoundUnits, ...]:
    """Rounds 1 … R with their units; R is the last that cross-validation has gone through."""
    roles = deliberating_roles(state)
    last = len(deliberation_rounds(state))
    rounds = tuple(_empty(state, roles, number) for number in range(1, last + 1))
    checks = {
        identity: check
        for identity, check in state.checks.items()
        if check.phase != "S" and check.repeats is None and 1 <= check.round <= last
    }
    for identity, check in checks.items():
        if check.result != NOT_APPLICABLE:
            _count_check(rounds[check.round - 1], identity, check, references_at_least)
    _count_positions(state, rounds)
    _count_claims(state, rounds)
    _count_decisions(state, rounds)
    _count_pro_forma(state, rounds, checks)
    _count_findings(state, rounds)
    for number, drift in state.drift.items():
        if 1 <= number <= last:
            rounds[number - 1].drift.add(drift.id, drift.verdict == "FAIL")
    return rounds


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


def _count_positions(state: State, rounds: tuple[RoundUnits, ...]) -> None:
    """FM-1: roles that stood against the lead on a check; bad when they turned without a new reference."""
    sealed: dict[str, dict[str, tuple[str, str]]] = {}
    for identity, position in state.positions.items():
        sealed.setdefault(position.on, {})[position.role] = (position.stance, identity)
    turned = {flip.of: (identity, flip.because) for identity, flip in state.flips.items()}
    for verdict, stances in sealed.items():
        check = state.checks.get(verdict)
        if check is None or not 1 <= check.round <= len(rounds) or check.result == NOT_APPLICABLE:
            continue
        units = rounds[check.round - 1]
        leading = stances.get(units.lead or "")
        for stance, sealed_position in stances.values():
            if leading is not None and stance != leading[0]:
                flip = turned.get(sealed_position)
                units.giving_in.add(verdict, flip is not None and not set(flip[1]) - set(check.refs))


def _count_claims(state: State, rounds: tuple[RoundUnits, ...]) -> None:
    for identity, claim in state.claims.items():
        if 1 <= claim.round <= len(rounds):
            units = rounds[claim.round - 1]
            units.arrivals.append(identity)
            units.vague.add(identity, claim.vague)
            units.unanchored.add(identity, not claim.anchored)
        first = min((move for move in claim.moves if move.to in _TESTED), default=None)
        if first is not None and first.place.phase != "S" and 1 <= first.place.round <= len(rounds):
            rounds[first.place.round - 1].resolutions.append(identity)


def _count_decisions(state: State, rounds: tuple[RoundUnits, ...]) -> None:
    for identity, decision in state.decisions.items():
        if not 1 <= decision.round <= len(rounds) or decision.type != "round":
            continue
        units = rounds[decision.round - 1]
        units.unanchored.add(identity, not decision.anchored)
        for cite in decision.cites:
            claim = state.claims.get(cite.id)
            if claim is not None:
                units.cited_claims.append((claim.raised_by, identity))


def _count_pro_forma(state: State, rounds: tuple[RoundUnits, ...], checks: dict[str, CheckFacts]) -> None:
    """FM-2: the checks of the round before; bad when BROKEN changed no claim and no decision cites it by now."""
    cited: dict[str, int] = {}
    for decision in state.decisions.values():
        for cite in decision.cites:
            cited[cite.id] = min(decision.round, cited.get(cite.id, decision.round))
    for identity, check in checks.items():
        if check.result == NOT_APPLICABLE or check.round >= len(rounds):
            continue
        following = check.round + 1
        ignored = cited.get(identity, following + 1) > following
        rounds[following - 1].pro_forma.add(
            identity, check.result == "BROKEN" and not check.moved and ignored
        )


def _count_findings(state: State, rounds: tuple[RoundUnits, ...]) -> None:
    for units in rounds:
        opened = state.rounds.get(units.round)
        if opened is not None and opened.findings is not None:
            units.listed = sum(count.listed for count in opened.findings)
            units.unlinked = sum(count.unlinked for count in opened.findings)
    for identity, listed in state.listed.items():
        number = int(identity.split("-")[1])
        if 1 <= number <= len(rounds):
            units = rounds[number - 1]
            units.listed = (units.listed or 0) + listed
            units.unlinked += sum(f"{identity}#finding-{k}" not in state.linked for k in range(1, listed + 1))


def line_level(ref: str) -> bool:
    """Whether a reference names a numbered place (`…#attack-3`, `K-1#L10-L20`), and not a header or a whole thing."""
    return _LINE_LEVEL.search(ref) is not None


def same_round_artifact(ref: str, role: str, number: int) -> bool:
    """Whether a reference points at the artifact of `role` in round `number`: ours, or a path of an import."""
    target = parse_reference(ref).id
    if target == f"A-{number}-{role}":
        return True
    match = re.search(r"round_0*(\d+)/([a-z_]+)\.md$", target)
    return match is not None and int(match[1]) == number and match[2] == role
