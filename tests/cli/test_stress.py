"""`moot stress`: plans, makes and compares forks."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.conftest import Moot


def test_forks_are_planned_made_and_compared(moot: Moot, finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    planned = moot("stress", run, "--role", "critic", "--json").json
    assert planned["missing"] == [{"role": "critic", "round": 3}]
    made = moot("stress", run, "--role", "critic", "--make", "--json").json
    assert [Path(one).name for one in made["made"]] == ["run.r3-without-critic"]
    again = moot("stress", run, "--role", "critic", "--json").json
    assert (again["missing"], again["made"]) == ([], [])
    assert [Path(one).name for one in again["unfinished"]] == ["run.r3-without-critic"]
    assert again["roles"][0]["verdict"] == "INSUFFICIENT"
    tape = f"tape:{finished}"
    moot("fork", run, "--round", 3, "--seats", tape)
    assert moot("run", "--resume", f"{run}.r3-again", "--seats", tape, "--quiet").code == 0
    compared = moot("stress", run, "--json").json["forks"]
    assert [(one["without"], one["rounds"], one["lost"], one["new"]) for one in compared] == [
        (None, [3], [], [])
    ]
    said = moot("stress", run)
    assert "what chance does" in said.out
    assert "INSUFFICIENT" in said.out
    assert "a fork of a" in moot("diff", run, f"{run}.r3-again").out


def test_an_unknown_role_is_refused(moot: Moot, finished: Path) -> None:
    assert moot("stress", finished, "--role", "nobody").code == 2
