"""Tools that read a run: each is the verb of the command line, in pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec.structs import replace

import moot
from ledger.result import Result
from moot.app.readings import (
    EventFilter,
    listed_events,
    read_claims,
    read_decisions,
    read_event,
    read_forecasts,
    read_grounds,
    read_log,
)
from moot.app.run import Run
from moot.mcp.tools import Tools
from moot.output_schemas import result_of


class ReportText(Result, frozen=True):
    """A document."""

    run: str
    text: str


Reading = Callable[[Run], Result]

READINGS: Final[Mapping[str, tuple[type[Result], str, Reading]]] = {
    "claims": (result_of("claims"), "Claims with their lifecycles.", read_claims),
    "decisions": (
        result_of("decisions"),
        "Decisions: what they rest on, how they stand, what would show them wrong.",
        read_decisions,
    ),
    "check": (result_of("check"), "Every rule that the ledger breaks; `ok` means no error.", moot.check),
    "signals": (
        result_of("signals"),
        "The stop signals, gates and alarms of a structured run, with the advice.",
        moot.signals,
    ),
    "forecasts": (
        result_of("signals-crux"),
        "The forecasts of a crux run over its rounds, and what a test of each crux is worth.",
        read_forecasts,
    ),
    "report": (
        ReportText,
        "The whole run as one Markdown document; `limit` and `after` count characters.",
        lambda run: ReportText(run="", text=moot.report(run)),
    ),
}
"""Tool without arguments of its own → its result, what it returns in words, and the verb."""
PAGED: Final = "A long result comes in pages: `limit` entries that follow the first `after`."


def add_reading_tools(tools: Tools) -> None:
    """Register the tools."""

    def reading(door: str, run: str, token: str | None, act: Reading) -> Result:
        # The run's name as the caller knows it, and no path of this machine.
        return replace(act(moot.open_run(tools.opened(door, run, token).path)), run=run)

    def add(door: str, result: type[Result], does: str, act: Reading) -> None:
        def read(run: str, token: str | None = None) -> Any:
            return reading(door, run, token, act)

        # The SDK names a tool after its function, and takes its description from the docstring.
        read.__name__ = door
        read.__doc__ = f"{does} {PAGED} While the run is open: operator only."
        tools.tool(result)(read)

    for door, row in READINGS.items():
        add(door, *row)

    @tools.tool(result_of("log"))
    def log(
        run: str,
        token: str | None = None,
        kind: str | None = None,
        round: int | None = None,
    ) -> Any:
        """Return the events as the ledger holds them, in order; `kind` and `round` choose among them. A long result
        comes in pages: `limit` entries that follow the first `after`. While the run is open: operator only."""
        # Only filters and no id here: `show` returns single events.
        wanted = EventFilter(kind=kind, round=round)
        return reading("log", run, token, lambda ours: read_log(ours, listed_events(ours, None, wanted)))

    @tools.tool(result_of("show"))
    def show(run: str, id: str, token: str | None = None) -> Any:
        """Return one thing of a run by its id (C-1-4, D-2-1, @41): its words, what became of it, what names it later.
        While the run is open: operator only."""
        return reading("show", run, token, lambda ours: read_event(ours, id))

    @tools.tool(result_of("why"))
    def why(run: str, id: str, token: str | None = None) -> Any:
        """Return what a decision or a claim rests on, down to quoted words, each thing once. A long result comes in
        pages: `limit` entries that follow the first `after`. While the run is open: operator only."""
        return reading("why", run, token, lambda ours: read_grounds(ours, id))

    @tools.tool(result_of("diff"))
    def diff(a: str, b: str, token: str | None = None) -> Any:
        """Compare two runs: claims, lifecycles, decisions, signals, and where they first differ. `limit` and `after`
        count the texts of each run."""
        sessions = [tools.session(a), tools.session(b)]
        theirs = [session for session in sessions if tools.rights.is_of(session.inner, token)]
        for session in sessions:
            # A token of one of the two runs is none of the other's, and is not held against it.
            tools.rights.check("diff", session.inner, None if theirs and session not in theirs else token)
        return moot.diff(tools.runs / a, tools.runs / b)
