"""The judgement of the profile `calibrated`: eight readings, the gates, and what follows from them.

READY, may the deliberation end: five gates and no open alarm. The budget is never a reason to stop.

A `RunningJudgement` keeps it up to date event by event; a look counts the rounds that changed and no others.

watch = RunningJudgement()
for event in events:
    watch.take(event)
    watch.judgement()        # what `judge` says of the same prefix, without reading the ledger again
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from detectors.calibrated.agreement import Agreement, agreement
from detectors.calibrated.failure_modes import PANEL
from detectors.calibrated.parameters import (
    VERSION,
    CalibratedParameters,
    Judges,
    Ready,
    calibrated_parameters,
)
from detectors.calibrated.reading import ModeReading
from detectors.calibrated.rounds import RoundIndex, RoundUnits, count_round, count_rounds, last_round
from detectors.observations import deliberating_roles, parts, untested
from detectors.report import ANSWERED, AlarmReading, GateReading
from ledger.events import Claim, DriftCheck, Event, RoundOpened
from ledger.events.decisions import Advice
from ledger.events.ids import parse_reference, round_of
from ledger.state.fold import step
from ledger.state.state import State

DEFAULT_ROUNDS = 13
MOST_CONSEQUENTIAL = "critic"
NO_CLAIM = "no claim yet"
"""The value of a share of nothing."""
SCALED = "scaled to a full table"
"""Said with a yield of rounds from which somebody was absent: it is more than they brought."""


def gates(
    state: State,
    rounds: Sequence[RoundUnits],
    readings: Sequence[ModeReading],
    parameters: CalibratedParameters,
    *,
    as_recorded: bool = False,
) -> tuple[GateReading, ...]:
    """The gates as they stand after the last round; `as_recorded` gives them the values that a look records."""
    rule = parameters.ready
    by_version_1 = as_recorded and parameters.version < VERSION
    part_of = parts(state)
    stressed = [each.round for each in rounds if part_of.get(each.absent or "") == MOST_CONSEQUENTIAL]
    honest = next((reading.verdict != "ALARM" for reading in readings if reading.mode == "FM-7"), True)
    last = state.drift[max(state.drift)].verdict if state.drift else None
    blocking = [
        *(reading.mode for reading in readings if is_open(state, reading)),
        *_watched(readings, parameters),
    ]
    return (
        GateReading(
            "rounds", len(rounds) >= rule.rounds_at_least, str(len(rounds)), f"≥{rule.rounds_at_least}"
        ),
        _pending(state, rule, by_version_1),
        GateReading(
            "critic_stressed",
            bool(stressed) and honest,
            f"absent in {', '.join(f'R{number}' for number in stressed)}" if stressed else "never absent",
            "really absent once",
        ),
        GateReading("drift", last != "FAIL", last or "no drift check", "last one not FAIL"),
        _yield(state, rounds, rule, by_version_1),
        GateReading("alarms", not blocking, ", ".join(blocking) or "none", "none open"),
    )


def _pending(state: State, rule: Ready, by_version_1: bool) -> GateReading:
    share = len(untested(state)) / len(state.claims) if state.claims else 1.0
    value = f"{share:.1%}" if state.claims or by_version_1 else NO_CLAIM
    return GateReading("pending", share <= rule.pending_at_most, value, f"≤{rule.pending_at_most:.0%}")


def _yield(state: State, rounds: Sequence[RoundUnits], rule: Ready, by_version_1: bool) -> GateReading:
    late, limit = late_yield(state, rounds, rule.window_rounds), f"≤{rule.yield_at_most:.0%}"
    if by_version_1:
        value = f"{first_yield(state, rounds, rule.window_rounds):.1%}"
    else:
        value = f"{late:.1%}" if any(each.arrivals for each in rounds) else NO_CLAIM
        last, full = rounds[-rule.window_rounds :], len(deliberating_roles(state))
        limit += f", {SCALED}" if any(len(each.present) < full for each in last) else ""
    return GateReading("yield", late <= rule.yield_at_most, value, limit)


def _watched(readings: Sequence[ModeReading], parameters: CalibratedParameters) -> list[str]:
    """Agreement that nothing earned withholds READY before it alarms (FM-1; not by thresholds of version 1)."""
    if parameters.unanimity is None:
        return []
    return [f"{each.mode} watched" for each in readings if each.mode == "FM-1" and each.verdict == "WATCH"]


def late_yield(state: State, rounds: Sequence[RoundUnits], window_rounds: int) -> float:
    """What the last rounds brought, as a share of all claims, scaled to artifacts of a full table; 1 at most.

    Where fewer rounds were held than the window has, these are all of them.
    """
    return min(1.0, first_yield(state, rounds, min(window_rounds, max(1, len(rounds)))))


def first_yield(state: State, rounds: Sequence[RoundUnits], window_rounds: int) -> float:
    """The same as looks by thresholds of version 1 recorded it: more than all claims in the first rounds."""
    last = rounds[-window_rounds:]
    artifacts = sum(len(each.present) for each in last)
    total = sum(len(each.arrivals) for each in rounds)
    if not artifacts or not total:
        return 1.0
    new = sum(len(each.arrivals) for each in last)
    return window_rounds * len(deliberating_roles(state)) * (new / artifacts) / total


def is_open(state: State, reading: ModeReading) -> bool:
    """An alarm that nobody has answered: it latches until a recorded closing."""
    if reading.verdict != "ALARM":
        return False
    since = reading.alarm_round or 0
    return not any(
        alarm.fm == reading.mode and alarm.action == "closed" and alarm.round >= since
        for alarm in state.alarms
    )


def planned_rounds(state: State) -> int:
    """Rounds of the plan that deliberate: the B of the engine."""
    if state.opened is None:
        return DEFAULT_ROUNDS
    return sum("G" in row.phases for row in state.opened.plan) or DEFAULT_ROUNDS


CONSEQUENCES: Final = frozenset({"FM-8"})
"""Claims pile up when checks are empty, shallow or swamped (FM-2, FM-6, FM-5): beside those FM-8 is what follows."""


class CalibratedJudgement(msgspec.Struct, frozen=True):
    """Whether the run may end, by which gates, and the failure modes in the order of their alarms."""

    ready: bool
    advice: Advice
    gates: tuple[GateReading, ...]
    alarms: tuple[AlarmReading, ...]


def readings_of(state: State, parameters: CalibratedParameters | None = None) -> tuple[ModeReading, ...]:
    """FM-1 … FM-8 after the last round of `state`, by the installed thresholds if no others are given."""
    parameters = parameters or calibrated_parameters()
    rounds = count_rounds(state, parameters.bypass.references_at_least)
    return tuple(read(state, rounds, parameters, planned_rounds(state)) for read in PANEL)


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
    readings = tuple(read(state, rounds, parameters, planned) for read in PANEL)
    twice = agreement(state, parameters.judges)
    found = (
        *gates(state, rounds, readings, parameters, as_recorded=as_recorded),
        *_judges(twice, parameters.judges),
    )
    ready = all(gate.ok for gate in found)
    advice: Advice = "strong_stop" if ready else "escalate" if len(rounds) >= planned else "continue"
    first = min((_place(reading) for reading in readings if reading.verdict == "ALARM"), default=None)
    return CalibratedJudgement(
        ready=ready,
        advice=advice,
        gates=found,
        alarms=tuple(_told(state, reading, first, twice) for reading in readings),
    )


def _judges(twice: Agreement | None, rule: Judges) -> tuple[GateReading, ...]:
    """A gate of its own once enough verdicts were given twice."""
    if twice is None or twice.alpha is None or twice.low is None:
        return ()
    value = f"alpha {twice.alpha:.2f}, at least {twice.low:.2f}, of {twice.repeats}"
    limit = f"≥{rule.alpha_refused_below}"
    return (GateReading("judges", not twice.unreliable, value, limit),)


def _place(reading: ModeReading) -> tuple[int, bool]:
    """Where an alarm stands among others: by its round, and of one round what only follows comes last."""
    return reading.alarm_round or 0, reading.mode in CONSEQUENCES


def _told(
    state: State, reading: ModeReading, first: tuple[int, bool] | None, twice: Agreement | None
) -> AlarmReading:
    """A reading in words; of several alarms the earliest is the suspected cause."""
    detail = reading.sentence
    if reading.verdict == "INSUFFICIENT":
        noun = "rounds" if reading.mode == "FM-5" else "units"
        detail = f"too little to say ({reading.seen} of {reading.needed} {noun} needed): {detail}"
    if reading.verdict == "ALARM":
        part = "suspected cause" if _place(reading) == first else "perhaps a consequence of the earlier alarm"
        answered = "" if is_open(state, reading) else ANSWERED
        detail = f"{detail} (alarm since R{reading.alarm_round}: {part}{answered})"
    if reading.counter_evidence:
        detail = f"{detail}; against it: {', '.join(reading.counter_evidence[:5])}"
    if reading.flaw:
        detail = f"{detail} ({reading.flaw})"
    if twice is not None and twice.unreliable:
        detail = f"{detail} (verdicts unreliable: alpha {twice.alpha}, at least {twice.low})"
    return AlarmReading(
        id=reading.mode,
        verdict=reading.verdict,
        e_value=reading.e_value if reading.rounds else None,
        onset_round=reading.onset,
        detail=detail,
        evidence=list(reading.evidence),
    )


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

    def judgement(self) -> CalibratedJudgement:
        """The judgement as it stands."""
        return judged(self.state, self.rounds(), self._parameters)
