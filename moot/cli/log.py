"""`moot log`: the events, in order."""

from __future__ import annotations

from typing import Annotated

import msgspec
import orjson
import typer

from ledger.events import KINDS, STREAMS, Event, stream_of
from ledger.format.canonical import encode
from moot.api import open_run
from moot.app.runs import find_run
from moot.cli.options import JsonOption, NoPagerOption, QuietOption, RunArgument
from moot.errors import GOOD, usage
from moot.terminal.paging import page
from moot.terminal.streams import out_json
from moot.view.events import event_line
from moot.view.results import Log


class EventFilter(msgspec.Struct, frozen=True):
    """Which events are shown; None is all."""

    kind: str | None
    round: int | None
    stream: str | None
    role: str | None

    def includes(self, event: Event) -> bool:
        """Whether an event is shown."""
        return (
            self.kind in (None, event.kind)
            and self.round in (None, event.round)
            and self.role in (None, event.by)
            and (self.stream is None or stream_of(event) == self.stream)
        )


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
    if kind is not None and kind not in KINDS:
        raise usage(f"no kind {kind!r}", f"kinds are {', '.join(KINDS)}", "--kind")
    if stream is not None and stream not in STREAMS:
        raise usage(f"no stream {stream!r}", f"streams are {', '.join(STREAMS)}", "--stream")
    ours = open_run(find_run(run))
    wanted = EventFilter(kind, round, stream, by)
    events = [event for event in ours.events if wanted.includes(event) and identity in _names(event)]
    if identity is not None and not events:
        raise usage(f"no event {identity!r} in this run", "`moot log RUN` lists them", "ID")
    if json:
        out_json(Log(run=str(ours.path), events=[orjson.loads(encode(event)) for event in events]))
    elif not quiet:
        page("".join(_told(event, whole=identity is not None) for event in events), ask=not no_pager)
    return GOOD


def _names(event: Event) -> tuple[str | None, ...]:
    """How an event can be asked for; None asks for all."""
    return (None, event.id, f"@{event.seq}")


def _told(event: Event, *, whole: bool) -> str:
    if not whole:
        return f"{event_line(event)}\n"
    text = orjson.dumps(orjson.loads(encode(event)), option=orjson.OPT_INDENT_2).decode()
    return f"{event_line(event)}\n{text}\n"
