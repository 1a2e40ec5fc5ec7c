"""`moot run` with seats of the Chat Completions API in processes of their own: a question, a mix, a kill, a resume."""

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
from tests.fake_api.openai_rules import COMPATIBLE
from tests.fake_api.openai_server import FakeOpenAI
from tests.fake_api.scripted import STEP, answering
from tests.fake_api.server import FakeApi
from tests.protocols.test_by_model import Short
from tests.rounds.openings import begin, rows
from tests.seats.driven import sound

pytestmark = pytest.mark.slow
ASKED = (
    "run",
    "-q",
    "Which storage keeps every line?",
    "--option",
    "three streams",
    "--option",
    "one journal",
)


def moot(*arguments: object, apis: tuple[FakeApi, ...]) -> subprocess.Popen[str]:
    environment = {**os.environ, "MOOT_OFFLINE_ALLOWS": "loopback"}
    for api in apis:
        environment |= api.environment
    return subprocess.Popen(
        [sys.executable, "-m", "moot", *map(str, arguments)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("protocol", ["crux", "tribunal"])
def test_a_question_is_answered_through_a_compatible_server(tmp_path: Path, protocol: str) -> None:
    run = tmp_path / "run"
    more = ("--protocol", protocol, "--seats", "openai:qwen3:8b", "--out", run, "--json")
    with FakeOpenAI(answering(run, Short()), dialect=COMPATIBLE) as api:
        process = moot(*(ASKED if protocol == "crux" else ASKED[:3]), *more, apis=(api,))
        out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    assert json.loads(out)["state"] == "finished"
    calls = [event.call for event in RunStore(run).book().events if event.call]
    assert {(call.seat, call.provider, call.model) for call in calls} == {("openai", "fake", "qwen3:8b")}
    assert {member.seat for member in RunStore(run).book().state.opening.cast} == {"openai:qwen"}
    sound(run)


def test_a_mix_of_two_families_says_whether_they_agree(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with (
        FakeOpenAI(answering(run, Short()), dialect=COMPATIBLE) as one,
        FakeApi(answering(run, Short())) as other,
    ):
        seats = ("--seats", "mix:anthropic,openai:qwen3:8b")
        process = moot(*ASKED, "--protocol", "crux", *seats, "--out", run, "--json", apis=(one, other))
        out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    trust = json.loads(out)["outcome"]["trust"]
    assert "2 model families (claude, qwen)" in trust
    assert "families agree: claude (2) and qwen (2) all put O-1 (three streams) first" in trust
    sound(run)


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_goes_on_with_its_models_and_asks_nothing_twice(
    tmp_path: Path, sent: signal.Signals
) -> None:
    run = tmp_path / "run"
    begin(run, rows(1))
    resume = ("run", "--resume", run, "--seats", "openai:qwen3:8b", "--json")
    with FakeOpenAI(answering(run), dialect=COMPATIBLE, latency=lambda *_: (0.1, 0.4)) as api:
        process = moot(*resume, apis=(api,))
        while api.in_flight < 3:
            time.sleep(0.02)
            assert process.poll() is None
        process.send_signal(sent)
        _, err = process.communicate(timeout=60)
        assert process.returncode == (4 if sent is signal.SIGINT else -sent), err
        answered = set(RunStore(run).book().state.answered)
        assert answered
        asked_before = len(api.log)
        process = moot(
            *resume, apis=(api,)
        )  # the run was opened for commands, so it is told again who answers
        _, err = process.communicate(timeout=180)
        assert process.returncode == 0, err
        after = Counter(_step(str(entry.body["messages"][1]["content"])) for entry in api.log[asked_before:])
    assert not answered & after.keys()
    assert set(after.values()) == {1}
    sound(run)


def test_a_run_goes_on_with_the_model_that_it_names_itself(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with FakeOpenAI(answering(run, Short()), dialect=COMPATIBLE) as api:
        more = ("--protocol", "crux", "--seats", "openai:qwen3:8b", "--out", run, "--max-calls", 3)
        process = moot(*ASKED, *more, apis=(api,))
        _, err = process.communicate(timeout=120)
        assert process.returncode == 4, err
        assert len({event.by for event in RunStore(run).book().events if event.call}) < 5, (
            "some have not answered"
        )
        process = moot("run", "--resume", run, "--max-calls", 100, "--json", apis=(api,))
        out, err = process.communicate(timeout=180)
        assert process.returncode == 0, out + err
        assert {one.body["model"] for one in api.log} == {"qwen3:8b"}
    sound(run)


def _step(prompt: str) -> str:
    """The step that a prompt asks for: the one that its last part names."""
    found = STEP.findall(prompt[prompt.rindex("Reply schema of this step") :])
    assert found, prompt[-500:]
    return str(found[0])
