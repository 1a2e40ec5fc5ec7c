"""Every line that a client sends is answered, one that is no message too.

The SDK drops what it cannot parse (a lone surrogate, nesting beyond its limit, a number of thousands of digits), so
that its caller waits for ever. Here such a line gets a JSON-RPC error with the id that it carries, or with none.
"""

from __future__ import annotations

import re
from itertools import islice
from types import TracebackType
from typing import Any, Final, Self, cast

from anyio import EndOfStream
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from moot.errors import one_line

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}:,]|[^][{}:,"\s]+')
_PLAIN_ID: Final = re.compile(r'"[^"\\]{0,200}"|-?[0-9]{1,15}')
_TOKENS_MAX: Final = 200_000
_SAID_MAX: Final = 200


class Server(MCPServer[Any]):
    """The SDK's server, on a wire where nothing is left unanswered."""

    async def run_stdio_async(self) -> None:
        """Serve over stdin and stdout."""
        async with stdio_server() as (read, write):
            lowlevel = self._lowlevel_server
            options = lowlevel.create_initialization_options()
            await lowlevel.run(Answering(read, write), write, options)


class Answering:
    """What a client sends, without what is no message: that is answered here, and read over."""

    def __init__(self, read: Any, write: Any) -> None:
        self._read, self._write = read, write

    async def receive(self) -> SessionMessage | Exception:
        """The next message."""
        while True:
            item: SessionMessage | Exception = await self._read.receive()
            if not isinstance(item, ValidationError):
                return item
            answer = refusal(item)
            if answer is not None:
                await self._write.send(SessionMessage(answer))

    async def aclose(self) -> None:
        """Read no more."""
        await self._read.aclose()

    @property
    def last_context(self) -> object:
        """The context in which the last message was sent, for the SDK."""
        return self._read.last_context

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


def refusal(error: ValidationError) -> JSONRPCError | None:
    """The answer to a line that is no message; None to an empty one."""
    first = error.errors(include_url=False)[0]
    line: object = first["input"]
    if first["type"] == "json_invalid" and isinstance(line, str):
        if not line.strip():
            return None
        said = one_line(f"this line is no JSON that can be read: {first['msg']}")
        return _answer(PARSE_ERROR, said, id_in(line))
    whole = [one["input"] for one in error.errors() if one["type"] == "missing" and len(one["loc"]) == 2]
    found: object = cast("dict[str, object]", whole[0]).get("id") if whole else None
    known = found if isinstance(found, str | int) and not isinstance(found, bool) else None
    return _answer(INVALID_REQUEST, "this is no JSON-RPC 2.0 message", known)


def _answer(code: int, said: str, identity: str | int | None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=identity, error=ErrorData(code=code, message=said[:_SAID_MAX]))


def id_in(line: str) -> str | int | None:
    """The id that a line of broken or unreadable JSON carries at its top; None when it has none that is plain."""
    depth, key, colon = 0, "", ""
    for match in islice(_TOKEN.finditer(line), _TOKENS_MAX):
        token = match.group()
        if (depth, key, colon) == (1, '"id"', ":") and _PLAIN_ID.fullmatch(token):
            return token[1:-1] if token.startswith('"') else int(token)
        depth += (token in "{[") - (token in "}]")
        key, colon = colon, token
    return None
