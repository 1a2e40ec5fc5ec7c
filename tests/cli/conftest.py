"""The command line called in this process, and runs to call it on."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot.__main__ import main
from rounds.run import driver
from rounds.run.retries import RetryPolicy
from tests.rounds.openings import begin, play, rows


@dataclass(frozen=True)
class Said:
    """What a call printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        return json.loads(self.out)


Moot = Callable[..., Said]


@pytest.fixture
def moot(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Moot:
    """`moot("status", run)`, in a directory of its own. Lost attempts are made again at once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MOOT_RUNS", raising=False)
    monkeypatch.setattr(
        driver, "RetryPolicy", partial(RetryPolicy, wait_seconds_first=0.001, wait_seconds_max=0.01)
    )

    def call(*arguments: object) -> Said:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Said(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of three rounds and S, one of them without the critic, with a drift check."""
    path = tmp_path_factory.mktemp("finished") / "run"
    assert play(begin(path, rows(3, absent={2: "critic"}, drift=[3]))).state == "finished"
    return path


@pytest.fixture
def opened(tmp_path: Path) -> Path:
    """A run whose first step is open."""
    path = tmp_path / "opened"
    begin(path, rows(1))
    return path


def content(run: Path) -> dict[str, bytes]:
    """Every file of a run but the locks."""
    return {
        str(path.relative_to(run)): path.read_bytes()
        for path in sorted(run.rglob("*"))
        if path.is_file() and path.name not in ("lock", "driver")
    }
