"""Failure modes FM-1 … FM-7 and FM-9: what is counted, against which tolerated rate, and the sentence that says it.

FM-1 is unearned agreement: positions given up without new evidence, and checks that find nothing. A check found
nothing
when it came out ROBUST and no sealed position differed from the lead's. On a ledger without positions no dissent is
known,
and every ROBUST check counts. E is that of one coin on two bets. Where no position differs, the first bet has no unit
and
stays 1: roles that agree on everything read like a run without positions, and not as all-clear because there is
nothing
left to give up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from detectors.observations import is_import
from detectors.report import EVIDENCE_MAX
from detectors.stopping.betting import (
    Stream,
    clustered_stream,
    e_values,
    mixed,
    product,
    share_stream,
)
from detectors.stopping.claim_supply import claim_supply
from detectors.stopping.domination import domination
from detectors.stopping.parameters import (
    GateParameters,
    Share,
    Unanimity,
)
from detectors.stopping.reading import (
    CountedShare,
    ModeReading,
    late_of,
    read,
    share_reading,
    thresholds,
)
from detectors.stopping.rivals import rivals_unexamined
from detectors.stopping.rounds import RoundUnits, Units
from detectors.stopping.stress_avoidance import stress_avoidance
from ledger.state.state import State

GIVEN_UP: Final = (
    "{bad} of {units} positions against the lead's since R{onset} were given up without new evidence"
)
FOUND_NOTHING: Final = (
    "{bad} of {units} checks since R{onset} found nothing while nobody stood against the lead"
)
ONLY_ROBUST: Final = (
    "{bad} of {units} checks since R{onset} were ROBUST (weak: the ledger has no sealed positions)"
)

Rounds = Sequence[RoundUnits]


class _Bet(NamedTuple):
    """Share that is bet on, and the sentence that reports it."""

    units: list[Units]
    rule: Share
    sentence: str
    by_check: bool = False

    @property
    def stream(self) -> Stream:
        if self.by_check:
            return clustered_stream([by_id(unit) for unit in self.units], self.rule.p0, self.rule.grid)
        return share_stream([unit.counts for unit in self.units], self.rule.p0, self.rule.grid)


def by_id(unit: Units) -> list[tuple[int, int]]:
    """Return (bad, all) for every id, which may occur more than once."""
    bad, every = Counter(unit.bad), Counter([*unit.bad, *unit.good])
    return [(bad[identity], count) for identity, count in every.items()]


def sycophancy(state: State, rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-1 after the last round, by the stronger of its two bets."""
    # Roles may give in together, so the positions on one check bet once.
    conceded = _Bet([each.giving_in for each in rounds], parameters.giving_in, GIVEN_UP, by_check=True)
    sentence = FOUND_NOTHING if state.positions else ONLY_ROBUST
    nothing = _Bet([each.unopposed for each in rounds], parameters.only_robust, sentence)
    reading = _both(conceded, nothing, parameters, planned)
    string = _string(rounds, parameters.unanimity)
    return _watched(reading, string, nothing) if string and reading.verdict != "ALARM" else reading


def _both(conceded: _Bet, nothing: _Bet, parameters: GateParameters, planned: int) -> ModeReading:
    """Return the reading of both bets on one coin: units of both count toward the minimum, evidence is the greater
    one's.
    """
    streams = [conceded.stream, nothing.stream]
    values = [e_values(stream, planned) for stream in streams]
    # The reading reports the bet with more evidence; a tie goes to the checks, which every ledger has.
    stronger, beside = (conceded, nothing) if values[0][-1:] > values[1][-1:] else (nothing, conceded)
    return read(
        "FM-1",
        mixed(parameters.stakes.giving_in, values),
        stronger.units,
        [streams[0] if stronger is conceded else streams[1]],
        late=late_of(streams, parameters),
        needed=nothing.rule.units_at_least,
        planned=planned,
        thresholds=thresholds(parameters),
        sentence=f"{stronger.sentence}; {stronger.rule.p0:.0%} is tolerated",
        have=[a.counts[1] + b.counts[1] for a, b in zip(conceded.units, nothing.units, strict=True)],
        tolerated=stronger.rule.p0,
        beside=CountedShare(tuple(unit.counts for unit in beside.units), beside.rule.p0),
    )


