"""Registration of tools, and the two ends of a call: a result, or one line that an agent can act on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import orjson
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import create_model

from ledger.result import Result
from moot.app.unlawful_runs import explain_with
from moot.mcp.pages import PARTS, NextPage
from moot.output_schemas import model_of

T = TypeVar("T")


def words_of(error: Exception, *runs: Path) -> str:
    """Return one line that an agent can act on: what happened, where, and the fix."""
    known = explain_with(error, runs)
    # An agent cannot use a traceback, and one might quote what a seat must not see.
    if known is None:
        return f"{type(error).__name__}: this is a fault of moot's: tell the operator what was called"
    return known.line.removeprefix("moot: ")


def refusing(act: Callable[[], T], *runs: Path) -> T:
    """Do something with `runs`; every error becomes one line. Raises `ToolError`."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001
        raise ToolError(words_of(error, *runs)) from None


def result_or_refusal(act: Callable[[], Result | dict[str, Any]], *runs: Path) -> CallToolResult:
    """Return the result of a call about `runs`, as structure and as compact text."""
    result = refusing(act, *runs)
    structure = result if isinstance(result, dict) else result.model_dump()
    # Older clients read only the text, so the structure is sent there too.
    text = orjson.dumps(structure).decode()
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structure)


def register(server: MCPServer[Any], result: type[Result], act: Callable[..., Any]) -> None:
    """Register a function whose result is published as that of a verb, with what a page leaves out."""
    name = act.__name__.rstrip("_")
    model = model_of(result)
    if name in PARTS:
        # The published schema forbids unknown keys, so a page's `left_out` has to be declared.
        model = create_model(model.__name__, __base__=model, left_out=(NextPage | None, None))
    # The SDK publishes the return annotation as the tool's output schema.
    act.__annotations__["return"] = model
    server.add_tool(act, name=name, description=act.__doc__, structured_output=True)
