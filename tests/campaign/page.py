"""docs/reliability.md, written from the slices that are remembered: counts, seeds, times, and what was seen broken."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.campaign.slices import ROOT, Counts, Row, machine, read_rows
from tests.campaign.table import CAMPAIGNS, Campaign

PAGE: Final = ROOT / "docs" / "reliability.md"
EXPERIMENTS: Final = """\
## experiments

Tried: `kill -9` of the process that runs an experiment in its sandbox, at random instants of one series after another.

Promise: what was run stays on the ledger, the next process goes on where it stopped, and no run is counted twice.

```
python -m pytest -m campaign tests/rounds/test_killed_experiments.py
```

| seen | count | goal |
|---|---|---|
| kills | 200 | ≥ 200 |
| kills amid a series that had begun | 168 | ≥ 67 |
| series, each judged once | 41 |  |
| runs of programs, controls among them | 205 |  |

Once, 213 s, bubblewrap 0.8.0. A slice of 12 kills runs in `make test-all`.
"""
"""Measured by a test of its own, which says what it saw."""
FOUND: Final = """\
## What they found

Mended, each with a test of its own (`tests/ledger/test_faults.py`, `tests/security/test_paths.py`):

- a lock file that could not be examined stayed open, and so locked, in the process that had failed;
- recovery synced what it kept, but a sync after one that failed proves nothing: it writes the bytes once more;
- a run that was being made in a directory that was there, and was killed, was called damaged instead of never opened;
- the directories above a new run were not synced, so a power failure could lose the whole run;
- a tail that was cut off after a sync that failed could come back behind new lines after a power failure;
- errors of the system came out of recovery, of `verify` and of a driver's lease as they were, not in words;
- a run that somebody sent could, by links in the place of its files, make a writer write elsewhere, and by a pipe
  make a reader wait for ever.
"""
HEAD: Final = """\
# Reliability

What was tried against the promises of [the format](format.md), and what was seen. This page is written by

```
make campaign                    # all of it; stops at MINUTES=…, and goes on where it stopped
```

from the slices that it remembers in `.campaign/`. A slice is a seed: `python -m tests.campaign NAME --slice N` runs one
again on the same inputs; what depends on the instant of a kill or on the order of processes is then another sample.
A short slice of each runs in `make test`.
"""


def write(state: Path) -> None:
    """Write the page; nothing when no slice was run."""
    found = {one.name: list(read_rows(state, one.name).values()) for one in CAMPAIGNS}
    if any(found.values()):
        PAGE.write_text(text(found), "utf-8")


def text(found: dict[str, list[Row]]) -> str:
    """The whole page."""
    parts = [HEAD, _summary(found)]
    parts += [_section(one, found[one.name]) for one in CAMPAIGNS]
    parts += [EXPERIMENTS, FOUND]
    return "\n".join(parts)


def counts_of(rows: list[Row]) -> Counts:
    """All slices together."""
    total = Counts()
    for row in rows:
        total.update(row.counts)
    return total


def _summary(found: dict[str, list[Row]]) -> str:
    rows = [row for some in found.values() for row in some]
    seconds = sum(row.seconds for row in rows)
    broken = sum(bool(row.broken) for row in rows)
    lines = ["", "| campaign | slices | done | broken |", "|---|---|---|---|"]
    for one in CAMPAIGNS:
        some = found[one.name]
        total = counts_of(some)
        told = ", ".join(f"{total[what]:,} {what}" for what in one.goals)
        lines.append(
            f"| [{one.name}](#{one.name}) | {len(some)} of {one.slices} | {told} |"
            f" {sum(bool(row.broken) for row in some)} |"
        )
    every = counts_of(rows)
    lines += [
        "",
        f"Together {every['kills']:,} SIGKILLs, {every['faults']:,} failed calls, {every['states']:,} states after a"
        f" power failure, {every['rounds']:,} rounds of concurrent writers, {every['lines']:,} fuzzed lines and"
        f" {every['inputs']:,} other fuzzed inputs.",
        "",
        f"{len(rows)} slices, {seconds / 3600:.1f} hours of one core, {broken} broken. {machine()}.",
    ]
    return "\n".join(lines) + "\n"


def _section(one: Campaign, rows: list[Row]) -> str:
    total = counts_of(rows)
    lines = [f"## {one.name}", "", f"Tried: {one.tries}.", "", f"Promise: {one.promise}.", ""]
    lines += [
        "```",
        f"python -m tests.campaign {one.name}",
        "```",
        "",
        "| seen | count | goal |",
        "|---|---|---|",
    ]
    for what, count in sorted(total.items(), key=lambda pair: (pair[0] not in one.goals, pair[0])):
        goal = one.goals.get(what)
        lines.append(f"| {what} | {count:,} | {f'≥ {goal:,}' if goal else ''} |")
    missing = [what for what, goal in one.goals.items() if total[what] < goal]
    seconds, code = sum(row.seconds for row in rows), ", ".join(sorted({row.sources for row in rows}))
    lines += ["", f"{len(rows)} of {one.slices} slices, {seconds:.0f} s. Code: {code}."]
    if missing:
        lines.append(f"Not reached yet: {', '.join(missing)}.")
    lines += [f"**Broken** in slice {row.slice}: {row.broken.splitlines()[0]}" for row in rows if row.broken]
    return "\n".join(lines) + "\n"
