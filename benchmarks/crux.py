"""Compare the rule of `crux` with release 0.1 in the same simulated worlds: right answers and replies.

python -m benchmarks crux                  2,000 worlds per row, seeds 0 to 1999, about two minutes
python -m benchmarks crux --worlds 200     the first 200 of them

This measures no models: seats are noise around facts (benchmarks/crux_worlds/world.py). The results of release 0.1 are
stored per world (benchmarks/crux_worlds/release_0_1.json) and not computed again. Differences are paired. The 95 %
intervals of differences are those of Agresti and Min; the intervals of shares are score intervals.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from benchmarks.crux_worlds import stored
from benchmarks.crux_worlds.intervals import Interval, difference, share
from benchmarks.crux_worlds.rule import Ended, run
from benchmarks.crux_worlds.world import CIRCUMSTANCES, Circumstances, World

COLUMNS: Final = (
    "circumstances",
    "second program",
    "first answers",
    "0.1",
    "the rule",
    "rule − 0.1",
    "rule − first answers",
    "replies: 0.1",
    "the rule (most)",
)
BEHIND_AT_MOST: Final = 1.5
"""Largest allowed deficit to release 0.1, in percentage points."""
BEHIND_AT_MOST_AT_PULL: Final = {0.25: 2.5}
FEWER_REPLIES: Final = 2.5
TRUSTED: Final = 0.95
REPEATS: Final = {"independent": 0.0, "repeats half of the errors": 0.5}


class Row(NamedTuple):
    """Row of the table: results of the rule and of release 0.1 in the same worlds."""

    circumstances: Circumstances
    second: str
    right: list[bool]
    ended: list[Ended]
    old: stored.Row

    @property
    def name(self) -> str:
        """Return the name of the row."""
        return self.circumstances.name if self.second == "–" else f"{self.circumstances.name}; {self.second}"

    @property
    def gain(self) -> Interval:
        """Return the gain over release 0.1, in percentage points."""
        return difference(self.right, self.old.right)

    @property
    def gain_over_first(self) -> Interval:
        """Return the gain over the mean of the first answers, in percentage points."""
        return difference(self.right, self.old.first_answers)

    @property
    def replies(self) -> float:
        """Return the mean number of replies."""
        return statistics.fmean(ended.replies for ended in self.ended)

    @property
    def fewer(self) -> float:
        """Return the mean number of replies saved compared with release 0.1."""
        return statistics.fmean(self.old.replies) - self.replies


def rows_of(circumstances: Circumstances, worlds: int, old: stored.Row) -> list[Row]:
    """Play the worlds of one row: once if no program runs, else for each kind of second program."""
    kinds = REPEATS if circumstances.runnable else {"–": 0.0}
    rights = [World(seed, circumstances).right for seed in range(worlds)]
    rows: list[Row] = []
    for kind, repeats in kinds.items():
        ended = [run(seed, circumstances, repeats) for seed in range(worlds)]
        right = [end.leader == option for end, option in zip(ended, rights, strict=True)]
        rows.append(Row(circumstances, kind, right, ended, old))
    return rows


def line(row: Row) -> str:
    """Return one line of the table."""
    most = max(ended.replies for ended in row.ended)
    cells = (
        row.circumstances.name,
        row.second,
        f"{share(row.old.first_answers).figure:.1f}",
        f"{share(row.old.right).figure:.1f}",
        "{:.1f} ({:.1f}–{:.1f})".format(*share(row.right)),
        "{:+.1f} ({:+.1f} … {:+.1f})".format(*row.gain),
        "{:+.1f} ({:+.1f} … {:+.1f})".format(*row.gain_over_first),
        f"{statistics.fmean(row.old.replies):.1f}",
        f"{row.replies:.1f} ({most})",
    )
    return f"| {' | '.join(cells)} |"


def targets(rows: Sequence[Row]) -> list[tuple[str, bool]]:
    """Return every target and whether the figure (not its interval) meets it."""
    result: list[tuple[str, bool]] = []
    for row in rows:
        is_pulled = row.circumstances.disturbed == "persuasive"
        allowed = (
            BEHIND_AT_MOST_AT_PULL.get(row.circumstances.pull, BEHIND_AT_MOST)
            if is_pulled
            else BEHIND_AT_MOST
        )
        result.append(
            (
                f"{row.name}: {row.gain.figure:+.1f} to 0.1, at most {allowed:g} behind",
                row.gain.figure >= -allowed,
            )
        )
    for row in rows:
        over_first = row.gain_over_first.figure
        if row.circumstances.run_is_right >= TRUSTED:
            result.append(
                (f"{row.name}: {over_first:+.1f} to the mean of the first answers", over_first >= 0)
            )
        else:
            result.append(
                (f"{row.name}: {over_first:+.1f} to the first answers (tests worse than trusted)", True)
            )
    fewer = statistics.fmean(row.fewer for row in rows)
    result.append(
        (
            f"{fewer:.1f} replies fewer on average over the rows, at least {FEWER_REPLIES:g}",
            fewer >= FEWER_REPLIES,
        )
    )
    return result


def main(options: Sequence[str] = ()) -> int:
    """Play the worlds, print the table and the targets, and return 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks crux")
    parser.add_argument("--worlds", type=int, default=stored.WORLDS, help="per row, from seed 0 on")
    worlds = parser.parse_args(options).worlds
    old = stored.read()
    print(f"simulated, {worlds} worlds per row, seeds 0 to {worlds - 1}; right answers in percent")
    print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    rows: list[Row] = []
    for circumstances in CIRCUMSTANCES:
        played = rows_of(circumstances, worlds, old[circumstances.name].first(worlds))
        print("\n".join(map(line, played)), flush=True)
        rows += played
    print("\nreplies fewer than release 0.1, second programs, and status at the end")
    for row in rows:
        statuses = Counter(ended.status for ended in row.ended)
        programs = sum(ended.second_programs for ended in row.ended)
        print(f"{row.name}: {row.fewer:.1f}, {programs}, {dict(statuses.most_common())}")
    print()
    checked = targets(rows)
    for name, is_met in checked:
        print(f"{'met   ' if is_met else 'MISSED'} {name}")
    return int(not all(is_met for _, is_met in checked))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
