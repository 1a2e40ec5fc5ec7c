"""Measure alarms, recall, stops and runs that are never ready, of the gates and failure modes in simulated worlds.

python -m benchmarks signals                               every world, 2,000 runs for each figure
python -m benchmarks signals --worlds renewing --runs 200  one world, quicker

The functions behind `moot signals` read every run. Each figure has its 95 % Wilson interval. A missed target is `near`
if the interval contains it, else `MISSED`. No threshold was fitted to these worlds: scored seeds start at 1,000,000,
those for development at 0.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import get_context
from typing import Final, NamedTuple

from benchmarks.signal_worlds.course import Course, played
from benchmarks.signal_worlds.ledgers import MODES
from benchmarks.signal_worlds.world import PUBLISHED, WORLDS
from rounds.protocols.plans import PLANS

Z: Final = 1.96
SCORED_FROM: Final = 1_000_000
"""The first seed that figures are taken from."""
LENGTHS: Final = ("7", "13", "20")
STRENGTHS: Final = (1.0, 0.6)
NAMED: Final = {"fm5i": "FM-5", "fm5s": "FM-5"} | {f"fm{n}": f"FM-{n}" for n in (1, 2, 3, 4, 6, 7, 9)}
RECALL: Final = {1.0: (0.98, 0.90), 0.6: (0.80, 0.65)}
"""Strength → target in the published world, and in the others."""
STOPS: Final = {1.0: 0.08, 0.6: 0.33}
ALARMED, WRONG, WRONG_IF_CLOSE, NEVER = 0.05, 0.10, 0.15, 0.15
SCORED_MODES: Final = tuple(mode for mode in MODES if mode in NAMED)


CLOSE: Final = ", near ties"
STARVING: Final = 0.9
"""The share of claims held back from which a round brings fewer than two."""


class Job(NamedTuple):
    """Parameters of one run: world, plan, seed, strength of each failure mode, and whether stops are checked."""

    world: str
    plan: str
    seed: int
    failures: tuple[tuple[str, float], ...] = ()
    stops: bool = False


class Line(NamedTuple):
    """Figure with its counts and its target, an upper (or lower) limit."""

    world: str
    what: str
    hits: int
    of: int
    target: float
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """Return `met`, `near` if the interval contains the target, `MISSED`, or `none` without runs."""
        if not self.of:
            return "none"
        low, high = wilson(self.hits, self.of)
        share = self.hits / self.of
        if share >= self.target if self.at_least else share <= self.target:
            return "met"
        return "near" if low <= self.target <= high else "MISSED"

    def row(self) -> str:
        """Return the row of the table."""
        low, high = wilson(self.hits, self.of) if self.of else (0.0, 1.0)
        share = self.hits / self.of if self.of else 0.0
        sign = "≥" if self.at_least else "≤"
        figures = f"{100 * share:.1f} % | {100 * low:.1f}–{100 * high:.1f} | {self.of}"
        return (
            f"| {self.world} | {self.what} | {figures} | {sign} {100 * self.target:.0f} % | {self.verdict} |"
        )


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share."""
    share, square = count / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z * ((share * (1 - share) + square / (4 * of)) / of) ** 0.5 / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def play(job: Job) -> Course:
    """Play one run."""
    return played(WORLDS[job.world], job.plan, job.seed, dict(job.failures), stops=job.stops)


Play = Callable[[Sequence[Job]], Sequence[Course]]


def lines(
    world: str,
    runs: int,
    failing: int,
    first: int,
    play_all: Play,
    plans: Sequence[str] = tuple(PLANS),
    lengths: Sequence[str] = LENGTHS,
) -> Iterator[Line]:
    """Yield every figure of a world."""
    seeds = range(first, first + runs)
    for plan in lengths:
        courses = play_all([Job(world, plan, seed) for seed in seeds])
        alarmed = sum(bool(course.alarms) for course in courses)
        yield Line(
            world,
            f"healthy, any alarm in {plan} rounds{_most_alarmed(courses)}",
            alarmed,
            len(courses),
            ALARMED,
        )
    for name in plans:
        courses = play_all([Job(world, name, seed, stops=True) for seed in seeds])
        never = sum(course.stop is None for course in courses)
        yield Line(world, f"healthy, never READY in {name}", never, len(courses), NEVER)
        ready = [course for course in courses if course.stop is not None]
        for close, target in ((False, WRONG), (True, WRONG_IF_CLOSE)):
            counted = [course for course in ready if course.close == close]
            if counted or not close:
                wrong = sum(not course.right for course in counted)
                yield Line(
                    world, f"READY in {name} with a wrong leader{CLOSE * close}", wrong, len(counted), target
                )
    for strength in STRENGTHS:
        yield from _failing(world, strength, range(first, first + failing), play_all)


def _failing(world: str, strength: float, seeds: Sequence[int], play_all: Play) -> Iterator[Line]:
    """Yield the recall of each mode in 13 rounds, then the stops after the onset."""
    own = PUBLISHED.name != world
    stopped = counted = 0
    # Where roles hold back less, more than two claims come in each round: that is no starvation by the source's rule.
    starves = WORLDS[world].held_back >= STARVING
    modes: list[str] = [mode for mode in SCORED_MODES if mode != "fm5s" or starves]
    modes += ["fm9"] if WORLDS[world].options and strength == 1.0 else []
    for mode in modes:
        jobs = [Job(world, "standard-13", seed, ((mode, strength),), stops=True) for seed in seeds]
        courses = play_all(jobs)
        hits = sum(NAMED[mode] in course.alarms for course in courses)
        yield Line(world, f"{mode} at {strength:g}: alarmed", hits, len(courses), RECALL[strength][own], True)
        late = [course for course in courses if course.stop is None or course.stop >= course.onset]
        stopped += sum(course.stop is not None for course in late)
        counted += len(late)
    yield Line(world, f"stop while failing at {strength:g}, all modes", stopped, counted, STOPS[strength])


def _most_alarmed(courses: Sequence[Course]) -> str:
    """Return the three modes that alarmed most often, for the label of a figure."""
    counts: dict[str, int] = {}
    for course in courses:
        for mode in course.alarms:
            counts[mode] = counts.get(mode, 0) + 1
    most = sorted(counts.items(), key=lambda pair: -pair[1])[:3]
    listed = ", ".join(f"{mode} {100 * count / len(courses):.1f}" for mode, count in most)
    return f" ({listed})" if listed else ""


def main(options: Sequence[str] = ()) -> int:
    """Print the table row by row; return 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks signals")
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--runs", type=int, default=2_000, help="healthy runs for each figure")
    parser.add_argument("--failing", type=int, help="runs of each failure; as many as healthy ones")
    parser.add_argument("--seed", type=int, default=SCORED_FROM, help="of the first run")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--plans", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--lengths", nargs="+", default=list(LENGTHS))
    arguments = parser.parse_args(options)
    missed = False
    print("| world | what | share | 95 % | runs | target | |\n|---|---|---|---|---|---|---|", flush=True)
    with get_context("spawn").Pool(arguments.processes, initializer=os.nice, initargs=(10,)) as pool:

        def play_all(jobs: Sequence[Job]) -> Sequence[Course]:
            return pool.map(play, jobs, chunksize=8)

        for world in arguments.worlds:
            for line in lines(
                world,
                arguments.runs,
                arguments.failing or arguments.runs,
                arguments.seed,
                play_all,
                arguments.plans,
                arguments.lengths,
            ):
                print(line.row(), flush=True)
                missed |= line.verdict == "MISSED"
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
