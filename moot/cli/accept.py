"""`moot accept`: say what became of a run's outcome."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ledger.store.disk import read_plain
from moot.app.acts import add
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import usage
from rounds.run import human_actions as people

EPILOG = "Example: moot accept @last plan-as-built.md"
FILE_BYTES_MAX = 1 << 20


def accept(
    run: RunArgument,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="The text that was really used; the distance is measured."),
    ] = None,
    reject: Annotated[bool, typer.Option("--reject", help="It was not used.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Note that a run's outcome was accepted, as it is or as FILE has it, or rejected; `moot value` counts these."""
    if reject and file is not None:
        raise usage("rejected, and yet a text was used", "give FILE or --reject", "moot accept")
    used = None if file is None else _text(Path(file))
    return add(run, lambda session: people.accept(session, used, rejected=reject), json=json, quiet=quiet)


def _text(path: Path) -> str:
    content = read_plain(path, FILE_BYTES_MAX)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise usage(f"not UTF-8 (byte {error.start})", "save it as UTF-8", str(path)) from None
