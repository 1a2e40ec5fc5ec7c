"""How often the interval of a paired comparison holds the true mean: the table, as `python -m tests.studies.coverage`.

Every kind of differences is sampled 1,000 times from each of three seeds; the table has the share of samples whose 95 %
interval holds the mean they were drawn from, over all seeds, the least and greatest of the seeds, and the share of
samples that had no interval, which counts as neither. `--repetitions` and `--draws` change what it takes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from math import exp
from random import Random
from typing import Final, NamedTuple

from moot.studies.statistics import paired_interval

SEEDS: Final = (1, 2, 3)
SIZES: Final = (8, 12, 30, 100)
REPETITIONS: Final = 1_000
DRAWS: Final = 1_000
"""A tenth of the default, to take minutes: the limits are less smooth, and what they hold is the same."""
LEAST, MOST = 0.93, 0.97


class World(NamedTuple):
    """Differences with a known mean, and the least number of items from which the interval is claimed to hold."""

    draw: Callable[[Random], float]
    mean: float
    claimed_from: int | None


def _one_of(weights: Mapping[float, float]) -> Callable[[Random], float]:
    values, shares = list(weights), list(weights.values())
    return lambda random: random.choices(values, shares)[0]


WORLDS: Final[Mapping[str, World]] = {
    "normal": World(lambda random: random.gauss(0.1, 0.3), 0.1, 8),
    "uniform": World(lambda random: random.uniform(-0.5, 0.7), 0.1, 8),
    "gamma, skewness 1": World(lambda random: random.gammavariate(4, 0.1) - 0.3, 0.1, 8),
    "exponential, skewness 2": World(lambda random: random.expovariate(4) - 0.15, 0.1, 100),
    "lognormal, skewness 3.7": World(lambda random: exp(random.gauss(0, 0.8)), exp(0.32), None),
    "-1, 0, 1 with 40 % ties": World(_one_of({-1: 0.2, 0: 0.4, 1: 0.4}), 0.2, 8),
    "-1, 0, 1 with 60 % ties": World(_one_of({-1: 0.15, 0: 0.6, 1: 0.25}), 0.1, 8),
    "-1, 0, 1 with 80 % ties": World(_one_of({-1: 0.05, 0: 0.8, 1: 0.15}), 0.1, 30),
    "half points, 35 % ties": World(_one_of({-1: 0.1, -0.5: 0.15, 0: 0.35, 0.5: 0.25, 1: 0.15}), 0.1, 8),
    "means of three repetitions": World(
        lambda random: sum((random.random() < 0.6) - (random.random() < 0.5) for _ in range(3)) / 3, 0.1, 8
    ),
}


class Coverage(NamedTuple):
    """Of `samples`, how many had an interval, and how many of those held the true mean, by seed."""

    samples: int
    given: tuple[int, ...]
    held: tuple[int, ...]

    @property
    def share(self) -> float:
        return sum(self.held) / sum(self.given)

    @property
    def by_seed(self) -> list[float]:
        return [held / given for held, given in zip(self.held, self.given, strict=True)]

    @property
    def without(self) -> float:
        return 1 - sum(self.given) / (self.samples * len(self.given))


def claimed(world: World, n: int) -> bool:
    return world.claimed_from is not None and n >= world.claimed_from


def measured(world: World, n: int, repetitions: int = REPETITIONS, draws: int = DRAWS) -> Coverage:
    """Play a world once for each seed."""
    given, held = [], []
    for seed in SEEDS:
        random = Random(f"{seed} {n}")
        intervals = [
            paired_interval([world.draw(random) for _ in range(n)], seed=turn, draws=draws)
            for turn in range(repetitions)
        ]
        limits = [(low, high) for low, high, _, _ in intervals if low is not None and high is not None]
        given.append(len(limits))
        held.append(sum(low - 1e-9 <= world.mean <= high + 1e-9 for low, high in limits))
    return Coverage(repetitions, tuple(given), tuple(held))


def row(name: str, n: int, repetitions: int, draws: int) -> str:
    found = measured(WORLDS[name], n, repetitions, draws)
    shares = f"{100 * found.share:5.1f} | {100 * min(found.by_seed):5.1f}–{100 * max(found.by_seed):5.1f}"
    verdict = (
        ("holds" if LEAST <= found.share <= MOST else "MISSED") if claimed(WORLDS[name], n) else "no claim"
    )
    return f"| {name:27} | {n:3} | {shares} | {100 * found.without:4.1f} | {verdict} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--draws", type=int, default=DRAWS)
    asked = parser.parse_args()
    print(
        "| differences | n | held, % | by seed, % | no interval, % | 93 to 97 % |\n|---|---|---|---|---|---|"
    )
    for name in WORLDS:
        for n in SIZES:
            print(row(name, n, asked.repetitions, asked.draws), flush=True)


if __name__ == "__main__":
    main()
