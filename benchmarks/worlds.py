"""What the rule of `crux` does in simulated worlds: right answers, replies, reasons to stop.

python -m benchmarks.worlds                       2,000 worlds for each of six circumstances
python -m benchmarks.worlds --worlds 200 --seed 7
python -m benchmarks.worlds --engine 200          the same seats through the engine, as runs on disk

Nothing here is a measurement of models: seats are noise around facts (tests/detectors/beliefs/worlds.py). Compared
are the mean of first answers, the rule, and every fact tested by a run. Shares have 95 % score intervals (LIT-9),
differences 95 % intervals over pairs, since all three see the same worlds.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.detectors.beliefs.worlds import CIRCUMSTANCES, DISTURBED, NOISE, Played, play
from tests.protocols.world_seats import WorldPlayed
from tests.protocols.world_seats import play as play_on_disk

WORLDS: Final = 2_000
Z: Final = 1.959964
COLUMNS: Final = (
    "circumstances",
    "worlds",
    "mean of first answers",
    "the rule",
    "everything run",
    "rule − mean",
    "rule − everything",
    "replies: mean (most)",
)
GAIN_AT_LEAST: Final = 10.0
BEHIND_AT_MOST: Final = 6.0
WORSE_AT_MOST: Final = 2.0


def share(rows: Sequence[Played], right: Callable[[Played], bool]) -> tuple[float, float, float]:
    """How many are right, in percent, with the bounds of the interval."""
    n, k = len(rows), sum(right(row) for row in rows)
    p = k / n
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return 100 * p, 100 * (middle - half), 100 * (middle + half)


def difference(
    rows: Sequence[Played], one: Callable[[Played], bool], other: Callable[[Played], bool]
) -> tuple[float, float, float]:
    """One minus the other in percentage points, over pairs."""
    pairs = [one(row) - other(row) for row in rows]
    mean = statistics.fmean(pairs)
    half = Z * statistics.stdev(pairs) / math.sqrt(len(pairs))
    return 100 * mean, 100 * (mean - half), 100 * (mean + half)


def told(found: tuple[float, float, float], sign: bool = False) -> str:
    """A figure with its interval."""
    form = "{:+.1f} ({:+.1f} … {:+.1f})" if sign else "{:.1f} ({:.1f}–{:.1f})"
    return form.format(*found)


def line(name: str, rows: Sequence[Played]) -> str:
    """One row of the table."""
    cells = (
        f"{len(rows)}",
        told(share(rows, lambda row: row.mean)),
        told(share(rows, lambda row: row.rule)),
        told(share(rows, lambda row: row.everything)),
        told(difference(rows, lambda row: row.rule, lambda row: row.mean), sign=True),
        told(difference(rows, lambda row: row.rule, lambda row: row.everything), sign=True),
        f"{statistics.fmean(row.replies for row in rows):.1f} ({max(row.replies for row in rows)})",
    )
    return " | ".join(("", name, *cells, "")).strip()


def bars(rows: Mapping[str, Sequence[Played]]) -> list[tuple[str, bool]]:
    """The bars, by the figures themselves and not by their intervals."""
    runs, *_ = rows.values()
    gain = difference(runs, lambda row: row.rule, lambda row: row.mean)[0]
    behind = difference(runs, lambda row: row.everything, lambda row: row.rule)[0]
    found = [
        (f"all can be run: {gain:+.1f} over the mean, at least +{GAIN_AT_LEAST:g}", gain >= GAIN_AT_LEAST),
        (
            f"all can be run: {behind:.1f} behind everything, at most {BEHIND_AT_MOST:g}",
            behind <= BEHIND_AT_MOST,
        ),
    ]
    for circumstances in CIRCUMSTANCES:
        if circumstances.runnable == 0 and circumstances.argument_is_right >= 0.60:
            worse = difference(rows[circumstances.name], lambda row: row.mean, lambda row: row.rule)[0]
            name = f"{circumstances.name}: {worse:+.1f} worse than the mean, at most {WORSE_AT_MOST:g}"
            found.append((name, worse <= WORSE_AT_MOST))
    return found


def through_the_engine(seeds: Sequence[int]) -> int:
    """Play worlds in which nothing can be run as runs on disk, and print one line; 1 when one does not end."""
    rows: list[WorldPlayed] = []
    for seed in seeds:
        with tempfile.TemporaryDirectory() as place:
            rows.append(play_on_disk(Path(place) / "run", seed)[1])
    n = len(rows)
    gained = [row.right - row.mean for row in rows]
    half = Z * statistics.stdev(gained) / math.sqrt(n)
    mean, right = (100 * sum(kept) / n for kept in ([row.mean for row in rows], [row.right for row in rows]))
    replies = [row.replies for row in rows]
    print(f"{n} worlds: mean of first answers {mean:.1f} %, the run {right:.1f} %", end="")
    print(
        f" ({right - mean:+.1f}, from {right - mean - 100 * half:+.1f} to {right - mean + 100 * half:+.1f})",
        end="",
    )
    print(f", replies {statistics.fmean(replies):.1f} ({max(replies)})")
    print(dict(Counter(row.reason for row in rows).most_common()))
    return int(any(row.reason == "open" for row in rows))


def main(options: Sequence[str] = ()) -> int:
    """Play the worlds and print the tables; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.worlds")
    parser.add_argument("--worlds", type=int, default=WORLDS, help="for each of the circumstances")
    parser.add_argument("--seed", type=int, default=0, help="of the first world; the others follow")
    parser.add_argument("--engine", type=int, metavar="N", help="play N worlds as runs on disk instead")
    said = parser.parse_args(options)
    if said.engine:
        return through_the_engine(range(said.seed, said.seed + said.engine))
    rows: dict[str, Sequence[Played]] = {}
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    for circumstances in CIRCUMSTANCES:
        rows[circumstances.name] = found = [
            play(seed, circumstances) for seed in range(said.seed, said.seed + said.worlds)
        ]
        print(line(circumstances.name, found), flush=True)
    print("\nreasons to stop and rounds of tests")
    for name, found in rows.items():
        reasons = Counter(row.reason for row in found)
        rounds = Counter(row.rounds for row in found)
        print(f"{name}: {dict(reasons.most_common())}, rounds {dict(sorted(rounds.items()))}")
    first = CIRCUMSTANCES[0].name
    print(f"\n{first}, by noise of a seat's own and by who is disturbed")
    for noise in NOISE:
        print(line(f"{noise} noise", [row for row in rows[first] if row.noise == noise]))
    for disturbed in DISTURBED:
        print(line(disturbed, [row for row in rows[first] if row.disturbed == disturbed]))
    print()
    checked = bars(rows)
    for name, met in checked:
        print(f"{'met   ' if met else 'MISSED'} {name}")
    return int(not all(met for _, met in checked))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
