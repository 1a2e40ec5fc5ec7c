"""Clients of the server: in this process, and over HTTP to a process of its own; what holds for one holds for both."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

HERE, HTTP = "here", "http"
ROOT: Final = Path(__file__).resolve().parents[2]
_now = [HERE]


class Served:
    """`moot mcp --http` over a directory of runs, until the block ends."""

    def __init__(self, runs: Path, *more: str) -> None:
        self._words = [
            sys.executable,
            "-P",
            "-m",
            "moot",
            "mcp",
            "--http",
            "--port",
            "0",
            "--runs",
            str(runs),
            *more,
        ]

    def __enter__(self) -> Served:
        self.process = subprocess.Popen(self._words, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.header = self.process.stdout.readline().strip().partition(": ")[2]
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(20)
        assert self.process.stdout is not None
        self.process.stdout.close()


@asynccontextmanager
async def connected(runs: Path, **options: Any) -> AsyncIterator[Any]:
    """A client of the transport of this test."""
    from mcp import Client

    from moot.mcp.server import build

    if _now[0] == HERE:
        async with Client(build(runs), **options) as client:
            yield client
        return
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    with Served(runs) as served:
        headers = {"Authorization": served.header}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(served.url, http_client=http), **options) as client,
        ):
            yield client


@pytest.fixture(params=[HERE, HTTP])
def transport(request: pytest.FixtureRequest) -> str:
    """Each test that asks for it runs once in this process, and once over HTTP."""
    _now[0] = str(request.param)
    return _now[0]


@pytest.fixture(autouse=True)
def _here_unless_said(request: pytest.FixtureRequest) -> None:
    if "transport" not in request.fixturenames:
        _now[0] = HERE
