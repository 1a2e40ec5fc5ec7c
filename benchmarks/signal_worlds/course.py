"""Turn a simulated ledger into a run and read it after every round with the functions behind `moot signals`.

The real import reads the ledger. In a world with `asked` it then gets the fields of one of moot's own runs: the plan,
the options of the question, the subjects of claims, and the sealed forecasts of every role. A forecast reflects the
rounds before it: it moves from a role's first forecast toward the one that all evidence supports, half the way for a
fixed number of tested claims. `truth` is the option that leads once all evidence is in.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import msgspec

from benchmarks.signal_worlds.ledgers import ROLES, Setting, Simulation
from benchmarks.signal_worlds.world import World
from detectors.parameters import gate_parameters
from detectors.stopping.gates import judge, readings_of
from ledger.events import Belief, Claim, Event, RunOpened
from ledger.events.envelope import Points
from ledger.events.run import Labelled, Origin, PlanRow
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import step
from ledger.state.lifecycle import TESTED
from ledger.state.state import ANSWERS, NEITHER, POSITIONS, STANDS, State
from rounds.protocols.plans import NORMAL, PLANS

LAST: Final = 12
"""Largest difference, in points, between a role's first or last forecast and that of the panel."""


class Course(NamedTuple):
    """Results of one run."""

    alarms: Mapping[str, int]
    """Failure mode → round of its alarm."""
    stop: int | None
    """The first round after which the run would have stopped."""
    right: bool
    """Whether the forecasts then led to the option that all evidence supports."""
    onset: int
    oracle_stop: int | None
    close: bool
    """Whether all evidence leaves two options close to each other."""


def plan_of(name: str) -> tuple[PlanRow, ...]:
    """Return the deliberating rows of an installed plan, or of a number of rounds with the absences stretched."""
    if name in PLANS:
        return tuple(row for row in PLANS[name] if "G" in row.phases)
    stress = Simulation(Setting(seed=0, rounds=int(name))).stress
    return tuple(
        PlanRow(round=n, absent=stress.get(n), drift=n % 5 == 0, phases=NORMAL)
        for n in range(1, int(name) + 1)
    )


def played(world: World, plan: str, seed: int, failures: Mapping[str, float], *, stops: bool) -> Course:
    """Simulate one run of a plan to its end; with `stops`, check after every round whether it would stop."""
    rows = plan_of(plan)
    setting = Setting(
        seed=seed,
        failures={mode: strength for mode, strength in failures.items() if mode != "fm9"},
        rounds=len(rows),
        world=world,
        stress={row.round: row.absent for row in rows if row.absent},
        drift=tuple(row.round for row in rows if row.drift),
    )
    simulation = Simulation(setting)
    rng = random.Random(f"answers {world.name} {plan} {seed}")
    answers = _Answers(world, rng)
    state, parameters = State(), gate_parameters()
    subjects = _subjects(world, rng, failures.get("fm9", 0.0))
    stop: int | None = None
    right = False
    for number, events in groupby(read_skill(simulation.files(), None).events, key=lambda event: event.round):
        if number:
            for event in answers.of_round(number, state, setting.stress or {}):
                step(state, event)
        for event in events:
            step(state, _as_run(event, world, rows, subjects))
        if stops and number and stop is None:
            gates = judge(state, parameters).gates
            if all(gate.ok for gate in gates if gate.decides):
                stop, right = number, answers.leads_to_truth()
    judged = readings_of(state, parameters)
    alarms = {str(mode.mode): mode.alarm_round or 0 for mode in judged if mode.verdict == "ALARM"}
    return Course(alarms, stop, right, simulation.onset, simulation.oracle_stop, answers.close)


def _as_run(
    event: Event, world: World, rows: Sequence[PlanRow], subjects: Iterator[tuple[str, ...]]
) -> Event:
    if isinstance(event, RunOpened):
        options = tuple(Labelled(id=f"O-{n}", text=f"option {n}") for n in range(1, world.options + 1))
        opened = msgspec.structs.replace(
            event, plan=tuple(rows), options=options, rules={**event.rules, POSITIONS: ANSWERS}
        )
        own = Origin(type="new")
        return msgspec.structs.replace(opened, origin=own, by="controller") if world.asked else opened
    if isinstance(event, Claim) and world.options:
        return msgspec.structs.replace(event, about=next(subjects))
    return event


