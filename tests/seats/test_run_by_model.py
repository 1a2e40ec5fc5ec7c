"""`moot run --seats anthropic` in a process of its own against the fake: budgets, keys, kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from ledger.store.store import RunStore
from tests.fake_api.faults import status
from tests.fake_api.rules import KEY
from tests.fake_api.scripted import STEP, answering
from tests.fake_api.server import FakeApi
from tests.rounds.openings import begin, rows
from tests.seats.driven import sound

pytestmark = pytest.mark.slow


def moot(api: FakeApi, *arguments: object) -> subprocess.Popen[str]:
    environment = os.environ | api.environment | {"MOOT_OFFLINE_ALLOWS": "loopback"}
    command = [sys.executable, "-m", "moot", *map(str, arguments)]
    return subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def resume(api: FakeApi, run: Path, *more: str) -> subprocess.Popen[str]:
    return moot(api, "run", "--resume", run, "--seats", "anthropic", "--json", *more)


def test_a_run_ends_and_its_spend_is_told_by_role_and_phase(tmp_path: Path) -> None:
    run = tmp_path / "run"
    begin(run, rows(1))
    with FakeApi(answering(run)) as api:
        process = resume(api, run, "--max-usd", "20")
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        assert json.loads(out)["state"] == "finished"
        said, _ = moot(api, "status", run, "--json").communicate(timeout=60)
    parts = json.loads(said)["spend_parts"]
    assert {part["role"] for part in parts} == {"action", "guardian", "observer", "critic", "verifier"}
    assert any(part["tokens_cached"] for part in parts)
    sound(run)


def test_a_wrong_key_is_one_line_without_it(tmp_path: Path) -> None:
    run = tmp_path / "run"
    begin(run, rows(1))
    with FakeApi(answering(run), fault=lambda _: status(401)) as api:
        process = moot(api, "run", "--resume", run, "--seats", "anthropic")
        out, err = process.communicate(timeout=60)
    assert process.returncode == 5
    assert "ANTHROPIC_API_KEY" in err.splitlines()[-1]
    assert KEY not in out + err
    sound(run)


def test_a_model_without_a_price_is_refused_under_a_budget_of_dollars(tmp_path: Path) -> None:
    run = tmp_path / "run"
    begin(run, rows(1))
    with FakeApi(answering(run)) as api:
        process = moot(api, "run", "--resume", run, "--seats", "anthropic:claude-sonnet-5", "--max-usd", "9")
        _, err = process.communicate(timeout=60)
        assert process.returncode == 2
        assert "--yes" in err
        assert api.log == []


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_committed_reply_is_never_asked_for_again(tmp_path: Path, sent: signal.Signals) -> None:
    run = tmp_path / "run"
    begin(run, rows(1))
    with FakeApi(answering(run), latency=lambda *_: (0.1, 0.4)) as api:
        process = resume(api, run)
        while api.in_flight < 3:
            time.sleep(0.02)
            assert process.poll() is None
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
        assert process.returncode == (4 if sent is signal.SIGINT else -sent), err
        answered = set(RunStore(run).book().state.answered)
        assert answered
        asked_before = len(api.log)
        process = resume(api, run)
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        after = Counter(_step(entry.body) for entry in api.log[asked_before:])
    assert not answered & after.keys()
    assert set(after.values()) == {1}
    sound(run)


def _step(body: dict[str, object]) -> str:
    task = body["messages"][0]["content"][-1]["text"]  # type: ignore[index]  # as the seat builds it
    found = STEP.search(str(task))
    assert found, task
    return found[0]
