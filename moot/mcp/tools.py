"""Registration of tools over the runs of one directory, and the two ends of a call: a result, or one line to act on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter
from pathlib import Path
from typing import Any, Final

import orjson
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import create_model

from ledger.result import Result
from moot.app.runs import RUN_NAME
from moot.app.session import Session
from moot.app.unlawful_runs import explain_with
from moot.errors import usage
from moot.mcp.pages import PARTS, NextPage, page
from moot.mcp.rights import Rights
from moot.output_schemas import model_of

WINDOW: Final = (
    Parameter("limit", Parameter.KEYWORD_ONLY, default=None, annotation=int | None),
    Parameter("after", Parameter.KEYWORD_ONLY, default=0, annotation=int),
)
"""Arguments of every tool whose result comes in pages."""


@dataclass(frozen=True, slots=True)
class Tools:
    """A server, the runs below one directory that its tools are about, and the rights to them."""

    server: MCPServer[Any]
    runs: Path
    rights: Rights

    def tool(self, result: type[Result]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that registers a function, whose `result` is published as that of a verb.

        The function returns the result and raises errors that an agent can act on. A result that may be long comes in
        pages, which `limit` and `after` choose. An `async` function waits first, and answers with `answered` itself.
        """

        def register(act: Callable[..., Any]) -> Callable[..., Any]:
            name, model = act.__name__, model_of(result)
            if name in PARTS:
                # The published schema forbids unknown keys, so a page's `left_out` has to be declared.
                model = create_model(model.__name__, __base__=model, left_out=(NextPage | None, None))
            # The SDK publishes the return annotation as the tool's output schema.
            signature = inspect.signature(act, eval_str=True).replace(return_annotation=model)

            @wraps(act)
            def answer(**arguments: Any) -> CallToolResult:
                window = {key: arguments.pop(key) for key in ("limit", "after") if key in arguments}
                runs = [arguments[key] for key in ("run", "a", "b") if key in arguments]
                return self.answered(name, lambda: act(**arguments), runs, **window)

            call: Any = act if inspect.iscoroutinefunction(act) else answer
            if call is answer and PARTS.get(name) is not None:
                signature = signature.replace(parameters=[*signature.parameters.values(), *WINDOW])
            call.__signature__ = signature
            self.server.add_tool(call, description=act.__doc__, structured_output=True)
            return act

        return register

    def answered(
        self,
        name: str,
        act: Callable[[], Result],
        runs: Iterable[str],
        limit: int | None = None,
        after: int = 0,
    ) -> CallToolResult:
        """Return the result of a call about `runs`, as structure and as compact text. Raises `ToolError`."""
        with self.refusing(*runs):
            structure = act().model_dump()
            if name in PARTS:
                structure = page(name, structure, limit, after)
        # Older clients read only the text, so the structure is sent there too.
        text = orjson.dumps(structure).decode()
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structure)

    @contextmanager
    def refusing(self, *names: str, into: type[Exception] = ToolError) -> Generator[None]:
        """Turn every error about the runs of those names into one line that an agent can act on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            known = explain_with(error, [self.runs / name for name in names])
            # An agent cannot use a traceback, and one might quote what a seat must not see.
            fault = f"{type(error).__name__}: this is a fault of moot's: tell the operator what was called"
            raise into(known.line.removeprefix("moot: ") if known else fault) from None

    def session(self, run: str) -> Session:
        """Return a run by its name below the directory; a name cannot lead elsewhere."""
        # A name with a slash or dots could lead to a run outside of the directory, whose tokens another secret makes.
        if not RUN_NAME.fullmatch(run) or not (self.runs / run / "head").is_file():
            there = ", ".join(self.names()[:8]) or "none"
            raise usage(f"no run {run[:80]!r}", f"runs there: {there}; open one with `new`", "run")
        return Session(self.runs / run)

    def opened(self, door: str, run: str, token: str | None) -> Session:
        """Return a run for a call of `door` that `token` allows. Raises `NotAllowed`."""
        session = self.session(run)
        self.rights.check(door, session.inner, token)
        return session

    def names(self) -> list[str]:
        """Return the names of the runs."""
        return sorted(path.parent.name for path in self.runs.glob("*/head"))
