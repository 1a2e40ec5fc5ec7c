"""The judgement of the profile `calibrated`: the failure modes, the gates, and what follows from them.

READY, may the deliberation end: all gates that decide, and no open alarm. The budget is never a reason to stop. Where
nothing but *blocked* fails more rounds of reading cannot help: the run stops for a person or a measurement.

A `RunningJudgement` keeps it up to date event by event; a look counts the rounds that changed and no others.

watch = RunningJudgement()
for event in events:
    watch.take(event)
    watch.judgement()        # what `judge` says of the same prefix, without reading the ledger again
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from detectors.calibrated.failure_modes import panel_of
from detectors.calibrated.gates import gates, is_open
from detectors.calibrated.parameters import CalibratedParameters, calibrated_parameters
from detectors.calibrated.reading import ModeReading
from detectors.calibrated.rounds import RoundIndex, RoundUnits, count_round, count_rounds, last_round
from detectors.observations import is_import
from detectors.report import ANSWERED, AlarmReading, GateReading
from ledger.events import Claim, DriftCheck, Event, RoundOpened
from ledger.events.decisions import Advice, FailureMode
from ledger.events.ids import parse_reference, round_of
from ledger.state.fold import step
from ledger.state.state import State

DEFAULT_ROUNDS = 13


def planned_rounds(state: State) -> int:
    """Rounds of the plan that deliberate: the B of the engine."""
    if state.opened is None:
        return DEFAULT_ROUNDS
    return sum("G" in row.phases for row in state.opened.plan) or DEFAULT_ROUNDS


_NOUNS: Final[Mapping[FailureMode, str]] = {"FM-5": "rounds", "FM-9": "tested claims"}
"""Failure mode → what is counted until it can be read."""
_BY_FORMS: Final[Mapping[FailureMode, float]] = {"FM-2": 0.05, "FM-3": 0.26, "FM-6": 0.12}
"""Modes whose bad unit a form can exclude, and the tolerated rate of one that tells none."""
HARDLY_CHANCE: Final = 0.05
CONSEQUENCES: Final = frozenset({"FM-8"})
"""Claims pile up when checks are empty, shallow or swamped (FM-2, FM-6, FM-5): beside those FM-8 is what follows."""


class CalibratedJudgement(msgspec.Struct, frozen=True):
    """Whether the run may end, by which gates, and the failure modes in the order of their alarms.

    `stop` without `ready`: what is missing is not to be had by going on.
    """

    ready: bool
    stop: bool
    advice: Advice
    gates: tuple[GateReading, ...]
    alarms: tuple[AlarmReading, ...]


def readings_of(state: State, parameters: CalibratedParameters | None = None) -> tuple[ModeReading, ...]:
    """Every failure mode after the last round of `state`, by the installed thresholds if no others are given."""
    parameters = parameters or calibrated_parameters()
    rounds = count_rounds(state, parameters.bypass.references_at_least)
    return tuple(read(state, rounds, parameters, planned_rounds(state)) for read in panel_of(parameters))


def judge(
    state: State, parameters: CalibratedParameters | None = None, *, as_recorded: bool = False
) -> CalibratedJudgement:
    """The judgement after the last round of `state`."""
    parameters = parameters or calibrated_parameters()
    rounds = count_rounds(state, parameters.bypass.references_at_least)
    return judged(state, rounds, parameters, as_recorded=as_recorded)


def judged(
    state: State,
    rounds: tuple[RoundUnits, ...],
    parameters: CalibratedParameters,
    *,
    as_recorded: bool = False,
) -> CalibratedJudgement:
    """The same from rounds that were counted already; `as_recorded` as a look of these thresholds records it."""
    planned = planned_rounds(state)
    readings = tuple(read(state, rounds, parameters, planned) for read in panel_of(parameters))
    found = gates(state, rounds, readings, parameters, as_recorded=as_recorded)
    failing = [gate.name for gate in found if gate.decides and not gate.ok]
    in_vain = failing == ["blocked"] or "reachable" in failing
    advice: Advice = (
        "strong_stop" if not failing else "escalate" if in_vain or len(rounds) >= planned else "continue"
    )
    first = min((_place(reading) for reading in readings if reading.verdict == "ALARM"), default=None)
    return CalibratedJudgement(
        ready=not failing,
        stop=failing in ([], ["blocked"]),
        advice=advice,
        gates=found,
        alarms=tuple(_told(state, reading, first) for reading in readings),
    )


def _place(reading: ModeReading) -> tuple[int, bool]:
    """Where an alarm stands among others: by its round, and of one round what only follows comes last."""
    return reading.alarm_round or 0, reading.mode in CONSEQUENCES


def _told(state: State, reading: ModeReading, first: tuple[int, bool] | None) -> AlarmReading:
    """A reading in words; of several alarms the earliest is the suspected cause."""
    detail = reading.sentence
    if reading.verdict == "INSUFFICIENT":
        noun = _NOUNS.get(reading.mode, "units")
        detail = f"too little to say ({reading.seen} of {reading.needed} {noun} needed): {detail}"
    excluded = unmeasured(state, reading)
    if excluded:
        detail = f"not measurable here: {excluded}"
    if reading.verdict == "ALARM":
        part = "suspected cause" if _place(reading) == first else "perhaps a consequence of the earlier alarm"
        answered = "" if is_open(state, reading) else ANSWERED
        detail = f"{detail} (alarm since R{reading.alarm_round}: {part}{answered})"
    if reading.counter_evidence:
        detail = f"{detail}; against it: {', '.join(reading.counter_evidence[:5])}"
    if reading.flaw:
        detail = f"{detail} ({reading.flaw})"
    return AlarmReading(
        id=reading.mode,
        verdict="INSUFFICIENT" if excluded else reading.verdict,
        e_value=reading.e_value if reading.rounds else None,
        p_anytime=reading.p_anytime if reading.rounds else None,
        onset_round=reading.onset,
        detail=detail,
        evidence=list(reading.evidence),
    )


def unmeasured(state: State, reading: ModeReading) -> str:
    """Why the silence of a mode says nothing: the forms of the run leave no room for its bad unit, by all that is seen.

    So many good units without a bad one are hardly chance at the tolerated rate. Empty where the mode is measured; an
    import was asked in forms that are not known.
    """
    if reading.mode not in _BY_FORMS or reading.verdict != "CLEAR" or is_import(state):
        return ""
    bad, units = sum(bad for bad, _ in reading.counts), sum(all_ for _, all_ in reading.counts)
    tolerated = _BY_FORMS[reading.mode] if reading.tolerated is None else reading.tolerated
    if bad or (1 - tolerated) ** units >= HARDLY_CHANCE:
        return ""
    return f"0 of {units} where {tolerated:.0%} is tolerated"


class RunningJudgement:
    """A run as it is watched. `state` is folded here, or by the caller who then says so with `fold=False`."""

    def __init__(self, parameters: CalibratedParameters | None = None, state: State | None = None) -> None:
        self.state: Final = state if state is not None else State()
        self._parameters: Final = parameters or calibrated_parameters()
        self._index: Final = RoundIndex()
        self._units: Final[dict[int, RoundUnits]] = {}
        self._changed: Final[set[int]] = set()

    def take(self, event: Event, *, fold: bool = True) -> None:
        """Take one event in; its cost does not grow with the ledger."""
        if fold:
            step(self.state, event)
        if self._index.take(event) or isinstance(event, RoundOpened | DriftCheck):
            self._changed.update(
                (event.round, event.round + 1)
            )  # FM-2 counts a round's checks in the next one
        if isinstance(event, Claim) and event.raised_at_artifact is not None:
            source = round_of(parse_reference(event.raised_at_artifact).id)
            self._changed.update(() if source is None else (source,))

    def rounds(self) -> tuple[RoundUnits, ...]:
        """Every round's units; only those that changed since the last look are counted."""
        last = last_round(self.state, self._index)
        references = self._parameters.bypass.references_at_least
        for number in range(1, last + 1):
            if number in self._changed or number not in self._units:
                self._units[number] = count_round(self.state, self._index, number, references)
                self._changed.discard(number)
        return tuple(self._units[number] for number in range(1, last + 1))

    def readings(self) -> tuple[ModeReading, ...]:
        """Every failure mode as it stands."""
        rounds, planned = self.rounds(), planned_rounds(self.state)
        return tuple(
            read(self.state, rounds, self._parameters, planned) for read in panel_of(self._parameters)
        )

    def judgement(self) -> CalibratedJudgement:
        """The judgement as it stands."""
        return judged(self.state, self.rounds(), self._parameters)
