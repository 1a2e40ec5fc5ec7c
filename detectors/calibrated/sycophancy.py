"""FM-1, agreement that nothing earned: positions given up without new evidence, and checks that find nothing.

A check found nothing when it came out ROBUST and nobody's sealed position stood against the lead's; on a ledger without
positions nobody is known to have stood against it, and every ROBUST check counts. E is the mean of the two bets. Where
no position differs the first has no unit and stays 1: roles that agree on everything read like a run without positions,
and not as all-clear because there is nothing left to give up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from detectors.calibrated.betting import Stream, e_values, share_stream
from detectors.calibrated.parameters import CalibratedParameters, Share, Unanimity
from detectors.calibrated.reading import CountedShare, Reading, read, share_reading, thresholds
from detectors.calibrated.rounds import RoundUnits, Units
from detectors.report import EVIDENCE_MAX
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
    """One share that is bet on, and the sentence that tells it."""

    units: list[Units]
    rule: Share
    sentence: str

    @property
    def stream(self) -> Stream:
        return share_stream([unit.counts for unit in self.units], self.rule.p0, self.rule.grid)


def sycophancy(state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int) -> Reading:
    """FM-1 after the last round; of the two bets the one that is worth more is told."""
    if parameters.unanimity is None:
        return _either(state, rounds, parameters, planned)
    given = _Bet([each.giving_in for each in rounds], parameters.giving_in, GIVEN_UP)
    sentence = FOUND_NOTHING if state.positions else ONLY_ROBUST
    nothing = _Bet([each.unopposed for each in rounds], parameters.only_robust, sentence)
    reading = _both(given, nothing, parameters, planned)
    string = _string(rounds, parameters.unanimity)
    return _watched(reading, string, nothing) if string and reading.verdict != "ALARM" else reading


def _either(state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int) -> Reading:
    """Version 1 read the positions or, on a ledger without any, the verdicts."""
    if state.positions:
        units = [each.giving_in for each in rounds]
        return share_reading("FM-1", units, parameters.giving_in, parameters, planned, GIVEN_UP)
    units = [each.robust for each in rounds]
    return share_reading("FM-1", units, parameters.only_robust, parameters, planned, ONLY_ROBUST)


def _both(given: _Bet, nothing: _Bet, parameters: CalibratedParameters, planned: int) -> Reading:
    """The mean of the two bets: units of both count for what is needed, evidence is that of the greater one."""
    values = [e_values(bet.stream, planned) for bet in (given, nothing)]
    told, beside = (given, nothing) if values[0][-1:] > values[1][-1:] else (nothing, given)
    return read(
        "FM-1",
        [(a + b) / 2 for a, b in zip(*values, strict=True)],
        told.units,
        [told.stream],
        needed=nothing.rule.units_at_least,
        planned=planned,
        thresholds=thresholds(parameters),
        sentence=f"{told.sentence}; {told.rule.p0:.0%} is tolerated",
        have=[a.counts[1] + b.counts[1] for a, b in zip(given.units, nothing.units, strict=True)],
        tolerated=told.rule.p0,
        beside=CountedShare(tuple(unit.counts for unit in beside.units), beside.rule.p0),
    )


def _string(rounds: Rounds, rule: Unanimity) -> Rounds:
    """The last rounds, when they held nothing but checks that found nothing: enough of both, else none.

    A round in which no check applied neither lengthens the string nor ends it.
    """
    held = [each for each in rounds if each.unopposed.counts[1]]
    string: list[RoundUnits] = []
    for each in reversed(held):
        if each.unopposed.good:
            break
        string.insert(0, each)
    checks = sum(len(each.unopposed.bad) for each in string)
    return string if len(string) >= rule.rounds_running and checks >= rule.checks_at_least else ()


def _watched(reading: Reading, string: Rounds, nothing: _Bet) -> Reading:
    """A string of such rounds is watched whatever the bets are worth (SD-73, SD-78)."""
    checks = tuple(identity for each in string for identity in each.unopposed.bad)
    told = nothing.sentence.format(bad=len(checks), units=len(checks), onset=string[0].round)
    return msgspec.structs.replace(
        reading,
        verdict="WATCH",
        onset=string[0].round,
        evidence=checks[:EVIDENCE_MAX],
        counter_evidence=(),
        bad=len(checks),
        units=len(checks),
        sentence=f"{told}: {len(string)} rounds running with nothing else",
    )
