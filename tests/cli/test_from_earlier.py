"""`--from`: a new run starts from what another one decided, cites it, and takes its place among the records."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Moot
from tests.long_run import long_run
from tests.protocols.crux_seats import scripted_run

QUESTION = "How is the journal rotated?"


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """A finished scripted run of `crux`."""
    return scripted_run(tmp_path / "storage")


def plan(cites: str) -> dict[str, object]:
    """A reply to the one step of `single-pass`."""
    doubt = {
        "text": "It may.",
        "disposition": "rejected",
        "reason": "No.",
        "revision": None,
        "question": None,
    }
    return {
        "plan": f"By size, as {cites} has it.",
        "assumptions": [],
        "criticisms": [{"claim": f"It stalls {n} writers.", **doubt} for n in (2, 3, 4)],
        "decision": "Rotate by size.",
        "revised": "Rotate by size.",
        "confidence": 3,
        "falsifiers": ["A line is lost."],
        "requirements": [],
    }


def finish(moot: Moot, run: str) -> None:
    (step,) = moot("next", run, "--json").json["steps"]
    Path("reply.json").write_text(json.dumps(plan("K-1")))
    said = moot("submit", run, step["step"], "reply.json")
    assert said.code == 0, said.err


def test_the_earlier_decision_is_a_document_with_its_head_and_the_outcome_says_so(
    moot: Moot, storage: Path
) -> None:
    said = moot("run", "-q", QUESTION, "--from", storage, "--single", "--seats", "host", "--out", "next")
    assert said.code == 4, said.err
    brief = moot("next", "next", "--json").json["steps"][0]["brief"]
    head = moot("verify", storage, "--json").json["head"]
    assert f"moot-head: {head['seq']} {head['hash']}" in brief
    answer = moot("outcome", storage, "--json").json["outcome"]["answer"]
    assert " ".join(answer.split())[:60] in " ".join(brief.split())
    finish(moot, "next")
    assert "starts from D-1-1 of storage (K-1)" in moot("status", "next", "--json").json["outcome"]["trust"]
    assert moot("check", "next", "--quiet").code == 0


def test_one_decision_of_many_can_be_named(moot: Moot) -> None:
    long = long_run()
    names = [one["id"] for one in moot("decisions", long, "--json").json["decisions"]]
    moot(
        "run", "-q", QUESTION, "--from", f"{long}:{names[0]}", "--single", "--seats", "host", "--out", "next"
    )
    brief = moot("next", "next", "--json").json["steps"][0]["brief"]
    assert f'moot-decisions: "{names[0]}"' in brief
    assert f"{names[0]}: " in brief


def test_a_file_keeps_it_as_text(moot: Moot, storage: Path) -> None:
    assert moot("new", "next.toml", "-q", QUESTION, "--from", storage).code == 0
    shutil.rmtree(storage)
    assert moot("run", "next.toml", "--seats", "host", "--out", "next").code == 4
    assert "moot-head" in moot("next", "next", "--json").json["steps"][0]["brief"]


@pytest.mark.parametrize(
    ("said", "says"),
    [("nowhere", "no run"), ("storage:D-9-9", "no decision 'D-9-9'"), ("opened", "nothing was decided")],
)
def test_what_cannot_be_started_from_is_refused(
    moot: Moot, storage: Path, opened: Path, said: str, says: str
) -> None:
    assert storage.is_dir()
    assert opened.is_dir()
    refused = moot("run", "-q", QUESTION, "--from", said, "--seats", "host", "--out", "next")
    assert (refused.code, says in refused.err, Path("next").exists()) == (2, True, False), refused.err
