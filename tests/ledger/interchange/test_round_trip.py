"""What an export writes, an import reads: a run goes out, comes in, and goes out the same (FORMAT 12).

Of `ledger/interchange/formats.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.interchange.formats import EXPORTERS, READERS, export_run, import_run
from ledger.interchange.report import ExportReport, ImportReport
from ledger.store.store import RunStore
from tests.data import JUGALBANDI
from tests.ledger.interchange.sources import AT
from tests.protocols.playing import played, variants_slow
from tests.recorded import recorded_names, run_of

FORMATS = sorted(EXPORTERS.keys() & READERS.keys())


def files_of(directory: Path) -> dict[str, bytes]:
    """Return the content of each file below a directory."""
    return {
        str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


def round_trip(run: Path, place: Path, format: str = "skill") -> tuple[ExportReport, ImportReport]:
    """Export a run, import it and export that; both exports are the same files."""
    report = export_run(RunStore(run).book(), format, place / "out")
    imported = import_run(format, place / "out", place / "again", at=AT)
    assert imported.ok, imported.bad_lines
    assert (imported.status_differences, imported.mapped_ids) == ([], [])
    export_run(RunStore(place / "again").book(), format, place / "second")
    assert files_of(place / "second") == files_of(place / "out")
    return report, imported


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", recorded_names())
def test_a_recorded_run_comes_in_as_it_went_out(name: str, format: str, tmp_path: Path) -> None:
    round_trip(run_of(name), tmp_path, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("protocol", "rules"), variants_slow())
def test_a_run_of_each_protocol_comes_in_as_it_went_out(
    protocol: str, rules: dict[str, str], format: str, tmp_path: Path
) -> None:
    round_trip(played(protocol, **rules), tmp_path, format)


@pytest.mark.parametrize("format", FORMATS)
def test_an_import_of_another_format_goes_out_and_comes_in(format: str, tmp_path: Path) -> None:
    assert import_run("jugalbandi", JUGALBANDI[0], tmp_path / "runs", at=AT).ok
    for run in sorted((tmp_path / "runs").iterdir()):
        round_trip(run, tmp_path / f"trip-of-{run.name}", format)


def rows(place: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / "out" / name).read_bytes().splitlines()]


def test_what_a_person_measured_is_a_check_that_moves_the_claim(tmp_path: Path) -> None:
    report, _ = round_trip(run_of("crux-hook"), tmp_path)
    (check,) = rows(tmp_path, "verifications.jsonl")
    assert check["claim_status_changes"] == [
        {"claim_id": "C-1-1", "from": "pending", "to": "tested_refuted", "class": "measured"}
    ]
    assert (check["check"], check["result"]) == ("claim_retest", "BROKEN")
    assert {concern["type"] for concern in rows(tmp_path, "concerns.jsonl")} >= {"defeater", "question"}
    assert "left out: 8 belief cites" in report.notes


def test_an_experiment_is_a_check_that_a_decision_rests_on(tmp_path: Path) -> None:
    round_trip(run_of("crux-balance"), tmp_path)
    checks = rows(tmp_path, "verifications.jsonl")
    (decision,) = rows(tmp_path, "decisions.jsonl")
    cited = [cite["id"] for cite in decision["cites"] if cite["type"] == "verification"]
    assert cited == [check["id"] for check in checks]
    document = (tmp_path / "out" / "rounds" / "round_01.md").read_text()
    anchors = [check["evidence_refs"][0].partition("#")[2] for check in checks]
    assert all(f"## {anchor}\n" in document for anchor in anchors)


def test_citations_of_what_the_format_has_no_row_for_are_counted(tmp_path: Path) -> None:
    report, _ = round_trip(run_of("tribunal-medicines"), tmp_path)
    (decision,) = rows(tmp_path, "decisions.jsonl")
    assert decision["cites"] == []
    assert {"left out: 6 challenge cites", "left out: 3 vote cites", "left out: 6 vote events"} <= {
        *report.notes
    }
