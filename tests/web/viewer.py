"""A viewer as a process of its own, and plain requests to it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 30


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: str


@dataclass(frozen=True)
class Viewer:
    """A viewer that answers."""

    url: str
    host: str
    port: int
    token: str | None
    pid: int

    def get(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        host: str | None = None,
    ) -> Answer:
        """One request; `host` replaces the Host header."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            connection.putrequest(method, path, skip_host=True)
            connection.putheader("Host", f"127.0.0.1:{self.port}" if host is None else host)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read().decode("utf-8"))
        finally:
            connection.close()


@contextmanager
def viewer(runs: Path, *options: str) -> Generator[Viewer]:
    """`moot serve RUNS` on a free port, ended with the block."""
    command = [
        sys.executable,
        "-m",
        "moot",
        "serve",
        str(runs),
        "--port",
        "0",
        "--no-open",
        "--json",
        *options,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            yield Viewer(said["url"], said["host"], said["port"], said["token"], process.pid)
        finally:
            process.terminate()
            process.wait(SECONDS)
