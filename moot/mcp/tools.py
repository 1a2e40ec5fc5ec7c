"""Registering a tool, and what its call ends with: a result, or one line that an agent can act on."""

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
    """Return one line that an agent can act on: what, where, and the fix."""
    known = explain_with(error, runs)
    if known is None:
        return f"{type(error).__name__}: this is a fault of moot's: tell the operator what was called"
    return known.line.removeprefix("moot: ")


def refusing(act: Callable[[], T], *runs: Path) -> T:
    """Do something about `runs`; whatever goes wrong becomes one line. Raises `ToolError`."""
    try:
        return act()
    except Exception as error:  # noqa: BLE001
        raise ToolError(words_of(error, *runs)) from None


def result_or_refusal(act: Callable[[], Result | dict[str, Any]], *runs: Path) -> CallToolResult:
    """Return the result of a call about `runs`, as structure and as compact text."""
    found = refusing(act, *runs)
    structure = found if isinstance(found, dict) else found.model_dump()
    text = orjson.dumps(structure).decode()
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structure)


def register(server: MCPServer[Any], result: type[Result], act: Callable[..., Any]) -> None:
    """Register a function whose result is published as that of a verb, with what a page leaves out."""
    name = act.__name__.rstrip("_")
    model = model_of(result)
    if name in PARTS:
        model = create_model(model.__name__, __base__=model, left_out=(NextPage | None, None))
    act.__annotations__["return"] = model
    server.add_tool(act, name=name, description=act.__doc__, structured_output=True)
