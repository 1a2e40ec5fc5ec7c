"""Store what the rule of release 0.1 does in the simulated worlds.

python -m benchmarks.crux_worlds.store_0_1        2,000 worlds per row, seeds 0 to 1999, about six minutes

Later rules are compared with the stored results world by world. The program needs the arithmetic of release 0.1
(`detectors/beliefs`, tag v0.1.0).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.crux_worlds.release_0_1 import run
from benchmarks.crux_worlds.stored import PATH, WORLDS, Row, write
from benchmarks.crux_worlds.world import CIRCUMSTANCES, Circumstances, World, all_tested_is_right, leader


def row(circumstances: Circumstances, seeds: Sequence[int]) -> Row:
    """Play the worlds of one row."""
    first, right, tested, replies = [], [], [], []
    reasons: Counter[str] = Counter()
    for seed in seeds:
        world = World(seed, circumstances)
        first.append(leader([seat.forecast for seat in world.seats]) == world.right)
        ended = run(seed, circumstances)
        right.append(ended.leader == world.right)
        replies.append(ended.replies)
        reasons[ended.reason] += 1
        tested.append(all_tested_is_right(world))
    return Row(first, right, tested, replies, dict(reasons.most_common()))


def main(names: Sequence[str] = ()) -> int:
    """Play every row and write the file."""
    rows: dict[str, Row] = {}
    for circumstances in CIRCUMSTANCES:
        if names and circumstances.name not in names:
            continue
        rows[circumstances.name] = result = row(circumstances, range(WORLDS))
        counts: list[Any] = [sum(result.first_answers), sum(result.right), sum(result.all_tested)]
        print(f"{circumstances.name}: {counts}, {sum(result.replies) / WORLDS:.2f} replies", flush=True)
    write(rows)
    print(f"wrote {PATH.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
