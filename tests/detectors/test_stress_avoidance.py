"""FM-7 is certain or it is not: each way to avoid a stress round, and each honest one beside it."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from benchmarks.signal_worlds.ledgers import CHECKS, NEEDS
from detectors.stopping.gates import readings_of
from detectors.stopping.reading import ModeReading
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold
from ledger.state.state import State

Row = dict[str, Any]
ROLES = ("action", "guardian", "observer", "critic")


def _rows(rounds: int, planned: dict[int, str], absent: dict[int, str]) -> dict[str, list[Row]]:
    """Rounds with four checks each; who is absent has none that needs it."""
    leads: list[Row] = [
        {
            "round": number,
            "lead": "guardian" if absent.get(number) != "guardian" else "action",
            "is_stress": number in absent,
            "absent_agent": absent.get(number),
            "planned_stress": planned.get(number),
        }
        for number in range(1, rounds + 1)
    ]
    checks: list[Row] = [
        {
            "id": f"V-{number}-{check}",
            "round": number,
            "check": CHECKS[check - 1],
            "result": "NOT_APPLICABLE" if absent.get(number) in NEEDS[check] else "ROBUST",
            "evidence_refs": [],
            "claim_status_changes": [],
        }
        for number in range(1, rounds + 1)
        for check in (1, 2, 3, 4)
    ]
    return {"lead_history": leads, "verifications": checks, "claims": []}


def _state(rows: dict[str, list[Row]]) -> State:
    files = {
        f"{name}.jsonl": b"".join(orjson.dumps(row) + b"\n" for row in found) for name, found in rows.items()
    }
    return fold(read_skill(files, None).events)


def _fm7(rows: dict[str, list[Row]]) -> ModeReading:
    return next(reading for reading in readings_of(_state(rows)) if reading.mode == "FM-7")


def test_an_absence_that_happened_is_honest() -> None:
    assert _fm7(_rows(6, {5: "critic"}, {5: "critic"})).verdict == "CLEAR"
    assert _fm7(_rows(6, {}, {})).verdict == "INSUFFICIENT"


@pytest.mark.parametrize(("rounds", "verdict"), [(5, "CLEAR"), (6, "CLEAR"), (7, "ALARM")])
def test_a_skipped_absence_alarms_once_it_can_no_longer_be_made_up(rounds: int, verdict: str) -> None:
    found = _fm7(_rows(rounds, {5: "critic"}, {}))
    assert found.verdict == verdict
    assert (found.subject == "critic") == (verdict == "ALARM")


def test_what_was_made_up_within_two_rounds_is_honest() -> None:
    assert _fm7(_rows(9, {5: "critic"}, {7: "critic"})).verdict == "CLEAR"
    assert _fm7(_rows(9, {5: "critic"}, {8: "critic"})).verdict == "ALARM"
    assert _fm7(_rows(9, {5: "critic"}, {6: "action"})).verdict == "ALARM"


def test_after_the_plan_nothing_is_made_up() -> None:
    """An import without a plan has thirteen rounds; what was planned later still may be made up."""
    assert _fm7(_rows(13, {13: "observer"}, {})).verdict == "ALARM"
    assert _fm7(_rows(16, {15: "observer"}, {})).verdict == "CLEAR"


def test_a_check_that_needs_the_absent_role_is_evidence() -> None:
    rows = _rows(6, {5: "critic"}, {5: "critic"})
    rows["verifications"][16]["result"] = "BROKEN"
    found = _fm7(rows)
    assert (found.verdict, found.evidence) == ("ALARM", ("V-5-1",))


def test_a_claim_or_two_references_of_the_absent_role_are_evidence() -> None:
    rows = _rows(6, {5: "critic"}, {5: "critic"})
    claim = {
        "id": "C-5-1",
        "round": 5,
        "raised_by": "critic",
        "text": "It holds.",
        "testable_as": "A run shows it.",
    }
    rows["claims"] = [claim]
    assert _fm7(rows).evidence == ("C-5-1",)
    rows = _rows(6, {5: "critic"}, {5: "critic"})
    cited = [f"artifacts/round_05/critic.md#attack-{n}" for n in (1, 2)]
    rows["verifications"][19]["evidence_refs"] = cited[:1]
    assert _fm7(rows).verdict == "CLEAR"
    rows["verifications"][19]["evidence_refs"] = cited
    assert _fm7(rows).evidence == ("V-5-4",)