def _subjects(world: World, rng: random.Random, neglect: float) -> Iterator[tuple[str, ...]]:
    """Yield the subjects of claims: two in three concern one option, in turn. FM-9: the last option is skipped."""
    turn = 0
    while world.options:
        if rng.random() < 1 / 3:
            yield ()
            continue
        turn = turn % world.options + 1
        passed = turn == world.options and rng.random() < neglect
        about = f"O-{1 if passed else turn}"
        # With neglect there are no comparisons, which could name the skipped option after all.
        other = f"O-{turn % world.options + 1}"
        both = world.compares and not neglect and rng.random() < world.compares
        yield (about, other) if both and other != about else (about,)


class _Answers:
    """Sealed forecasts of one run."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world, self.rng = world, rng
        options = [f"O-{n}" for n in range(1, world.options + 1)] if world.options else [STANDS]
        self.keys = (*options, NEITHER)
        first = {key: rng.uniform(20, 45) for key in self.keys} | {NEITHER: rng.uniform(2, 20)}
        self.truth = rng.choice(options) if world.options or rng.random() < 0.9 else NEITHER
        final = {key: rng.uniform(2, 20) for key in self.keys} | {self.truth: rng.uniform(45, 80)}
        self.close = bool(world.options) and rng.random() < world.close
        if self.close:
            rival = rng.choice([key for key in options if key != self.truth])
            final[rival] = final[self.truth] - rng.uniform(0, 12)
        self.first = {role: self._own(first) for role in ROLES}
        self.final = {role: self._own(final) for role in ROLES}
        # Until the turn the evidence speaks for another option, which leads the truth by as much as that leads later.
        self.turn = rng.randint(3, 12) if world.options and rng.random() < world.turns else 0
        before = rng.choice([key for key in options if key != self.truth] or [self.truth])
        swapped = {before: self.truth, self.truth: before}
        self.before = {
            role: {key: points[swapped.get(key, key)] for key in self.keys}
            for role, points in self.final.items()
        }
        self.now: list[Points] = []

    def _own(self, points: Mapping[str, float]) -> dict[str, float]:
        """Return a role's own variation of points; roles that move together differ less."""
        far = LAST * (1 - self.world.together)
        return {key: max(1.0, value + self.rng.uniform(-far, far)) for key, value in points.items()}

    def of_round(self, number: int, state: State, stress: Mapping[int, str]) -> Iterator[Event]:
        """Yield the forecasts of all present roles."""
        tested = sum(any(move.to in TESTED for move in claim.moves) for claim in state.claims.values())
        way = 1 - 0.5 ** (tested / self.world.evidence_half)
        roles = [role for role in ROLES if role != stress.get(number)]
        self.now = []
        for role in roles:
            self.now.append(self._points(role, way, number))
            yield _belief(number, role, self.now[-1])

    def _points(self, role: str, way: float, number: int) -> Points:
        final = self.before if number <= self.turn else self.final
        held = {
            key: (1 - way) * _of(self.first[role], key) + way * _of(final[role], key) for key in self.keys
        }
        noisy = {
            key: max(0.0, value + self.rng.gauss(0, self.world.belief_noise)) for key, value in held.items()
        }
        points = {key: round(100 * value / sum(noisy.values())) for key, value in noisy.items()}
        # Rounded shares may not add up to 100, so the largest one takes the difference.
        most = max(points, key=lambda key: points[key])
        return points | {most: points[most] + 100 - sum(points.values())}

    def leads_to_truth(self) -> bool:
        """Return whether the option with the most points now is the one that all evidence supports."""
        pool = {key: sum(points[key] for points in self.now) for key in self.keys}
        full = {key: sum(_of(own, key) for own in self.final.values()) for key in self.keys}
        return max(pool, key=lambda key: pool[key]) == max(full, key=lambda key: full[key])


def _of(points: Mapping[str, float], key: str) -> float:
    """Return the points of an option, scaled to a total of 100."""
    return 100 * points[key] / sum(points.values())


def _belief(number: int, role: str, points: Points) -> Belief:
    return Belief(
        seq=0,
        prev="0" * 64,
        rest=0,
        v=3,
        at="",
        id=f"B-{number}-{role}",
        round=number,
        phase="E",
        by=f"role:{role}",
        role=role,
        points=points,
        derived=False,
    )