def _string(rounds: Rounds, rule: Unanimity) -> Rounds:
    """Return the last rounds, if they held nothing but checks that found nothing and there are enough of both.

    A round in which no check applied neither lengthens the string nor ends it.
    """
    held = [each for each in rounds if each.unopposed.counts[1]]
    string: list[RoundUnits] = []
    for each in reversed(held):
        # One check that found something, or one position against the lead, ends the string.
        if each.unopposed.good:
            break
        string.insert(0, each)
    checks = sum(len(each.unopposed.bad) for each in string)
    return string if len(string) >= rule.rounds_running and checks >= rule.checks_at_least else ()


def _watched(reading: ModeReading, string: Rounds, nothing: _Bet) -> ModeReading:
    """Return the reading as WATCH for a string of such rounds, whatever the bets are worth (SD-73, SD-78)."""
    checks = tuple(identity for each in string for identity in each.unopposed.bad)
    clause = nothing.sentence.format(bad=len(checks), units=len(checks), onset=string[0].round)
    return msgspec.structs.replace(
        reading,
        verdict="WATCH",
        onset=string[0].round,
        evidence=checks[:EVIDENCE_MAX],
        counter_evidence=(),
        bad=len(checks),
        units=len(checks),
        sentence=f"{clause}: {len(string)} rounds running with nothing else",
    )


def pro_forma_broken(state: State, rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-2: BROKEN verdicts that changed no claim and no decision."""
    del state
    sentence = "{bad} of {units} checks seen since R{onset} were BROKEN without consequence"
    units = [each.pro_forma for each in rounds]
    return share_reading("FM-2", units, parameters.pro_forma_broken, parameters, planned, sentence)


def goal_drift(state: State, rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-3: claims and decisions that name no goal, and failed drift checks.

    An import without any anchor never recorded them, so nothing can be said about its claims.
    """
    rule, failed = parameters.drift_unanchored, parameters.drift_failed
    recorded = any(each.unanchored.good for each in rounds) or not is_import(state)
    units = [each.unanchored if recorded else Units() for each in rounds]
    # Live forms ask for a goal, so fewer units go without one than in an import.
    p0, grid = rule.bet(asked=not is_import(state))
    anchors = share_stream([unit.counts for unit in units], p0, grid)
    drift = share_stream([each.drift.counts for each in rounds], failed.p0, (failed.p1,))
    both = product(anchors, drift)
    values = [e_values(stream, planned) for stream in (anchors, both)]
    return read(
        "FM-3",
        mixed(parameters.stakes.goal_drift, values),
        [Units([*unit.bad, *each.drift.bad], unit.good) for unit, each in zip(units, rounds, strict=True)],
        [anchors, both],
        needed=rule.units_at_least,
        planned=planned,
        thresholds=thresholds(parameters),
        sentence=f"{{bad}} of {{units}} claims and decisions since R{{onset}} name no goal or failed a drift check; "
        f"{p0:.0%} is tolerated",
        tolerated=p0,
        late=late_of([anchors, both], parameters),
    )


def verification_bypass(
    state: State, rounds: Rounds, parameters: GateParameters, planned: int
) -> ModeReading:
    """Return FM-6: checks with shallow evidence that moved nothing."""
    del state
    rule = parameters.bypass
    places = f"fewer than {rule.references_at_least} numbered places"
    sentence = f"{{bad}} of {{units}} checks since R{{onset}} moved no claim and name {places}"
    return share_reading("FM-6", [each.shallow for each in rounds], rule, parameters, planned, sentence)


Reader = Callable[[State, Rounds, GateParameters, int], ModeReading]
PANEL: Final[tuple[Reader, ...]] = (
    sycophancy,
    pro_forma_broken,
    goal_drift,
    domination,
    claim_supply,
    verification_bypass,
    stress_avoidance,
    rivals_unexamined,
)
"""FM-1 … FM-7 and FM-9, in this order."""
