"""A client of the server, in this process."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True, scope="package")
def schemas_that_are_built_once() -> Generator[None]:
    """Every server has the same tools, and their schemas take longer to build than most tests."""
    from mcp.server.mcpserver.utilities.func_metadata import func_metadata

    built: dict[Any, Any] = {}

    def metadata(tool: Callable[..., Any], **options: Any) -> Any:
        key = (tool.__name__, str(inspect.signature(tool)), repr(options))
        if key not in built:
            built[key] = func_metadata(tool, **options)
        return built[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mcp.server.mcpserver.tools.base.func_metadata", metadata)
        yield


@asynccontextmanager
async def connected(runs: Path, **options: Any) -> AsyncIterator[Any]:
    """Connect a client to a server over a directory of runs."""
    from mcp import Client

    from moot.mcp.server import build

    async with Client(build(runs), **options) as client:
        yield client
