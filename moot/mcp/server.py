"""The server: the verbs as typed tools, runs as resources, the five stages of setting up as prompts (SD-20).

Waiting is polled and can be cancelled; progress is reported where the client asks for it. No sampling is needed: a
host's own agents answer through `next` and `submit`. A person is asked by elicitation where the client has it.

Its transport is one JSON-RPC message per line over stdin and stdout, and an error for any other line. The SDK's own
transport answers nothing to a line that it cannot parse, takes a request whose id is null or 1.5 for a
notification, replaces bytes that are not UTF-8, and ends with an error when the host goes away. Nothing here holds a
thread, so the server can leave while the host keeps one end of the pipe open.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import anyio
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

import moot
from moot.errors import one_line, usage
from moot.mcp.rights import rights_in
from moot.mcp.run_tools import add_people_tools, add_reading_tools
from moot.mcp.seat_tools import add_opening_tools, add_seat_tools
from moot.mcp.tools import Tools
from roles.brief import derive
from rounds.setup.toml_file import nearest

LINE_BYTES_MAX: Final = 16 << 20
_READ_BYTES: Final = 1 << 16
_PIPE_BUF: Final = 4096
_GONE: Final = frozenset({errno.EPIPE, errno.ECONNRESET, errno.EIO, errno.EBADF})
"""Errors of the system when the host has closed its end, or the terminal is gone."""

_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")

Parsed = SessionMessage | JSONRPCError | None
"""A message, the refusal of an invalid line, or None where no answer is due."""


class Server(MCPServer[Any]):
    """The SDK's server, on a transport that answers every request, with tools that refuse unknown arguments."""

    async def run_stdio_async(self) -> None:
        """Serve over stdin and stdout until the host closes either."""
        source, sink = os.dup(0), os.dup(1)
        # Whatever else this process or a child prints must not get between the messages.
        os.dup2(2, 1)
        # A child that reads stdin would swallow messages, so it finds an empty one.
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        # Without a buffer, a slow server slows the host down, and messages never pile up in memory.
        to_server, from_host = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        to_host, from_server = anyio.create_memory_object_stream[SessionMessage](0)
        refused: list[OSError] = []
        async with anyio.create_task_group() as group:
            group.start_soon(_receive, source, to_server, to_host.clone())
            group.start_soon(_send, sink, from_server, group, refused)
            lowlevel = self._lowlevel_server
            async with to_host:
                await lowlevel.run(from_host, to_host, lowlevel.create_initialization_options())
        if refused and refused[0].errno not in _GONE:
            raise refused[0]

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool. Raises `ToolError`, among others for an argument that the tool does not have."""
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            names = [known.name for known in self._tool_manager.list_tools()]
            raise ToolError(f"no tool `{name[:80]}`; did you mean `{nearest(name, names)}`?")
        known = list(tool.parameters.get("properties", {}))
        # The SDK drops unknown arguments, so a misspelled one would silently have no effect.
        for argument in arguments:
            if argument not in known:
                near = f"did you mean `{nearest(argument, known)}`? " if known else ""
                takes = ", ".join(known) or "none"
                raise ToolError(f"unknown argument `{argument[:80]}` of `{name}`; {near}It takes: {takes}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            # Only pydantic's report on arguments is reworded; errors of the tool itself pass unchanged.
            if not isinstance(error.__cause__, ValidationError) or type(error) is not ToolError:
                raise
            problems = error.__cause__.errors(include_url=False, include_input=False)[:5]
            summary = "; ".join(
                f"`{'.'.join(map(str, problem['loc']))}`: {problem['msg']}" for problem in problems
            )
            raise ToolError(f"arguments of `{name}`: {one_line(summary)}") from None

    async def get_prompt(
        self, name: str, arguments: dict[str, Any] | None = None, context: Any = None
    ) -> Any:
        """Return a prompt. Raises `MCPError` for another name, and for arguments, which no prompt takes."""
        # The SDK raises a plain `ValueError` for both, logs it with a traceback, and answers without a fix.
        names = [stage[0] for stage in STAGES]
        if name not in names:
            raise MCPError(
                INVALID_PARAMS,
                f"no prompt `{one_line(name)[:80]}`; did you mean `{nearest(name, names)}`?",
            )
        if arguments:
            raise MCPError(INVALID_PARAMS, f"`{name}` takes no arguments; leave them out")
        return await super().get_prompt(name, arguments, context)


async def _receive(
    source: int,
    server: MemoryObjectSendStream[SessionMessage | Exception],
    host: MemoryObjectSendStream[SessionMessage],
) -> None:
    """Pass every message to the server; refuse every other line."""
    async with server, host:
        async for line in _lines(source):
            parsed = parse(line)
            if isinstance(parsed, SessionMessage):
                await server.send(parsed)
            elif parsed is not None:
                await host.send(SessionMessage(parsed))


async def _lines(source: int) -> AsyncIterator[bytes]:
    """Yield lines without their ends. A line that is too long is cut, and is then refused."""
    line = bytearray()
    while True:
        await _ready(anyio.wait_readable, source)
        try:
            part = os.read(source, _READ_BYTES)
        except BlockingIOError:
            continue
        except OSError:  # the terminal or the host is gone
            part = b""
        *complete, rest = part.split(b"\n")
        for end in complete:
            yield bytes(line + end)
            line.clear()
        # The rest of an endless line is read and dropped; one byte too many marks it as too long.
        line += rest[: max(0, LINE_BYTES_MAX + 1 - len(line))]
        if not part:
            if line:
                yield bytes(line)
            return


def parse(line: bytes) -> Parsed:
    """Return the message in a line, or its refusal. An id that is neither text nor integer is answered with null."""
    if len(line) > LINE_BYTES_MAX:
        return _refusal(PARSE_ERROR, f"this line is longer than {LINE_BYTES_MAX} bytes", None)
    try:
        # Hosts on Windows may send a byte order mark before the first message.
        text = line.decode("utf-8-sig")
        if not text.strip():
            return None
        value: object = json.loads(text)
    except UnicodeDecodeError as error:
        return _refusal(PARSE_ERROR, f"this line is not UTF-8 (byte {error.start})", None)
    except (ValueError, RecursionError) as error:
        return _refusal(PARSE_ERROR, f"this line is no JSON that can be read: {error}", None)
    if not isinstance(value, dict):
        return _refusal(INVALID_REQUEST, "send one JSON-RPC 2.0 message per line, and no batch", None)
    message = cast("dict[str, object]", value)
    identity = _identity(message.get("id"))
    if "method" in message and "id" in message and identity is None:
        return _refusal(INVALID_REQUEST, "the id of a request is a text or an integer", None)
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValidationError:
        refusal = _refusal(INVALID_REQUEST, "this is no JSON-RPC 2.0 message", identity)
        is_answer = "method" not in message and ("result" in message or "error" in message)
        # An answer is not answered. The server waits for it, and so gets it as an error.
        return refusal if not is_answer else SessionMessage(refusal) if identity is not None else None


def _identity(value: object) -> str | int | None:
    if isinstance(value, str):
        return None if _SURROGATE.search(value) else value
    # `True` is an integer for Python, but not an id in JSON.
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _refusal(code: int, what: str, identity: str | int | None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=identity, error=ErrorData(code=code, message=one_line(what)[:200]))


async def _send(
    sink: int, server: MemoryObjectReceiveStream[SessionMessage], group: TaskGroup, refused: list[OSError]
) -> None:
    """Write what the server sends; end everything when the host reads no more."""
    async with server:
        async for item in server:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            try:
                # A pipe that can be written to takes this much without blocking, so that reading goes on meanwhile:
                # a host that writes a long line before it reads would else wait for us as we wait for it.
                left = memoryview(line)
                while left:
                    await _ready(anyio.wait_writable, sink)
                    with suppress(BlockingIOError):  # a host may have made its end, and so ours, non-blocking
                        left = left[os.write(sink, left[:_PIPE_BUF]) :]
            except OSError as error:
                refused.append(error)
                group.cancel_scope.cancel()
                return


async def _ready(wait: Callable[[int], Awaitable[None]], descriptor: int) -> None:
    try:
        await wait(descriptor)
    except PermissionError:  # a plain file is always ready, and cannot be waited for
        await anyio.lowlevel.checkpoint()


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
    # It logs a malformed notification with a traceback, although nothing is wrong here.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
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
