"""The server: the verbs as typed tools, runs as resources, the five stages of setting up as prompts (SD-20).

Waiting is polled and can be cancelled; progress is reported where the client asks for it. No sampling is needed: a
host's own agents answer through `next` and `submit`. A person is asked by elicitation where the client has it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError

import moot
from moot.errors import usage
from moot.mcp.rights import rights_in
from moot.mcp.run_tools import add_people_tools, add_reading_tools
from moot.mcp.seat_tools import add_opening_tools, add_seat_tools
from moot.mcp.tools import Tools
from moot.mcp.wire import Server
from roles.brief import derive

INSTRUCTIONS: Final = (
    "moot runs deliberations between your agents and keeps every act in a ledger. Open a run with `new`; "
    "it returns a token for every seat and one for yourself, the operator. Give each agent one role, its "
    "token and nothing else: it calls `next` with wait_seconds, answers the brief with one JSON object, "
    "and calls `submit`. One conversation holds one role. Read `claims`, `decisions`, `signals` and "
    "`check` with the operator's token; never show them to a seat while the run is open."
)
STAGES: Final = (
    (
        "stage-1-question",
        "1. Domain and question",
        "settle what is deliberated, for what goals, between which options",
    ),
    ("stage-2-casting", "2. Casting", "settle who the roles are, before any round"),
    ("stage-3-schedule", "3. Plan and budget", "settle rounds, stress rounds, drift checks, and limits"),
    (
        "stage-4-rounds",
        "4. Rounds",
        "run the rounds: one agent a seat, looks at the signals, alarms answered",
    ),
    (
        "stage-5-synthesis",
        "5. Synthesis and retrospective",
        "say what was decided, on what it rests, what stayed open, and how the run went",
    ),
)
"""Stages of setting up a deliberation, taken one at a time: name of prompt and file, title, what the stage settles."""


def build(runs: Path) -> MCPServer[Any]:
    """Return the server over the runs below a directory."""
    # The SDK logs every request at INFO, which would fill the host's log.
    server = Server("moot", instructions=INSTRUCTIONS, version=moot.version(), log_level="WARNING")
    tools = Tools(server, runs, rights_in(runs))
    add_opening_tools(tools)
    add_seat_tools(tools)
    add_reading_tools(tools)
    add_people_tools(tools)
    _add_resources(tools)
    for name, title, does in STAGES:
        server.prompt(name=name, title=title, description=does)(_stage(name))
    return server


def _add_resources(tools: Tools) -> None:
    @tools.server.resource(
        "moot://runs", name="runs", mime_type="text/plain", description="The runs, one a line."
    )
    def runs() -> str:
        # Names only: they hold no word of the question, so any caller may see them.
        return "\n".join(tools.names())

    @tools.server.resource(
        "moot://runs/{run}/briefs/{step}",
        name="brief",
        mime_type="text/plain",
        description="The brief of a step of a finished run.",
    )
    def brief(run: str, step: str) -> str:
        with tools.refusing(run, into=ResourceError):
            session = tools.opened("moot://runs/{run}/briefs/{step}", run, None).inner
            book, protocol = session.book(), session.protocol
            rounds = (protocol.groups(book.state, number) for number in book.state.rounds)
            steps = {entry.id: entry for groups in rounds for group in groups for entry in group.steps}
            if step not in steps:
                fix = "see `decisions` or `report` for its ids"
                raise usage(f"no step {step[:80]!r} in this run", fix, "step")
            return derive(book, protocol, steps[step], session.prompt_set).text


def _stage(name: str) -> Callable[[], str]:
    """Return a function that returns the text of a stage, as the server registers it."""
    path = Path(__file__).parent / "stages" / f"{name}.md"

    def text() -> str:
        return path.read_text("utf-8")

    return text
