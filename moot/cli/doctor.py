"""`moot doctor`: what is missing here, and the line that fixes it."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from ledger.plain_text import one_line
from moot.app.diagnostics import examine
from moot.cli.options import JsonOption, QuietOption
from moot.environment import read_settings
from moot.errors import GOOD, NO
from moot.terminal import theme
from moot.terminal.console import console
from moot.terminal.streams import out_json
from moot.view.marks import Mark
from moot.view.results import Doctor, Examined

MARKS = {
    "ok": Mark("✓", "ok", "good"),
    # Only a fault stops a run; a missing key or extra leaves host seats and other providers.
    "missing": Mark("○", "missing", "warn"),
    "fault": Mark("✗", "FAULT", "bad"),
}


def doctor(json: JsonOption = False, quiet: QuietOption = False) -> int:
    """Look at what a deliberation needs here: Python, files, terminal, keys, examples. Keys are never shown.

    Exit code 0: deliberations can be run (with host seats always, with model seats when a key is there).

    Example: moot doctor
    """
    # All checks run before anything is printed, because the exit code needs every one of them.
    examined = list(examine(read_settings()))
    summary = Doctor(ok=all(row.state != "fault" for row in examined), examined=examined)
    if json:
        out_json(summary)
    elif not quiet:
        console().print(_table(examined))
        cannot = "deliberations cannot be run here: fix what is marked ✗"
        console().print("deliberations can be run here" if summary.ok else cannot)
    return GOOD if summary.ok else NO


def _table(examined: list[Examined]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for row in examined:
        mark = MARKS[row.state]
        text = Text(one_line(row.found))
        if row.fix is not None:
            text.append(f"\n→ {one_line(row.fix)}", "bold")
        table.add_row(Text(mark.plain, theme.style_of(mark)), row.name, text)
    return table
