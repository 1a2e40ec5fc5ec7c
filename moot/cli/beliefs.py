"""`moot beliefs`: the pool and the seats over the rounds, and what each crux is worth."""

from __future__ import annotations

from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Final

import typer

from detectors.beliefs.report import Beliefs, of_table
from detectors.beliefs.table import WrongTable, read_table
from ledger.store.disk import read_plain
from moot.api import open_run
from moot.app.runs import find_run
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, usage
from moot.terminal.streams import out_json, show
from moot.view.beliefs import beliefs_of, beliefs_text

TABLE_BYTES_MAX: Final = 1 << 22


def beliefs(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="A run's directory, an id under ./runs, or @last.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of numbers (JSON) in place of a run.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show how pool and seats moved over the rounds, what a test of each crux is worth, and why it stopped.

    Only runs of the protocol crux have beliefs. With --table the same is computed from numbers in a file: docs/crux.md
    has its keys. Everything that follows from them is computed, derived beliefs and every round's stop included.

    Example: moot beliefs @last --json
    """
    if (run is None) == (table is None):
        raise usage("it takes a run or a table", "name a run, or a file with --table", "moot beliefs")
    found = _of_file(table) if table is not None else _of_run(run or "")
    if json:
        out_json(found)
    elif not quiet:
        show(beliefs_text(found, get_terminal_size().columns))
    return GOOD


def _of_file(table: Path) -> Beliefs:
    try:
        return of_table(read_table(read_plain(table, TABLE_BYTES_MAX)))
    except WrongTable as wrong:
        raise usage(f"{wrong}", wrong.fix, str(table)) from None


def _of_run(run: str) -> Beliefs:
    path = find_run(run)
    ours = open_run(path)
    found = beliefs_of(run, ours.book)
    if found is not None:
        return found
    opened = ours.state.opened
    if opened is not None and opened.protocol == "crux":
        raise usage(
            "no round is closed yet", "what is given in an open round is sealed: wait for it", str(path)
        )
    protocol = "an import" if opened is None else f"a run of {opened.protocol}"
    raise usage(f"{protocol} has no beliefs", "the protocol crux asks for them: see docs/crux.md", str(path))
