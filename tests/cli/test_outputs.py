"""`--json`: what every verb prints satisfies its published schema, and a changed document does not.

Of `moot/output_schemas.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import moot as library
import schemas
from moot.cli import VERBS
from moot.output_schemas import OUTPUTS, main
from tests.cli.conftest import Moot, Said
from tests.rounds.openings import begin, rows
from tests.rounds.scripted import Script

TEXT_ONLY = {"mcp"}
CALLS: dict[str, tuple[str, ...]] = {
    "check": ("check", "{run}"),
    "claims": ("claims", "{run}"),
    "decisions": ("decisions", "{run}"),
    "diff": ("diff", "{run}", "{run}"),
    "dry-run": ("run", "--dry-run", "estimated.toml", "--seats", "anthropic"),
    "error": ("status", "nothing-here"),
    "export": ("export", "{run}", "exported", "--to", "skill"),
    "list": ("list", "--all"),
    "log": ("log", "{run}", "--kind", "claim"),
    "new": ("new", "plan.toml", "-q", "Which storage?", "--rule", "stress=off"),
    "next": ("next", "{opened}"),
    "note": ("note", "{opened}", "a remark"),
    "protocols": ("gate",),
    "replay": ("replay", "{run}", "--re-execute"),
    "run": ("run", "-q", "Which storage?", "--seats", "host", "--out", "new"),
    "signals": ("signals", "{run}"),
    "status": ("status", "{run}"),
    "submit": ("submit", "{opened}", "r1.B.action", "reply.json"),
    "verify": ("verify", "{run}"),
}
"""Verb → a call whose output is tested here; the others have tests of their own."""


def validator(verb: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.load(f"output/{verb}"))


def called(moot: Moot, verb: str, run: Path, opened: Path) -> Said:
    session_reply = b'{"sections":[{"name":"main","text":"One stream."}],"responds_to":[],"options":[]}'
    Path("reply.json").write_bytes(session_reply)
    Path("estimated.toml").write_text('[deliberation]\nquestion = "Which storage?"\n')
    places = {"{run}": str(run), "{opened}": str(opened)}
    return moot(*[places.get(word, word) for word in CALLS[verb]], "--json")


def test_every_verb_that_speaks_json_has_a_schema() -> None:
    assert {verb.name for verb in VERBS} - TEXT_ONLY == set(OUTPUTS) - {
        "error",
        "dry-run",
        "fork-stress",
        "mcp-skill",
        "mcp-tokens",
        "protocols",
        "records",
        "seal-key",
        "show",
        "signals-crux",
        "repeats",
        "study-new",
        "study-queue",
        "study-report",
        "study-value",
    }


def test_the_published_schemas_are_what_the_models_say() -> None:
    assert main(["--check"]) == 0


@pytest.mark.parametrize("verb", OUTPUTS)
def test_a_schema_is_one_of_draft_2020_12(verb: str) -> None:
    schema = schemas.load(f"output/{verb}")
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("verb", CALLS)
def test_what_a_verb_prints_satisfies_its_schema(moot: Moot, finished: Path, opened: Path, verb: str) -> None:
    said = called(moot, verb, finished, opened)
    assert said.err == ""
    assert said.out.count("\n") == 1
    validator(verb).validate(said.json)


@pytest.mark.parametrize("verb", CALLS)
def test_a_changed_document_does_not(moot: Moot, finished: Path, opened: Path, verb: str) -> None:
    document = called(moot, verb, finished, opened).json
    judge = validator(verb)
    changed = list(mutations(document))
    assert changed
    accepted = [what for what, mutant in changed if judge.is_valid(mutant)]
    assert accepted == []


def mutations(document: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The document with each key left out, each of another type, and one key too many."""
    yield "a list", [document]
    yield "one key more", {**document, "unexpected": 1}
    for key in document:
        yield f"{key} left out", {other: value for other, value in document.items() if other != key}
        other_type = deepcopy(document)
        other_type[key] = {"neither": ["a", "number", "nor", "text"]}
        yield f"{key} of another type", other_type


# ---------------------------------------------------------------- the library says the same


