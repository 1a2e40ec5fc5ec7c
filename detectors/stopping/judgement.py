"""Judgment of the profile `gates`: the failure modes, the gates, and what follows from them.

A run may stop when every gate that decides holds. A spent budget is never a reason to stop. Where nothing but
*unblocked* fails, more rounds of reading cannot help: the run stops deliberating and waits for a person.

A `RunningJudgement` keeps it up to date event by event; a stop check counts only the rounds that changed.

watch = RunningJudgement()
for event in events:
    watch.take(event)
    watch.judgement()        # equals `judge` on the same prefix, without reading the ledger again
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from detectors.observations import is_import
from detectors.report import AlarmReading, GateReading
from detectors.stopping.failure_modes import PANEL
from detectors.stopping.gates import gates, is_open
from detectors.stopping.parameters import GateParameters, gate_parameters
from detectors.stopping.reading import ModeReading
from detectors.stopping.rounds import RoundIndex, RoundUnits, count_round, count_rounds, last_round
from ledger.events import DriftCheck, Event, RoundOpened
from ledger.events.decisions import Advice
from ledger.events.values import FailureMode
from ledger.state.fold import step
from ledger.state.state import State

DEFAULT_ROUNDS = 13


def planned_rounds(state: State) -> int:
    """Return the number of planned rounds that deliberate: the B of the engine."""
    if state.opened is None:
        return DEFAULT_ROUNDS
    return sum("G" in row.phases for row in state.opened.plan) or DEFAULT_ROUNDS


_NOUNS: Final[Mapping[FailureMode, str]] = {"FM-5": "rounds", "FM-9": "tested claims"}
"""Failure mode → what is counted until it can be read."""
_BY_FORMS: Final[Mapping[FailureMode, float]] = {"FM-2": 0.05, "FM-3": 0.26, "FM-6": 0.12}
"""Modes whose bad unit a form can exclude → the tolerated rate where the reading has no single one."""
HARDLY_CHANCE: Final = 0.05


class StopJudgement(msgspec.Struct, frozen=True):
    """Judgment whether the run may end, by which gates, and the failure modes in the order of their alarms.

    `stop` without `ready`: what is missing is not to be had by going on.
    """

    ready: bool
    stop: bool
    advice: Advice
    gates: tuple[GateReading, ...]
    alarms: tuple[AlarmReading, ...]


def readings_of(state: State, parameters: GateParameters | None = None) -> tuple[ModeReading, ...]:
    """Return every failure mode after the last round of `state`, by the given or the installed thresholds."""
    parameters = parameters or gate_parameters()
    rounds = count_rounds(state, parameters.bypass.references_at_least)
    return tuple(read(state, rounds, parameters, planned_rounds(state)) for read in PANEL)


def judge(state: State, parameters: GateParameters | None = None) -> StopJudgement:
    """Return the judgment after the last round of `state`."""
    parameters = parameters or gate_parameters()
    return judged(state, count_rounds(state, parameters.bypass.references_at_least), parameters)


def judged(state: State, rounds: tuple[RoundUnits, ...], parameters: GateParameters) -> StopJudgement:
    """Return the same from rounds that were counted already."""
    planned = planned_rounds(state)
    readings = tuple(read(state, rounds, parameters, planned) for read in PANEL)
    all_gates = gates(state, rounds, readings, parameters)
    failing = [gate.name for gate in all_gates if gate.decides and not gate.ok]
    # Only this gate can be opened from outside alone. With any other failing, deliberation can still help.
    waits = failing == ["unblocked"]
    out_of_reach = not all(gate.ok for gate in all_gates if gate.name == "reachable")
    # Escalate instead of going on when the rest of the plan cannot make the run ready.
    in_vain = waits or out_of_reach or len(rounds) >= planned
    first = min((reading.alarm_round or 0 for reading in readings if is_open(state, reading)), default=None)
    return StopJudgement(
        ready=not failing,
        stop=waits or not failing,
        advice="strong_stop" if not failing else "escalate" if in_vain else "continue",
        gates=all_gates,
        alarms=tuple(_alarm_reading(state, reading, first) for reading in readings),
    )


def _alarm_reading(state: State, reading: ModeReading, first: int | None) -> AlarmReading:
    """Return a reading in words; of several open alarms the earliest is the suspected cause."""
    detail = reading.sentence
    if reading.verdict == "INSUFFICIENT":
        noun = _NOUNS.get(reading.mode, "units")
        detail = f"too little to say ({reading.seen} of {reading.needed} {noun} needed): {detail}"
    excluded = unmeasured(state, reading)
    if excluded:
        detail = f"not measurable here: {excluded}"
    still_open = is_open(state, reading)
    if reading.verdict == "ALARM":
        part = "perhaps a consequence of the earlier alarm"
        if reading.alarm_round == first:
            part = "suspected cause"
        detail = f"{detail} (alarm since R{reading.alarm_round}: {part if still_open else 'answered'})"
    if reading.counter_evidence:
        detail = f"{detail}; against it: {', '.join(reading.counter_evidence[:5])}"
    return AlarmReading(
        id=reading.mode,
        verdict="INSUFFICIENT" if excluded else reading.verdict,
        is_open=still_open,
        e_value=reading.e_value if reading.rounds else None,
        p_anytime=reading.p_anytime if reading.rounds else None,
        onset_round=reading.onset,
        detail=detail,
        evidence=list(reading.evidence),
    )


def unmeasured(state: State, reading: ModeReading) -> str:
    """Return why the silence of a mode says nothing: the run's forms leave no room for its bad unit.

    So many good units without a bad one are hardly chance at the tolerated rate. Empty where the mode is measured; an
    import was asked in forms that are not known.
    """
    if reading.mode not in _BY_FORMS or reading.verdict != "CLEAR" or is_import(state):
        return ""
    bad, units = sum(bad for bad, _ in reading.counts), sum(all_ for _, all_ in reading.counts)
    tolerated = _BY_FORMS[reading.mode] if reading.tolerated is None else reading.tolerated
    # If good units alone are plausible by chance at the tolerated rate, the silence may be real.
    if bad or (1 - tolerated) ** units >= HARDLY_CHANCE:
        return ""
    return f"0 of {units} where {tolerated:.0%} is tolerated"


class RunningJudgement:
    """Judgment of a run that is being watched. `state` is folded here, or by a caller that passes `fold=False`."""

    def __init__(self, parameters: GateParameters | None = None, state: State | None = None) -> None:
        self.state: Final = state if state is not None else State()
        self._parameters: Final = parameters or gate_parameters()
        self._index: Final = RoundIndex()
        self._units: Final[dict[int, RoundUnits]] = {}
        self._changed: Final[set[int]] = set()

    def take(self, event: Event, *, fold: bool = True) -> None:
        """Apply one event; its cost does not grow with the ledger."""
        if fold:
            step(self.state, event)
        if self._index.take(event) or isinstance(event, RoundOpened | DriftCheck):
            self._changed.update(
                (event.round, event.round + 1)
            )  # FM-2 counts a round's checks in the next one

    def rounds(self) -> tuple[RoundUnits, ...]:
        """Return every round's units; only those that changed since the last stop check are counted."""
        last = last_round(self.state, self._index)
        references = self._parameters.bypass.references_at_least
        for number in range(1, last + 1):
            if number in self._changed or number not in self._units:
                self._units[number] = count_round(self.state, self._index, number, references)
                self._changed.discard(number)
        return tuple(self._units[number] for number in range(1, last + 1))

    def readings(self) -> tuple[ModeReading, ...]:
        """Return every failure mode now."""
        # The plan may have been amended since, so it is read anew each time.
        rounds, planned = self.rounds(), planned_rounds(self.state)
        return tuple(read(self.state, rounds, self._parameters, planned) for read in PANEL)

    def judgement(self) -> StopJudgement:
        """Return the judgment now."""
        return judged(self.state, self.rounds(), self._parameters)
