"""`moot query`: questions about many runs, in SQL."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Annotated, Final

import typer

from ledger.plain_text import shortened, visible
from moot.app.corpus import TABLES
from moot.app.corpus_index import Asked, Corpus
from moot.cli.options import JsonOption, QuietOption
from moot.environment import read_settings
from moot.errors import GOOD, usage
from moot.terminal.streams import err, out, out_json, show

CELL: Final = 60
"""The most characters of a cell in the table that people read."""


def query(
    sql: Annotated[
        str | None, typer.Argument(metavar="[SQL]", help="The question; without it the tables are listed.")
    ] = None,
    runs: Annotated[
        str | None, typer.Option(metavar="DIR", help="A run, or a directory of runs (./runs, or MOOT_RUNS).")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values, every cell whole.")] = False,
    parquet: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write every table to DIR as a Parquet file.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Ask many runs at once: runs, events, claims, verdicts, decisions, beliefs, calls and experiments are tables.

    Runs are read when they are new or have changed, and kept in the cache as a DuckDB file (extra `study`). A question
    can read the tables and nothing else.

    Example: moot query "SELECT protocol, count(*) AS runs, sum(usd) AS usd FROM runs GROUP BY ALL ORDER BY ALL"
    """
    if json and as_csv:
        raise usage("--json and --csv are two forms", "give one of them", "--csv")
    if sql is None and (as_csv or json) and parquet is None:
        raise usage("nothing is asked", "give SQL, in quotes", "moot query")
    if sql is None and parquet is None:
        if not quiet:
            show("".join(f"{name}({', '.join(columns)})\n" for name, columns in TABLES.items()))
        return GOOD
    place = Path(runs) if runs is not None else read_settings().runs
    with Corpus(place) as corpus:
        read = corpus.refresh()
        if read.damaged and not quiet:
            err(
                f"warning: {len(read.damaged)} could not be read and are left out: {', '.join(read.damaged[:5])}\n"
            )
        if parquet is not None:
            files = corpus.export(Path(parquet))
            if not quiet and sql is None:
                show("".join(f"{file}\n" for file in files))
        found = corpus.ask(sql) if sql is not None else Asked(columns=[], rows=[], cut=False)
    if json:
        out_json(found)
    elif as_csv:
        out(_csv(found))
    elif not quiet and sql is not None:
        show(_table(found))
    return GOOD


def _csv(found: Asked) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(found.columns)
    writer.writerows(found.rows)
    return text.getvalue()


def _table(found: Asked) -> str:
    """Columns side by side, numbers to the right; long cells are cut."""
    cells = [[_cell(value) for value in row] for row in found.rows]
    widths = [max([len(name), *(len(row[n]) for row in cells)]) for n, name in enumerate(found.columns)]
    right = [
        all(isinstance(row[n], int | float | None) for row in found.rows) for n in range(len(found.columns))
    ]

    def laid(row: list[str]) -> str:
        parts = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        )
        return "  ".join(parts).rstrip()

    lines = [laid(found.columns), laid(["-" * width for width in widths]), *map(laid, cells)]
    more = " (there are more)" if found.cut else ""
    return "\n".join([*lines, f"{len(cells)} row{'' if len(cells) == 1 else 's'}{more}", ""])


def _cell(value: object) -> str:
    if value is None:
        return "–"
    said = f"{value:g}" if isinstance(value, float) else visible(str(value))
    return shortened(" ".join(said.split()), CELL)
