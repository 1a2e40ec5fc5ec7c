"""`python -m tests.campaign`: run what is not done yet, remember it, and write docs/reliability.md from what was seen.

python -m tests.campaign                        everything, resuming; `make campaign`
python -m tests.campaign flips lines            these alone
python -m tests.campaign --minutes 30           stop after that time; the next call goes on
python -m tests.campaign kills --slice 17       one slice again, to look at what it saw
python -m tests.campaign --page                 write the page from what is remembered
python -m tests.campaign --fresh                forget what is remembered of the named ones, and begin anew
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tests.campaign import page
from tests.campaign.running import run_all
from tests.campaign.slices import STATE, read_rows
from tests.campaign.table import CAMPAIGNS, Campaign, campaign

NEVER: Final = 10_000_000.0


def main(arguments: Sequence[str], state: Path = STATE) -> int:
    """Exit code 0 when all that was asked for is done and held, 1 when something broke, 4 when time was up."""
    asked = _parser().parse_args(arguments)
    chosen = [campaign(name) for name in asked.names] or list(CAMPAIGNS)
    if asked.fresh:
        for one in chosen:
            (state / f"{one.name}.jsonl").unlink(missing_ok=True)
    if not asked.page:
        todo = list(_todo(chosen, state, asked.slice))
        run_all(todo, asked.workers, asked.minutes * 60, state)
    page.write(state)
    rows = [row for one in chosen for row in read_rows(state, one.name).values()]
    for row in rows:
        if row.broken:
            print(f"BROKEN {row.campaign} --slice {row.slice}: {row.broken}")
    left = sum(one.slices - len(read_rows(state, one.name)) for one in chosen)
    print(f"{len(rows)} slices done, {left} left, {sum(bool(row.broken) for row in rows)} broken")
    return 1 if any(row.broken for row in rows) else 4 if left else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", choices=[[], *(one.name for one in CAMPAIGNS)], metavar="NAME")
    parser.add_argument("--minutes", type=float, default=NEVER, help="stop after so many minutes")
    parser.add_argument("--workers", type=int, default=1, help="processes side by side")
    parser.add_argument("--slice", type=int, help="this slice alone, again")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--fresh", action="store_true", help="forget finished slices of the named campaigns")
    return parser


def _todo(chosen: Sequence[Campaign], state: Path, index: int | None) -> Iterator[tuple[str, int]]:
    for one in chosen:
        done = read_rows(state, one.name)
        for number in range(one.slices) if index is None else (index,):
            if index is not None or number not in done or done[number].broken:
                yield one.name, number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
