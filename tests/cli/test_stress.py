"""`moot fork --stress`: plans, makes and compares forks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from ledger.state.book import Book
from ledger.store.store import RunStore
from roles.protocol import Step
from tests.cli.conftest import Moot
from tests.protocols.test_answers import Examiner, begin
from tests.rounds.openings import play

ANSWERED = {"action": (100, 0), "guardian": (45, 55), "observer": (45, 55), "critic": (45, 55)}
"""Points for the standing answer, and for another one: it leads by the action's word alone."""


class Split(Examiner):
    """Every role answers as in `ANSWERED`, whenever it is asked."""

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        made = json.loads(super().reply(book, step, saw))
        if step.task == "E.belief":
            for one, points in zip(made["belief"], ANSWERED[step.name.role], strict=True):
                one["points"] = points
        return json.dumps(made).encode()


def test_forks_are_planned_made_and_compared(moot: Moot, finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(finished, run)
    planned = moot("fork", "--stress", run, "--role", "critic", "--json").json
    assert planned["missing"] == [{"role": "critic", "round": 3}]
    made = moot("fork", "--stress", run, "--role", "critic", "--make", "--json").json
    assert [Path(one).name for one in made["made"]] == ["run.r3-without-critic"]
    again = moot("fork", "--stress", run, "--role", "critic", "--json").json
    assert (again["missing"], again["made"]) == ([], [])
    assert [Path(one).name for one in again["unfinished"]] == ["run.r3-without-critic"]
    assert again["roles"][0]["verdict"] == "INSUFFICIENT"
    tape = f"tape:{finished}"
    moot("fork", run, "--round", 3, "--seats", tape)
    assert moot("run", "--resume", f"{run}.r3-again", "--seats", tape, "--quiet").code == 0
    compared = moot("fork", "--stress", run, "--json").json["forks"]
    assert [(one["without"], one["rounds"], one["lost"], one["new"]) for one in compared] == [
        (None, [3], [], [])
    ]
    said = moot("fork", "--stress", run)
    assert "what chance does" in said.out
    assert "INSUFFICIENT" in said.out
    assert "a fork of a" in moot("diff", run, f"{run}.r3-again").out


def test_an_unknown_role_is_refused(moot: Moot, finished: Path) -> None:
    assert moot("fork", "--stress", finished, "--role", "nobody").code == 2


def test_the_answers_are_pooled_without_each_role_and_forks_are_offered_where_they_could_matter(
    moot: Moot, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    play(begin(run, ()), Split())
    found = moot("fork", "--stress", run, "--json").json
    told = {one["role"]: one for one in found["left_out"]}
    last = max(belief.round for belief in RunStore(run).state().beliefs.values())
    assert {one["round"] for one in told.values()} == {last}
    assert {role: (one["leader"], one["without"], one["changes"]) for role, one in told.items()} == {
        "action": ("stands", "none", True),
        "guardian": ("stands", "stands", False),
        "observer": ("stands", "stands", False),
        "critic": ("stands", "stands", False),
    }
    assert told["action"]["margin"] == 10.0  # 55 against 45
    assert told["critic"]["margin"] == 26.7  # (100 + 45 + 45) / 3 against the rest
    assert found["spared"] == ["guardian", "observer", "critic"]
    assert {one["role"] for one in found["missing"]} <= {"action"}
    asked = moot("fork", "--stress", run, "--role", "critic", "--json").json
    assert asked["spared"] == []
    assert "critic" in {one["role"] for one in asked["missing"]}
    said = moot("fork", "--stress", run).out
    assert "none leads instead of stands" in said
    assert "no fork is offered without guardian, observer" in said


def test_a_run_that_asked_nobody_has_nothing_to_leave_out(moot: Moot, finished: Path) -> None:
    found = moot("fork", "--stress", finished, "--json").json
    assert (found["left_out"], found["spared"]) == ([], [])
    assert found["missing"]
