"""The ways to install that docs/install.md gives, from an index on loopback that holds the built wheel; then what a
newcomer does with it, in an empty environment without the sources.

Skipped, with the reason, where no package index has the dependencies.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import anyio
import pytest

from tests.fake_api.openai_server import FakeOpenAI
from tests.packaging.built_wheel import build
from tests.packaging.lock import LOCK, TOOLS, entries, seats_part
from tests.packaging.test_integrations import Reviewer, ran
from tests.packaging.test_newcomer import lazily, tools_in
from tests.protocols.test_by_model import Short

ROOT: Final = Path(__file__).resolve().parents[2]


class Quiet(SimpleHTTPRequestHandler):
    """Files of a directory, without a word."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An index with the wheel alone; the dependencies come from the machine's own."""
    place = tmp_path_factory.mktemp("index")
    wheel = build(place / "dist")
    folder = place / "simple" / "moot-ledger"
    folder.mkdir(parents=True)
    (folder / wheel.name).write_bytes(wheel.read_bytes())
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(place)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()
    server.server_close()


def recipes(heading: str) -> list[str]:
    """The commands below a heading of the page."""
    part = (
        (ROOT / "docs" / "install.md")
        .read_text("utf-8")
        .partition(f"## {heading}\n")[2]
        .partition("\n## ")[0]
    )
    return [
        line for block in re.findall(r"```bash\n(.*?)```", part, re.DOTALL) for line in block.splitlines()
    ]


def clean(place: Path, index: str) -> dict[str, str]:
    """An environment without the sources, with programs of its own."""
    said = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "MOOT_", "VIRTUAL_ENV", "UV_"))
    }
    path = f"{place / 'bin'}:{place / 'env/bin'}:{place / 'tools/bin'}:/usr/local/bin:/usr/bin:/bin"
    return said | {
        "HOME": str(place), "PIPX_HOME": str(place / "home"), "PIPX_BIN_DIR": str(place / "bin"), "PATH": path,
        "INDEX": index, "XDG_CACHE_HOME": str(place / "cache"), "MOOT_OFFLINE_ALLOWS": "loopback",
        "UV_PYTHON": sys.executable, "UV_FIND_LINKS": os.environ.get("PIP_FIND_LINKS", ""),
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, index: str) -> Path:
    """A home with an empty environment, where pip has installed the wheel, and pipx and uv beside it."""
    made = tmp_path_factory.mktemp("home")
    subprocess.run([sys.executable, "-m", "venv", str(made / "env")], check=True)
    tools_in(made / "tools", "pipx", "uv")
    (line,) = [one for one in recipes("From an index") if one.startswith("pip ")]
    ran(["bash", "-c", line], made, clean(made, index))
    return made


@pytest.mark.slow  # installs from package indices
@pytest.mark.parametrize("tool", ["pipx", "uvx"])
def test_the_recipe_installs_from_an_index(place: Path, index: str, tool: str) -> None:
    (line,) = [one for one in recipes("From an index") if one.startswith(f"{tool} ")]
    done = ran(["bash", "-c", line], place, clean(place, index))
    if tool == "uvx":
        assert "identical: same head" in done.stdout
    else:
        assert ran([str(place / "bin/moot"), "--version"], place, clean(place, index)).stdout.startswith(
            "moot "
        )


@pytest.mark.slow
def test_a_suffix_keeps_two_commands_apart(place: Path, index: str) -> None:
    install, use = recipes("When two commands collide")
    line = install.replace(" .", f" --pip-args='--extra-index-url {index}' moot-ledger")
    ran(["bash", "-c", line], place, clean(place, index))
    assert "identical: same head" in ran(["bash", "-c", use], place, clean(place, index)).stdout


@pytest.mark.slow
def test_what_a_newcomer_does_first_works_with_the_wheel_alone(place: Path, index: str) -> None:
    demo, ask, review, serve, mcp = recipes("First steps")
    environment, work = clean(place, index), place / "work"
    work.mkdir()
    assert "identical: same head" in ran(["bash", "-c", demo], work, environment).stdout
    for text in ("def half(x):\n    return x / 2\n", "def half(x):\n    return x // 2\n"):
        (work / "half.py").write_text(text)
        if not (work / ".git").exists():
            (work / ".gitignore").write_text("runs/\n")
            ran(["git", "init", "-q"], work, environment)
        ran(["git", "add", "-A"], work, environment)
        ran(
            ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "x"],
            work,
            environment,
        )
    said = ""
    for line, script in ((ask, Short()), (review, Reviewer())):
        before = {path.parent for path in (work / "runs").glob("*/head")}
        with FakeOpenAI(lazily(work / "runs", before, script)) as api:
            said = ran(["bash", "-c", line], work, environment | api.environment).stdout
        assert "answer " in said
    assert "half.py:2" in said
    _serves(serve, work, environment)
    anyio.run(_speaks, mcp, work, environment)


def _serves(line: str, work: Path, environment: dict[str, str]) -> None:
    """The viewer answers, with the runs that were made."""
    words = [*line.split(), "--port", "0", "--no-open"]
    process = subprocess.Popen(words, cwd=work, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        found = None
        for _ in range(20):
            found = re.search(r"http://\S+", process.stdout.readline())
            if found:
                break
        assert found
        with urllib.request.urlopen(found[0].rstrip("."), timeout=30) as answer:
            assert b"notifications" in answer.read()
    finally:
        process.terminate()
        process.communicate(timeout=20)


async def _speaks(line: str, work: Path, environment: dict[str, str]) -> None:
    """The server lists the same runs to an agent host."""
    from mcp import Client, StdioServerParameters

    command, *words = line.split()
    server = StdioServerParameters(
        command=str(work.parent / "env/bin" / command), args=words, cwd=str(work), env=environment
    )
    async with Client(server) as client:
        text = str(getattr((await client.read_resource("moot://runs")).contents[0], "text", ""))
        assert len(text.splitlines()) == 2


def test_the_container_installs_what_the_page_says() -> None:
    """No engine is here: its lines are read. The lock's first two parts have what the clone's recipe tells pipx."""
    text = (ROOT / "integrations/container/Containerfile").read_text("utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    words = [line.split()[0] for line in lines if line]
    assert words == [
        "FROM",
        "RUN",
        "WORKDIR",
        "COPY",
        "RUN",
        "RUN",
        "USER",
        "WORKDIR",
        "ENV",
        "ENTRYPOINT",
        "CMD",
    ]
    (pip,) = [line for line in lines if "pip install" in line]
    assert f"{TOOLS.strip()}$/,\\$d" in pip
    assert "--no-deps --no-index --no-build-isolation ." in pip
    assert {"anthropic", "openai", "mcp"} <= set(entries(seats_part(LOCK.read_text("utf-8"))))
    assert "'.[anthropic,openai,mcp]'" in recipes("From a clone")[0]
