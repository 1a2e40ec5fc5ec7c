"""Published results as runs: what structure says, as events; the whole text beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.events import Assumption, Challenge, Disposition, Event, Statement
from ledger.interchange.formats import NotEmpty, import_run
from ledger.interchange.jugalbandi import jugalbandi_counts
from ledger.store.store import RunStore
from tests.data import JUGALBANDI

AT = "2026-01-01T00:00:00.000000Z"
RESULT: dict[str, Any] = {
    "task": "Build a login page",
    "single_pass": {"raw_output": "## Assumptions\n- one\n- two\n\n## Plan\nBuild it."},
    "council": {"raw_outputs": [f"## Assumptions\n1. only {n}" for n in range(3)]},
    "jugalbandi": {
        "raw_outputs": {
            "proposer": "## Plan\nA form.\n\n## Assumptions\n- a browser\n  - a sub-point\n```\n- code\n```\n",
            "challenger": "## [STRUCTURAL] It breaks\nAt night.\n\n### [MISSING] No limit\nIt is attacked.",
            "resolver": "### It breaks\n**Accepted** — true\nA queue.\n\n### No limit\n**ESCALATED** - who pays?\n",
        }
    },
}


def imported(tmp_path: Path, result: dict[str, Any]) -> dict[str, tuple[Event, ...]]:
    source = tmp_path / "result.json"
    source.write_text(json.dumps(result))
    report = import_run("jugalbandi", source, tmp_path / "runs", at=AT)
    assert report.ok, report.bad_lines
    return {
        name: RunStore(tmp_path / "runs" / name).book().events
        for name in ("single-pass", "council", "jugalbandi")
    }


def test_three_runs(tmp_path: Path) -> None:
    runs = imported(tmp_path, RESULT)
    assert [event.text for event in runs["single-pass"] if isinstance(event, Assumption)] == ["one", "two"]
    assert [event.id for event in runs["council"] if isinstance(event, Statement)] == [
        "S-1-plan-solo",
        "S-1-plan-solo~2",
        "S-1-plan-solo~3",
    ]
    last = runs["jugalbandi"]
    assert [event.text for event in last if isinstance(event, Assumption)] == ["a browser"]
    assert [(event.tag, event.claim) for event in last if isinstance(event, Challenge)] == [
        ("STRUCTURAL", "It breaks"),
        ("MISSING", "No limit"),
    ]
    found = [event for event in last if isinstance(event, Disposition)]
    assert [(event.of, event.disposition) for event in found] == [
        ("X-1-1", "accepted"),
        ("X-1-2", "escalated"),
    ]


@pytest.mark.parametrize("broken", ["[]", "{}", "nonsense", '{"task": 1}'])
def test_what_is_no_result_writes_nothing(broken: str, tmp_path: Path) -> None:
    source = tmp_path / "result.json"
    source.write_text(broken)
    report = import_run("jugalbandi", source, tmp_path / "runs", at=AT)
    assert not report.ok
    assert not (tmp_path / "runs").exists()


def test_dispositions_without_a_partner_are_noted(tmp_path: Path) -> None:
    result = json.loads(json.dumps(RESULT))
    result["jugalbandi"]["raw_outputs"]["resolver"] = "**Accepted** — the first"
    source = tmp_path / "result.json"
    source.write_text(json.dumps(result))
    report = import_run("jugalbandi", source, tmp_path / "runs", at=AT)
    assert any("2 challenges and 1 dispositions" in note for note in report.notes)


def test_the_published_results_import_as_they_count(tmp_path: Path) -> None:
    for source in JUGALBANDI:
        counts = jugalbandi_counts(json.loads(source.read_text("utf-8"))).structural
        out = tmp_path / source.stem
        assert import_run("jugalbandi", source, out, at=AT).ok
        events = RunStore(out / "jugalbandi").book().events
        assert sum(isinstance(event, Assumption) for event in events) == counts.assumptions
        for tag, count in counts.challenges.items():
            assert sum(isinstance(event, Challenge) and event.tag == tag for event in events) == count
        for word, count in counts.dispositions.items():
            assert (
                sum(isinstance(event, Disposition) and event.disposition == word for event in events) == count
            )


@pytest.mark.parametrize("size", [60_000, 60_001, 300_000])
def test_a_long_reply_becomes_several_sections(size: int, tmp_path: Path) -> None:
    """F-6: above 60,000 characters the import ended in a fault of moot's, with two of three runs left behind."""
    text = ("A line of the plan.\n" * (size // 20 + 1))[:size]
    result = json.loads(json.dumps(RESULT))
    result["jugalbandi"]["raw_outputs"]["proposer"] = text
    statement = next(
        event
        for event in imported(tmp_path, result)["jugalbandi"]
        if isinstance(event, Statement) and event.by == "import"
    )
    assert "".join(section.text for section in statement.sections) == text
    assert [section.name for section in statement.sections] == [
        "text" if n == 1 else f"text-{n}" for n in range(1, len(statement.sections) + 1)
    ]


def test_a_challenge_without_a_head_or_a_body_says_its_tag_and_a_long_one_is_cut(tmp_path: Path) -> None:
    result = json.loads(json.dumps(RESULT))
    result["jugalbandi"]["raw_outputs"] |= {
        "challenger": f"## [STRUCTURAL]\n\n### [MISSING] No limit\n\n### [ASSUMPTION] {'x' * 9_000}\n{'y' * 9_000}",
        "proposer": f"## Assumptions\n- {'z' * 9_000}\n",
    }
    run = imported(tmp_path, result)["jugalbandi"]
    assert [(event.claim, event.text) for event in run if isinstance(event, Challenge)] == [
        ("STRUCTURAL", "STRUCTURAL"),
        ("No limit", "No limit"),
        ("x" * 8_000, "y" * 8_000),
    ]
    assert [event.text for event in run if isinstance(event, Assumption)] == ["z" * 8_000]


LONG: dict[str, dict[str, Any]] = {
    "a reply that no line holds": {"jugalbandi": {"raw_outputs": {"proposer": "x\n" * 800_000}}},
    "a task that no question holds": {"task": "why " * 20_000},
    "the last of three": {"jugalbandi": {"raw_outputs": {"resolver": "x" * 1_200_000}}},
}


@pytest.mark.parametrize("name", LONG)
def test_an_import_is_one_commit_or_none(name: str, tmp_path: Path) -> None:
    """F-6: what cannot be kept is a bad line, nothing is left, and a mended source goes in at the same place."""
    result = json.loads(json.dumps(RESULT))
    for key, value in LONG[name].items():
        if key == "task":
            result[key] = value
        else:
            result[key]["raw_outputs"] |= value["raw_outputs"]
    source = tmp_path / "result.json"
    source.write_text(json.dumps(result))
    report = import_run("jugalbandi", source, tmp_path / "runs", at=AT)
    assert (report.ok, len(report.bad_lines), report.head) == (False, 1, None)
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]
    assert len(imported(tmp_path, RESULT)) == 3


def test_runs_appear_together_or_not_at_all(tmp_path: Path) -> None:
    """F-6: a place that holds something is refused before anything is written."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "council").write_text("mine")
    source = tmp_path / "result.json"
    source.write_text(json.dumps(RESULT))
    with pytest.raises(NotEmpty):
        import_run("jugalbandi", source, tmp_path / "runs", at=AT)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["council", "result.json", "runs"]
