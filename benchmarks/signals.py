"""How often the gates and failure modes alarm, find, stop and never get ready, in simulated worlds.

python -m benchmarks signals                               every world, 2,000 runs for each figure
python -m benchmarks signals --worlds renewing --runs 200  one world, quicker

Every run is read by the functions behind `moot signals`. Each figure stands with its 95 % Wilson interval. A target
that is missed is `near` where the interval holds it, else `MISSED`. No threshold was fitted to these worlds; the seeds
that are scored begin at 1,000,000, those for development at 0.
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
    """One run: world, plan, seed, what fails and how much, and whether it is asked if it would stop."""

    world: str
    plan: str
    seed: int
    failures: tuple[tuple[str, float], ...] = ()
    stops: bool = False


class Line(NamedTuple):
    """One figure: how many of how many, and the target, at most (or at least)."""

    world: str
    what: str
    hits: int
    of: int
    target: float
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """`met`, `near` where the interval holds the target, or `MISSED`."""
        if not self.of:
            return "none"
        low, high = wilson(self.hits, self.of)
        share = self.hits / self.of
        if share >= self.target if self.at_least else share <= self.target:
            return "met"
        return "near" if low <= self.target <= high else "MISSED"

    def row(self) -> str:
        """A row of the table."""
        low, high = wilson(self.hits, self.of) if self.of else (0.0, 1.0)
        share = self.hits / self.of if self.of else 0.0
        sign = "≥" if self.at_least else "≤"
        figures = f"{100 * share:.1f} % | {100 * low:.1f}–{100 * high:.1f} | {self.of}"
        return (
            f"| {self.world} | {self.what} | {figures} | {sign} {100 * self.target:.0f} % | {self.verdict} |"
        )


def wilson(count: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share."""
    share, square = count / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z * ((share * (1 - share) + square / (4 * of)) / of) ** 0.5 / (1 + square / of)
    return max(0.0, middle - half), min(1.0, middle + half)


def play(job: Job) -> Course:
    """One run."""
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
    """Every figure of a world, one after the other."""
    seeds = range(first, first + runs)
    for plan in lengths:
        found = play_all([Job(world, plan, seed) for seed in seeds])
        alarmed = sum(bool(one.alarms) for one in found)
        yield Line(world, f"healthy, any alarm in {plan} rounds{_told(found)}", alarmed, len(found), ALARMED)
    for name in plans:
        found = play_all([Job(world, name, seed, stops=True) for seed in seeds])
        never = sum(one.stop is None for one in found)
        yield Line(world, f"healthy, never READY in {name}", never, len(found), NEVER)
        ready = [one for one in found if one.stop is not None]
        for close, target in ((False, WRONG), (True, WRONG_IF_CLOSE)):
            told = [one for one in ready if one.close == close]
            if told or not close:
                wrong = sum(not one.right for one in told)
                yield Line(
                    world, f"READY in {name} with a wrong leader{CLOSE * close}", wrong, len(told), target
                )
    for strength in STRENGTHS:
        yield from _failing(world, strength, range(first, first + failing), play_all)


def _failing(world: str, strength: float, seeds: Sequence[int], play_all: Play) -> Iterator[Line]:
    """Recall of each mode in 13 rounds, and stops after the onset."""
    own = PUBLISHED.name != world
    stopped = counted = 0
    # Where roles hold back less, more than two claims come in each round: that is no starvation by the source's rule.
    starves = WORLDS[world].held_back >= STARVING
    modes = [mode for mode in SCORED_MODES if mode != "fm5s" or starves]
    modes += ["fm9"] if WORLDS[world].options and strength == 1.0 else []
    for mode in modes:
        jobs = [Job(world, "standard-13", seed, ((mode, strength),), stops=True) for seed in seeds]
        found = play_all(jobs)
        hits = sum(NAMED[mode] in one.alarms for one in found)
        yield Line(world, f"{mode} at {strength:g}: alarmed", hits, len(found), RECALL[strength][own], True)
        late = [one for one in found if one.stop is None or one.stop >= one.onset]
        stopped += sum(one.stop is not None for one in late)
        counted += len(late)
    yield Line(world, f"stop while failing at {strength:g}, all modes", stopped, counted, STOPS[strength])


def _told(found: Sequence[Course]) -> str:
    """The modes that alarmed most often."""
    counts: dict[str, int] = {}
    for one in found:
        for mode in one.alarms:
            counts[mode] = counts.get(mode, 0) + 1
    most = sorted(counts.items(), key=lambda pair: -pair[1])[:3]
    told = ", ".join(f"{mode} {100 * count / len(found):.1f}" for mode, count in most)
    return f" ({told})" if told else ""


def main(options: Sequence[str] = ()) -> int:
    """Print the table row by row; 1 when a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks signals")
    parser.add_argument("--worlds", nargs="+", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--runs", type=int, default=2_000, help="healthy runs for each figure")
    parser.add_argument("--failing", type=int, help="runs of each failure; as many as healthy ones")
    parser.add_argument("--seed", type=int, default=SCORED_FROM, help="of the first run")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--plans", nargs="+", default=list(PLANS), choices=list(PLANS))
    parser.add_argument("--lengths", nargs="+", default=list(LENGTHS))
    said = parser.parse_args(options)
    missed = False
    print("| world | what | share | 95 % | runs | target | |\n|---|---|---|---|---|---|---|", flush=True)
    with get_context("spawn").Pool(said.processes, initializer=os.nice, initargs=(10,)) as pool:

        def play_all(jobs: Sequence[Job]) -> Sequence[Course]:
            return pool.map(play, jobs, chunksize=8)

        for world in said.worlds:
            for line in lines(
                world, said.runs, said.failing or said.runs, said.seed, play_all, said.plans, said.lengths
            ):
                print(line.row(), flush=True)
                missed |= line.verdict == "MISSED"
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
