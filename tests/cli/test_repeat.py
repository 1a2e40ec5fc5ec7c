"""`run --repeat`: the same question several times by the real SDK against the fake, and how far the answers agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.store.store import RunStore
from moot.view.repeats import RepeatedRun, repeats_of
from tests.cli.conftest import Moot
from tests.fake_api.scripted import answering
from tests.fake_api.server import FakeApi
from tests.protocols.test_by_model import Short

ASK = (
    "run",
    "-q",
    "Which storage?",
    "--protocol",
    "comparative",
    "--option",
    "a",
    "--option",
    "b",
    "--seats",
    "anthropic",
)


def answer_in(folder: Path) -> Any:
    """Answers for whichever run below a directory is not finished."""

    def answer(prompt: str, body: dict[str, Any]) -> str:
        (run,) = [
            head.parent for head in folder.glob("*/head") if not RunStore(head.parent).book().state.finished
        ]
        return str(answering(run, Short())(prompt, body))

    return answer


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "loopback")
    return tmp_path / "three"


@pytest.mark.slow  # three runs against a server of its own
def test_the_same_question_three_times_and_nothing_is_paid_twice(
    moot: Moot, offline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeApi(answer_in(offline)) as api:
        for name, value in api.environment.items():
            monkeypatch.setenv(name, value)
        said = moot(*ASK, "--out", "three", "--repeat", 2, "--json")
        assert said.code == 0, said
        asked = len(api.log)
        again = moot(*ASK, "--out", "three", "--repeat", 2, "--json")
        assert (again.json, len(api.log)) == (said.json, asked)
        more = moot(*ASK, "--out", "three", "--repeat", 3)
        assert more.code == 0, more
    found = said.json
    assert (found["finished"], found["planned"], len(found["runs"])) == (2, 2, 2)
    assert found["replies"] == asked
    assert sum(found["chosen"].values()) == 2
    assert found["agreement"] in (0.0, 1.0)
    assert "3 of 3 runs finished" in more.out
    seeds = {
        json.loads(Path(f"three/{n}/decisions.jsonl").read_bytes().splitlines()[0])["seed"] for n in (1, 2, 3)
    }
    assert seeds == {0, 1, 2}
    assert all(moot("check", f"three/{n}", "--quiet").code == 0 for n in (1, 2, 3))


def test_host_seats_wait_in_every_run(moot: Moot) -> None:
    said = moot("run", "-q", "Which?", "--single", "--seats", "host", "--out", "runs/two", "--repeat", 2)
    assert (said.code, "0 of 2 runs finished" in said.out) == (4, True)
    assert [moot("next", f"runs/two/{n}").code for n in (1, 2)] == [0, 0]
    assert moot("run", "--resume", "runs/two/1", "--seats", "host", "--repeat", 2).code == 2
    assert moot("run", "-q", "Which?", "--seats", "host", "--repeat", 1).code == 2


def one(chosen: str | None, points: float | None = None, state: str = "finished") -> RepeatedRun:
    return RepeatedRun(
        run="r",
        state=state,
        status="decide",
        chosen=chosen,
        points=points,
        answer="A.",
        replies=3,
        lost=0,
        usd="0.5",
    )


@pytest.mark.parametrize(
    ("runs", "agreement", "flips", "points"),
    [
        ([one("O-1", 80.0), one("O-1", 60.0), one("O-2", 55.0)], 0.333, 0.333, [60.0, 80.0]),
        ([one("O-1"), one("O-1")], 1.0, 0.0, []),
        ([one("O-1"), one(None)], None, None, []),
        ([one("O-1"), one("O-2", state="running")], None, None, []),
        ([one("O-1", 10.0), one("O-2", 90.0)], 0.0, 0.5, [10.0, 10.0]),
    ],
)
def test_agreement_by_hand(
    runs: list[RepeatedRun], agreement: float | None, flips: float | None, points: list[float]
) -> None:
    found = repeats_of("d", "Which?", len(runs), runs)
    assert (found.agreement, found.flip_rate, found.points) == (agreement, flips, points)
    assert found.usd == f"{0.5 * len(runs):.6f}"
