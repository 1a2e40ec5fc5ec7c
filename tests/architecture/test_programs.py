"""Who may start a program, searched in the code: of a reply's programs, the sandbox alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.architecture.rooms import nodes

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("ledger", "roles", "detectors", "validators", "rounds", "moot")
STARTS: Final = frozenset(
    {"subprocess", "pty", "multiprocessing", "concurrent.futures", "ctypes", "code", "codeop", "runpy"}
)
"""Modules that start programs, or run text as one."""
CALLS: Final = frozenset(
    {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp", "startfile",
     "create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell"}
    | {f"{name}{form}" for name in ("exec", "spawn") for form in ("l", "le", "lp", "lpe", "v", "ve", "vp", "vpe")}
)  # fmt: skip
TEXT: Final = frozenset({"exec", "eval", "compile", "__import__"})
ALLOWED: Final = {
    "moot/app/inputs.py": "git lists files and changes, without a hook or a filter of the repository",
    "moot/environment.py": "git says who the person is",
    "moot/studies/playing.py": "processes of moot itself, which play runs of a study",
    "moot/terminal/asking.py": "the person's own editor",
    "moot/terminal/streams.py": "the person's own pager",
    "roles/seats/command.py": "a seat that the person named",
    "roles/seats/presets.py": "asks an agent's command line for its version, for `moot doctor`",
    "rounds/experiments/bubblewrap.py": "asks bubblewrap for its version",
    "rounds/experiments/sandbox.py": "the sandbox: the words of bubblewrap.py, and no others",
    "rounds/experiments/probe.py": "runs inside the sandbox, in the self-test",
}
"""File → why it starts a program."""


def starts(path: Path) -> Iterator[str]:
    """What in a file could start a program."""
    for node in nodes(path.read_text("utf-8")):
        match node:
            case ast.Import():
                yield from (one.name for one in node.names if one.name in STARTS)
            case ast.ImportFrom() if node.module in STARTS or node.module == "concurrent":
                yield str(node.module)
            case ast.ImportFrom() if node.module == "os":
                yield from (one.name for one in node.names if one.name in CALLS)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="platform" | "verbs"))):
                pass  # what the system is called; a fork of a run
            case ast.Call(func=ast.Attribute(attr=name)) if name in CALLS:
                yield name
            case ast.Call(func=ast.Name(id=name)) if name in TEXT:
                yield name
            case _:
                pass


def test_nobody_else_starts_a_program() -> None:
    found = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if any(starts(path))
    }
    assert found - set(ALLOWED) == set()
    assert set(ALLOWED) - found == set()


def test_the_sandbox_is_asked_for_in_one_place() -> None:
    """What runs a job is the bench and the self-test; what asks the bench is one loop, and the comparing of a run."""
    for name, users in {
        "run_job": {"rounds/experiments/bench.py"},
        "bench.conduct": {"rounds/run/experiments.py", "moot/app/experiments.py"},
    }.items():
        found = {
            str(path.relative_to(ROOT))
            for package in PACKAGES
            for path in (ROOT / package).rglob("*.py")
            if f"{name}(" in path.read_text("utf-8")
        }
        assert found - {"rounds/experiments/sandbox.py"} == users - {"rounds/experiments/sandbox.py"}, name


def test_the_search_finds_what_starts_a_program(tmp_path: Path) -> None:
    for text in (
        "import subprocess", "import os\nos.system('x')", "from os import execv", "eval('1')",
        "import asyncio\nasyncio.create_subprocess_exec('x')", "from multiprocessing import Process",
    ):  # fmt: skip
        (tmp_path / "one.py").write_text(text)
        assert list(starts(tmp_path / "one.py")), text
    (tmp_path / "one.py").write_text("import re\nre.compile('x')\nset().update()\n")
    assert not list(starts(tmp_path / "one.py"))