def test_the_library_returns_what_the_verbs_print(moot: Moot, finished: Path) -> None:
    run = library.open_run(finished)
    assert moot("check", finished, "--json").json == library.check(run).model_dump()
    assert moot("signals", finished, "--json").json == library.signals(run).model_dump()
    assert moot("signals", finished, "--json", "--profile", "published", "--at", 60).json == (
        library.signals(finished, profile="published", at=60).model_dump()
    )
    assert moot("verify", finished, "--json").json == library.verify(finished).model_dump()
    assert moot("diff", finished, finished, "--json").json == (library.diff(finished, run).model_dump())
    claims = moot("claims", finished, "--json").json["claims"]
    assert claims == [claim.model_dump() for claim in run.claims]
    decisions = moot("decisions", finished, "--json").json["decisions"]
    assert decisions == [decision.model_dump() for decision in run.decisions]
    assert len(run.events) == run.state.seq + 1 == moot("verify", finished, "--json").json["events"]


def test_status_has_the_keys_that_others_build_on(moot: Moot, finished: Path) -> None:
    status = moot("status", finished, "--json").json
    assert list(status) == [
        "run", "protocol", "question", "state", "round", "phase", "rounds_planned", "leads", "stress", "drift",
        "quorum", "spend", "stop", "finished", "spend_parts", "spend_beyond", "outcome",
    ]  # fmt: skip
    assert (status["state"], status["finished"], status["round"], status["rounds_planned"]) == (
        "finished",
        True,
        3,
        3,
    )
    assert status["stress"] == [{"round": 2, "absent": "critic", "done": True}]
    assert [one["round"] for one in status["drift"]] == [3]
    assert status["quorum"]["declared"] == status["quorum"]["actual"] == status["spend"]["calls"]
    assert sum(part["calls"] for part in status["spend_parts"]) == status["spend"]["calls"]
    assert status["spend_beyond"] == {"calls": 0, "tokens": 0, "usd": "0.000000"}


def test_a_claim_s_history_begins_pending_and_ends_where_it_stands(moot: Moot, finished: Path) -> None:
    claims = moot("claims", finished, "--json").json["claims"]
    moved = [claim for claim in claims if claim["history"]]
    assert moved
    for claim in moved:
        history = claim["history"]
        assert history[0]["from"] == "pending"
        assert history[-1]["to"] == claim["status"]
        assert all(one["to"] == other["from"] for one, other in pairwise(history))
        assert list(history[0]) == ["from", "to", "bearing", "by", "seq", "class", "tested"]


def test_next_prints_the_exact_brief_and_schema(moot: Moot, opened: Path) -> None:
    from ledger.store.store import RunStore
    from moot.environment import now
    from rounds.run.session import RunSession
    from rounds.run.verdicts import standard

    asked = RunSession(RunStore(opened), standard, now).pending()
    steps = moot("next", opened, "--json").json["steps"]
    assert [(one["step"], one["brief"], one["schema"]) for one in steps] == [
        (one.step.id, one.brief.text, dict(one.brief.schema)) for one in asked
    ]


def test_json_is_the_same_before_and_behind_the_verb(moot: Moot, finished: Path) -> None:
    assert moot("--json", "status", finished) == moot("status", finished, "--json")


def test_quiet_prints_nothing_and_the_exit_code_tells(moot: Moot, finished: Path) -> None:
    for verb in ("status", "check", "signals", "verify", "claims", "decisions", "log"):
        said = moot(verb, finished, "--quiet")
        assert (said.out, said.err) == ("", "")
        assert said.code == moot(verb, finished, "--json").code


def test_a_run_goes_step_by_step_to_its_end_and_both_ways_make_the_same_ledger(
    moot: Moot, tmp_path: Path
) -> None:
    """`next` and `submit` to the end: what the automatic run commits, but for instants and who answered."""
    plan = rows(2, absent={2: "critic"}, drift=[2])
    session = begin(tmp_path / "by-hand", plan)
    script = Script(seed=3)
    path = session.run.path
    while steps := moot("next", path, "--json").json["steps"]:
        by_id = {asked.step.id: asked for asked in session.pending()}
        for step in steps:
            asked = by_id[step["step"]]
            reply = Path("reply.json")
            reply.write_bytes(script.reply(session.book(), asked.step, asked.brief.saw))
            said = moot("submit", path, step["step"], reply, "--json")
            assert said.code == 0, said
    assert moot("next", path, "--json").json["done"] is True
    assert moot("check", path, "--quiet").code == 0
    assert moot("replay", path, "--re-execute", "--quiet").code == 0

    from tests.rounds.openings import play

    driven = begin(tmp_path / "driven", plan)
    play(driven, Script(seed=3))
    found = library.diff(path, driven.run.path)
    assert [pair.how for pair in found.claims.matched] == ["text"] * len(session.book().state.claims)
    unmatched = [*found.claims.only_a, *found.claims.only_b, *found.decisions.only_a, *found.decisions.only_b]
    assert unmatched == []
    assert list(found.claims.changed) == []
