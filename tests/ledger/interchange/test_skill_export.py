"""Exporting a state directory: an import goes out as it came in, and comes in again as it was (FORMAT 12).

Of `ledger/interchange/skill_tables.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given

from ledger.interchange.formats import NotEmpty, UnknownFormat, export_run, import_run
from ledger.interchange.skill_export import export_skill
from ledger.state.fold import fold
from ledger.store.store import RunStore
from tests.data import LABELLED
from tests.ledger.interchange.sources import (
    AT,
    SMALL,
    Rows,
    directories,
    imported,
    lifecycles,
    lines,
    parsed,
    source,
    without_origin,
)
from tests.validators.factory import findings
from validators.ledger_index import RuleContext
from validators.rulebook import RULES


def folded(rows: Rows) -> dict[str, bytes]:
    """The source as an export may write it: stored statuses are those that the verifications give."""
    statuses = fold(imported(source(rows)).events).claims
    claims = [{**row, "status": statuses[row["id"]].status} for row in rows["claims"]]
    return source({**rows, "claims": claims})


def test_rows_go_out_as_they_came_in() -> None:
    files = folded(SMALL)
    assert parsed(export_skill(imported(files)).files) == parsed(files)


@given(directories())
def test_out_and_in_again_is_the_same_ledger(rows: Rows) -> None:
    files = folded(rows)
    first = imported(files)
    out = export_skill(first)
    again = imported(out.files)
    assert out.notes == ()
    assert without_origin(again.events) == without_origin(first.events)
    assert lifecycles(again) == lifecycles(first)
    assert parsed(out.files) == parsed(files)


@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.name)
def test_labelled_ledgers_go_out_as_they_came_in(path: Path) -> None:
    files = {file.name: file.read_bytes() for file in path.iterdir()}
    first = imported(files)
    out = export_skill(first)
    again = imported(out.files)
    assert parsed(out.files) == parsed(files)
    assert without_origin(again.events) == without_origin(first.events)


def test_keys_that_a_source_lacked_stay_absent() -> None:
    claims = [{"id": "C-1-1", "round": 1, "raised_by": "critic", "text": "t", "testable_as": "u"}]
    checks = [{key: value for key, value in SMALL["verifications"][1].items() if key != "flips"}]
    leads = [{"round": 1, "lead": "critic", "is_stress": False}]
    files = source({"claims": claims, "verifications": checks, "lead_history": leads})
    out = export_skill(imported(files)).files
    rows = {name: [json.loads(line) for line in content.splitlines()] for name, content in out.items()}
    assert rows["claims.jsonl"] == claims
    assert rows["verifications.jsonl"] == checks
    assert rows["lead_history.jsonl"] == leads
    assert "run.json" not in rows


def test_a_question_and_a_plan_go_out_and_come_in() -> None:
    plan = b'{"question":"Which?","goals":["none yet"],"plan":[{"round":1,"absent":"critic","phases":["A"]}]}'
    first = imported(source(SMALL, {"run.json": plan}))
    again = imported(export_skill(first).files)
    assert first.state.opened is not None
    assert [goal.text for goal in first.state.opened.goals] == [
        "none yet",
        "survives a crash",
        "one file is enough",
    ]
    assert [(row.round, row.absent, row.phases) for row in first.state.opened.plan] == [(1, "critic", ("A",))]
    assert without_origin(again.events) == without_origin(first.events)
    assert json.loads(export_skill(first).files["run.json"])["question"] == "Which?"


def test_documents_go_out_byte_for_byte() -> None:
    documents = {"rounds/round_1.md": b"Drift check: PASS\r\n\xff", "artifacts/round_01/critic.md": b""}
    out = export_skill(imported(source(SMALL, documents)))
    assert {path: out.files[path] for path in documents} == documents


def test_a_document_whose_name_leads_outside_stays_inside() -> None:
    out = export_skill(imported(source(SMALL, {"../outside.md": b"x", "/etc/passwd": b"y"})))
    assert out.files["context/K-1-outside.md"] == b"x"
    assert out.files["context/K-2-passwd"] == b"y"


def test_a_bearing_that_the_status_does_not_imply_is_kept() -> None:
    change = {"claim_id": "C-1-1", "from": "pending", "to": "superseded", "bearing": "supports"}
    rows = {**SMALL, "verifications": [{**SMALL["verifications"][0], "claim_status_changes": [change]}]}
    out = export_skill(imported(source(rows))).files["verifications.jsonl"]
    assert json.loads(out.splitlines()[0])["claim_status_changes"] == [change]


def test_an_export_is_written_to_an_empty_directory_only(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name, content in source(SMALL).items():
        (tmp_path / "src" / name).write_bytes(content)
    import_run("skill", tmp_path / "src", tmp_path / "run", at=AT)
    book = RunStore(tmp_path / "run").book()
    report = export_run(book, "skill", tmp_path / "out")
    assert sorted(report.files) == sorted(file.name for file in (tmp_path / "out").iterdir())
    assert import_run("skill", tmp_path / "out", tmp_path / "again", at=AT).ok
    with pytest.raises(NotEmpty):
        export_run(book, "skill", tmp_path / "out")
    with pytest.raises(UnknownFormat, match="known are skill"):
        export_run(book, "xml", tmp_path / "other")


def test_concerns_go_out_and_come_in() -> None:
    tension = {
        "id": "N-1-1",
        "round": 1,
        "type": "tension",
        "text": "Speed against safety.",
        "between": ["action", "critic"],
    }
    files = source(SMALL) | {"concerns.jsonl": lines([tension])}
    first = imported(files)
    assert [facts.between for facts in first.state.concerns.values()] == [("action", "critic")]
    assert parsed(export_skill(first).files)["concerns.jsonl"] == [json.dumps(tension, sort_keys=True)]


def test_the_published_rules_find_the_same_before_and_after() -> None:
    published = {rule.code for rule in RULES if rule.published}
    orphan = {"claim_id": "C-9-9", "from": "pending", "to": "tested_refuted"}
    claims = [{**SMALL["claims"][0], "testable_as": ""}, SMALL["claims"][1]]
    check = {
        **SMALL["verifications"][0],
        "evidence_refs": ["missing.md#x"],
        "claim_status_changes": [*SMALL["verifications"][0]["claim_status_changes"], orphan],
    }
    decisions = [{**SMALL["decisions"][0], "cites": []}]
    first = imported(source({**SMALL, "claims": claims, "verifications": [check], "decisions": decisions}))
    again = imported(export_skill(first).files)
    one, other = (
        [(found.code, found.message) for found in findings(read, RuleContext()) if found.code in published]
        for read in (first, again)
    )
    assert len({code for code, _ in one}) >= 5
    assert one == other
