"""A client of the server, in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any


@asynccontextmanager
async def connected(runs: Path, **options: Any) -> AsyncIterator[Any]:
    """Connect a client to a server over a directory of runs."""
    from mcp import Client

    from moot.mcp.server import build

    async with Client(build(runs), **options) as client:
        yield client
