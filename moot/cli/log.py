"""`moot log`: the events, in order."""

from __future__ import annotations

from typing import Annotated

import orjson
import typer

from ledger.events import STREAMS, Event
from ledger.format.canonical import encode
from moot.api import open_run
from moot.app.readings import EventFilter, listed_events, read_log
from moot.app.runs import find_run
from moot.cli.options import JsonOption, NoPagerOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.terminal.paging import page
from moot.terminal.streams import out_json
from moot.view.event_lines import event_line


def log(
    run: RunArgument,
    identity: Annotated[
        str | None, typer.Argument(metavar="ID", help="One event whole, by its id (H-5) or its place (@41).")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only this kind, such as claim or decision.")
    ] = None,
    round: Annotated[int | None, typer.Option("--round", metavar="N", min=0, help="Only this round.")] = None,
    stream: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Only one of {', '.join(STREAMS)}.")
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="ROLE", help="Only what this role wrote.")] = None,
    no_pager: NoPagerOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """List the events, one line each, or show one of them whole; with --json as the ledger holds them.

    Example: moot log @last --round 3 --stream verifications; moot log @last H-5
    """
    ours = open_run(find_run(run))
    wanted = EventFilter(kind=kind, round=round, stream=stream, role=by)
    events = listed_events(ours, identity, wanted)
    if json:
        out_json(read_log(ours, events))
    elif not quiet:
        page("".join(_text(event, whole=identity is not None) for event in events), ask=not no_pager)
    return GOOD


def _text(event: Event, *, whole: bool) -> str:
    if not whole:
        return f"{event_line(event)}\n"
    # Encoded in the ledger's form first, so that the fields are those of the file.
    text = orjson.dumps(orjson.loads(encode(event)), option=orjson.OPT_INDENT_2).decode()
    return f"{event_line(event)}\n{text}\n"
