"""`next` and `submit` between several people: roles, waiting, giving up."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from moot.api import open_run
from moot.app.session import session_at
from moot.environment import now
from roles.seats.port import Answer
from tests.cli.conftest import Moot, content

REPLY = b'{"sections":[{"name":"main","text":"One stream."}],"responds_to":[],"options":[]}'


def test_a_role_sees_its_own_steps_and_what_the_others_are_asked(moot: Moot, opened: Path) -> None:
    lead = moot("next", opened, "--role", "action", "--json")
    assert (lead.code, [step["role"] for step in lead.json["steps"]]) == (0, ["action"])
    other = moot("next", opened, "--role", "critic", "--json")
    assert (other.code, other.json["steps"], other.json["done"]) == (4, [], False)
    assert other.json["waiting_for"] == ["r1.B.action"]
    assert "others are asked: r1.B.action" in moot("next", opened, "--role", "critic").out


def test_waiting_ends_when_a_step_opens(moot: Moot, opened: Path) -> None:
    def submit() -> None:
        time.sleep(0.3)
        session_at(opened).submit("r1.B.action", REPLY, Answer("host", "trusted"))

    somebody = threading.Thread(target=submit)
    somebody.start()
    said = moot("next", opened, "--role", "critic", "--wait", "600", "--json")
    somebody.join()
    assert (said.code, [step["step"] for step in said.json["steps"]]) == (0, ["r1.C.critic"])


def test_waiting_ends_when_the_time_is_over(moot: Moot, opened: Path) -> None:
    began = time.monotonic()
    assert moot("next", opened, "--role", "critic", "--wait", "0.3").code == 4
    assert time.monotonic() - began >= 0.3


def test_wait_without_a_number_is_ten_minutes(moot: Moot, opened: Path) -> None:
    """Nothing to wait for here, so that it returns at once whatever the number."""
    assert moot("next", opened, "--wait").code == 0
    assert moot("next", opened, "--wait", "--json").json["steps"]


def test_giving_up_lets_the_run_go_on_and_shows(moot: Moot, opened: Path) -> None:
    said = moot("submit", opened, "r1.B.action", "--give-up", "the agent is gone", "--json")
    assert said.code == 0
    assert said.json["next"] == ["r1.C.guardian", "r1.C.observer", "r1.C.critic"]
    assert moot("status", opened).out.startswith(
        "DEGRADED: 0 of 1 requested reply accepted; given up: r1.B.action"
    )
    assert (
        moot("log", opened, "--kind", "fallback", "--json").json["events"][0]["detail"] == "the agent is gone"
    )


def test_the_model_and_the_conversation_are_recorded(moot: Moot, opened: Path) -> None:
    Path("reply.json").write_bytes(REPLY)
    moot("submit", opened, "r1.B.action", "reply.json", "--model", "some-model-1", "--context-id", "c1")
    call = next(event.call for event in open_run(opened).events if event.call)
    assert (call.seat, call.model, call.context.mode, call.context.id) == (
        "host",
        "some-model-1",
        "fresh",
        "c1",
    )
    assert (call.isolation, call.attempts[0].latency_ms) == ("trusted", None)


def test_looking_changes_nothing(moot: Moot, finished: Path, opened: Path) -> None:
    verbs = ("next", "status", "log", "claims", "decisions", "signals", "check", "verify", "replay", "report")
    for run, form in ((finished, "--json"), (opened, "--quiet")):
        before = content(run)
        for verb in verbs:
            moot(verb, run, form)
        assert content(run) == before


def test_next_commits_what_a_writer_that_died_still_owed(moot: Moot, tmp_path: Path) -> None:
    from ledger.store.store import create_run
    from tests.rounds.openings import opening, rows

    event, blobs = opening(rows(1))
    create_run(tmp_path / "run", event, blobs=blobs, at=now())
    said = moot("next", tmp_path / "run", "--json")
    assert [step["step"] for step in said.json["steps"]] == ["r1.B.action"]
    assert [one.kind for one in open_run(tmp_path / "run").events] == ["run_opened", "round_opened"]
