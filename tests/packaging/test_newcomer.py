"""A newcomer's first answer: the README's own lines in a fresh clone, installed by pipx, with models that answer.

The models are the fake of the Messages API. Needs git and a package index; skipped, and says why, where one is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import pytest

from ledger.store.store import RunStore
from tests.fake_api.scripted import answering
from tests.fake_api.server import Answerer, FakeApi
from tests.packaging.installing import STEP_TIMEOUT_SECONDS, installed
from tests.protocols.test_by_model import Short
from tests.rounds.scripted import Script

ROOT: Final = Path(__file__).resolve().parents[2]
COMMANDS_MOST: Final = 5
"""From `git clone` to the first answered question."""


def readme_lines() -> list[str]:
    """The commands under "Install and run", without their comments."""
    part = (ROOT / "README.md").read_text("utf-8").partition("## Install and run")[2]
    block = part.partition("```\n")[2].partition("```")[0]
    return [re.sub(r"\s{2,}#.*", "", line) for line in block.splitlines() if line.strip()]


def newest_run(runs: Path, before: set[Path]) -> Path:
    """The run that is there now and was not before."""
    (found,) = {path.parent for path in runs.glob("*/head")} - before
    return found


def lazily(runs: Path, before: set[Path], script: Script | None = None) -> Answerer:
    """Answers by `script` (a short protocol's if not said) for the run that is opened while the server listens."""
    made: list[Answerer] = []

    def answer(prompt: str, body: dict[str, Any]) -> str:
        if not made:
            made.append(answering(newest_run(runs, before), script or Short()))
        return made[0](prompt, body)

    return answer


def called(command: str, place: Path, environment: dict[str, str]) -> str:
    """Standard output of a line as a shell runs it."""
    began = time.monotonic()
    done = subprocess.run(
        ["bash", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=STEP_TIMEOUT_SECONDS,
    )  # fmt: skip
    print(f"{time.monotonic() - began:6.1f} s  {command}")
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def tools_in(place: Path, *names: str) -> Path:
    """Install tools into an environment of their own; its directory of programs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    if not installed(place / "bin/python", *names):
        pytest.skip(f"no package index that has {' and '.join(names)}")
    return place / "bin"


@pytest.mark.slow  # installs from a package index, twice
def test_the_lines_of_the_readme_lead_to_a_first_answer(tmp_path: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not here")
    programs = tools_in(tmp_path / "pipx", "pipx")
    lines = readme_lines()
    asks = next(n for n, line in enumerate(lines) if line.startswith("moot run"))
    assert 1 + len(lines[: asks + 1]) <= COMMANDS_MOST, (
        "git clone, then every line until the question is answered"
    )
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MOOT_"))
    }
    environment |= {
        "HOME": str(tmp_path),
        "PIPX_HOME": str(tmp_path / "home"),
        "PIPX_BIN_DIR": str(tmp_path / "bin"),
        "PATH": f"{tmp_path / 'bin'}:{programs}:{environment['PATH']}",
        "MOOT_OFFLINE_ALLOWS": "loopback",
    }
    called(f"git clone --quiet {ROOT} clone", tmp_path, environment)
    clone = tmp_path / "clone"
    before = {path.parent for path in (clone / "runs").glob("*/head")}
    with FakeApi(lazily(clone / "runs", before)) as api:
        environment |= api.environment
        said = {line: called(line, clone, environment) for line in lines if not line.startswith("export ")}
    run = newest_run(clone / "runs", before)
    state = RunStore(run).book().state
    assert state.finished
    assert not state.given_up
    answer = next(line for line in said[lines[asks]].splitlines() if line.startswith("answer "))
    assert len(answer.split()) > 2
    installed = called("moot --version && which moot", tmp_path, environment)
    assert str(tmp_path / "bin") in installed
