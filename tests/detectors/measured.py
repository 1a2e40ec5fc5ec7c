"""What the failure modes and gates say of a ledger after every round, and rates over many ledgers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import msgspec

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.stopping.gates import StopJudgement, judge, readings_of
from detectors.stopping.reading import E_MAX
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import step
from ledger.state.state import State

NAMED = {"fm5i": "FM-5", "fm5s": "FM-5"} | {f"fm{n}": f"FM-{n}" for n in (1, 2, 3, 4, 6, 7)}
MINIMUM_ROUND = 5
UNSAID = frozenset({"examined", "settled", "unblocked", "reachable"})
"""Gates on what the published columns have no place for: an import asked nobody for an answer."""


class Course(msgspec.Struct, frozen=True):
    """A ledger as it was read round by round."""

    alarms: dict[str, int]
    """Failure mode → round of its alarm."""
    peak: dict[str, float]
    """Failure mode → its greatest e-value."""
    onset: dict[str, int | None]
    evidence: dict[str, tuple[str, ...]]
    stop: int | None
    """The first round in which every gate held that an import can meet."""


def course(files: Mapping[str, bytes]) -> Course:
    """Import a state directory and judge it after every round."""
    state, stop = State(), None
    for number, events in groupby(read_skill(files, None).events, key=lambda event: event.round):
        for event in events:
            step(state, event)
        if stop is None and number >= MINIMUM_ROUND and _holds(judge(state)):
            stop = number
    readings = readings_of(state)
    alarmed = {str(each.mode): each.alarm_round or 0 for each in readings if each.verdict == "ALARM"}
    return Course(
        alarms=alarmed,
        peak={
            str(each.mode): max(each.rounds, default=E_MAX if each.mode in alarmed else 0.0)
            for each in readings
        },
        onset={str(each.mode): each.onset for each in readings},
        evidence={str(each.mode): each.evidence for each in readings},
        stop=stop,
    )


def _holds(judged: StopJudgement) -> bool:
    return all(gate.ok for gate in judged.gates if gate.name not in UNSAID)


def simulated(setting: Setting) -> tuple[Simulation, Course]:
    """A simulated ledger and its course."""
    simulation = Simulation(setting)
    return simulation, course(simulation.files())


def settings(ledgers: int, **fields: object) -> list[Setting]:
    """So many settings that differ in their seed."""
    return [msgspec.convert({"seed": seed, **fields}, Setting) for seed in range(ledgers)]


def share(rows: Sequence[tuple[Simulation, Course]], holds: Callable[[Simulation, Course], bool]) -> float:
    """How often something holds."""
    return sum(holds(simulation, found) for simulation, found in rows) / len(rows)
