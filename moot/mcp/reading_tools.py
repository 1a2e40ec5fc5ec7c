"""Tools that read a run: each is the verb of the command line, in pages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from mcp.server import MCPServer

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
from moot.mcp.pages import page
from moot.mcp.tools import register, result_or_refusal
from moot.mcp.verbs import ReportText, Verbs
from moot.output_schemas import result_of
from moot.view.results import Log

PAGED: Final = "A long result comes in pages: `limit` entries that follow the first `after`."


def add_reading_tools(server: MCPServer[Any], verbs: Verbs) -> None:
    """Register the tools."""

    def reading(door: str, result: type[Result], does: str, act: Callable[[Run], Result]) -> None:
        def read(run: str, token: str | None = None, limit: int | None = None, after: int = 0) -> Any:
            return result_or_refusal(
                lambda: page(door, verbs.read(door, run, token, act), limit, after), verbs.runs / run
            )

        # The SDK names a tool after its function.
        read.__name__ = door
        # The SDK takes a tool's description from its docstring, and all of these share one function.
        read.__doc__ = f"{does} {PAGED} While the run is open: operator only."
        register(server, result, read)

    reading("claims", result_of("claims"), "Claims with their lifecycles.", read_claims)
    reading(
        "decisions",
        result_of("decisions"),
        "Decisions: what they rest on, how they stand, what would show them wrong.",
        read_decisions,
    )
    reading(
        "check", result_of("check"), "Every rule that the ledger breaks; `ok` means no error.", moot.check
    )
    reading(
        "signals",
        result_of("signals"),
        "The stop signals, gates and alarms of a structured run, with the advice.",
        moot.signals,
    )
    reading(
        "forecasts",
        result_of("signals-crux"),
        "The forecasts of a crux run over its rounds, and what a test of each crux is worth.",
        read_forecasts,
    )
    reading(
        "report",
        ReportText,
        "The whole run as one Markdown document; `limit` and `after` count characters.",
        # `verbs.read` fills in the name by which the caller knows the run.
        lambda run: ReportText(run="", text=moot.report(run)),
    )

    def log(
        run: str,
        token: str | None = None,
        kind: str | None = None,
        round: int | None = None,
        limit: int | None = None,
        after: int = 0,
    ) -> Any:
        """The events as the ledger holds them, in order; `kind` and `round` choose among them. A long result comes in
        pages: `limit` entries that follow the first `after`. While the run is open: operator only."""
        # Only filters and no id here: `show` returns single events.
        wanted = EventFilter(kind=kind, round=round)

        def act(ours: Run) -> Log:
            return read_log(ours, listed_events(ours, None, wanted))

        return result_or_refusal(
            lambda: page("log", verbs.read("log", run, token, act), limit, after), verbs.runs / run
        )

    def show(run: str, id: str, token: str | None = None) -> Any:
        """One thing of a run by its id (C-1-4, D-2-1, @41): its words, what became of it, what names it later. While
        the run is open: operator only."""
        return result_or_refusal(
            lambda: page("show", verbs.read("show", run, token, lambda ours: read_event(ours, id)), None, 0),
            verbs.runs / run,
        )

    def why(run: str, id: str, token: str | None = None, limit: int | None = None, after: int = 0) -> Any:
        """What a decision or a claim rests on, down to quoted words, each thing once. A long result comes in pages:
        `limit` entries that follow the first `after`. While the run is open: operator only."""
        return result_or_refusal(
            lambda: page(
                "why", verbs.read("why", run, token, lambda ours: read_grounds(ours, id)), limit, after
            ),
            verbs.runs / run,
        )

    def diff(a: str, b: str, token: str | None = None, limit: int | None = None, after: int = 0) -> Any:
        """Two runs compared: claims, lifecycles, decisions, signals, and where they first differ. `limit` and `after`
        count the texts of each run."""
        return result_or_refusal(
            lambda: page("diff", verbs.diff(a, b, token).model_dump(), limit, after),
            verbs.runs / a,
            verbs.runs / b,
        )

    register(server, result_of("log"), log)
    register(server, result_of("show"), show)
    register(server, result_of("why"), why)
    register(server, result_of("diff"), diff)
