"""R-18: roles that fall into agreement while checks find nothing are never all-clear, with positions and without."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import orjson
import pytest

from benchmarks.signal_worlds.ledgers import NEEDS, ROLES, STANDARD, Setting, Simulation
from detectors.stopping.gates import StopJudgement, judge
from ledger.events import Event
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold, step
from ledger.state.state import State

POSITIONS = ("positions_pre", "positions_post", "flips")


def _falling(
    seed: int, disagreement: Sequence[int], *, positions: bool, rounds: int = 13, unanimous: bool = False
) -> tuple[Event, ...]:
    """A healthy run whose checks come out BROKEN so often a round, and whose roles agree once they no longer do.

    Before that one role stands against the lead on every check and holds its position; `unanimous` runs never differ.
    """
    files = Simulation(Setting(seed=seed, rounds=rounds)).files()
    rows: list[dict[str, Any]] = [orjson.loads(line) for line in files["verifications.jsonl"].splitlines()]
    leads = {row["round"]: row["lead"] for row in map(orjson.loads, files["lead_history.jsonl"].splitlines())}
    moved: set[str] = set()
    for number, held in groupby(rows, key=lambda row: row["round"]):
        left: int = disagreement[number - 1] if number <= len(disagreement) else 0
        for row in held:
            if row["result"] == "NOT_APPLICABLE":
                continue
            broken = left > 0
            left -= 1
            agreed = unanimous or (number <= len(disagreement) and disagreement[number - 1] == 0)
            _set(row, "BROKEN" if broken else "ROBUST", leads[number], agreed, moved)
            if not positions:
                for name in POSITIONS:
                    row.pop(name, None)
    files["verifications.jsonl"] = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    return read_skill(files, None).events


def _set(row: dict[str, Any], result: str, lead: str, agreed: bool, moved: set[str]) -> None:
    row["result"] = result
    to = "tested_refuted" if result == "BROKEN" else "tested_confirmed"
    changes = [change for change in row["claim_status_changes"] if change["claim_id"] not in moved]
    moved.update(change["claim_id"] for change in changes)
    row["claim_status_changes"] = [change | {"from": "pending", "to": to} for change in changes]
    row["claims_affected"] = [change["claim_id"] for change in changes]
    present = list(row.get("positions_pre") or {lead: result})
    against = next((role for role in present if role != lead), None)
    stances = {role: "UNCLEAR" if not agreed and role == against else result for role in present}
    row |= {"positions_pre": stances, "positions_post": stances, "flips": []}


def _course(events: Sequence[Event]) -> dict[int, StopJudgement]:
    state, found = State(), dict[int, StopJudgement]()
    for number, held in groupby(events, key=lambda event: event.round):
        for event in held:
            step(state, event)
        found[number] = judge(state)
    return found


def _fm1(judgement: StopJudgement) -> str:
    return next(alarm.verdict for alarm in judgement.alarms if alarm.id == "FM-1")


FALLS = [
    (3, 3, 2, 1) + (0,) * 9,
    (3, 3, 3, 2, 2, 1) + (0,) * 7,
    (2, 3, 2, 0) + (0,) * 9,
    (4, 4, 4, 4) + (0,) * 9,
]


@pytest.mark.parametrize("fall", FALLS)
@pytest.mark.parametrize("seed", range(4))
def test_a_fall_into_agreement_is_never_all_clear_nor_ready(seed: int, fall: tuple[int, ...]) -> None:
    """R-18: it read CLEAR, even READY, with every role unanimous."""
    found = _course(_falling(seed, fall, positions=True))
    silent = fall.index(0) + 1
    for number, judgement in found.items():
        if number >= silent + 2:  # two rounds of it, whoever was absent
            assert _fm1(judgement) in ("WATCH", "ALARM"), number
            assert not judgement.ready, number
    assert _fm1(found[13]) == "ALARM"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("fall", FALLS)
def test_the_same_evidence_gives_the_same_verdict_without_positions(seed: int, fall: tuple[int, ...]) -> None:
    """R-18: roles that never differ add nothing to the verdicts, and take nothing from them."""
    sealed = _course(_falling(seed, fall, positions=True, unanimous=True))
    without = _course(_falling(seed, fall, positions=False))
    for number, judgement in sealed.items():
        assert _fm1(judgement) == _fm1(without[number]), number
        assert judgement.ready == without[number].ready
    assert _fm1(_course(_falling(seed, fall, positions=True))[13]) == _fm1(without[13]) == "ALARM"


@pytest.mark.parametrize("rounds", [7, 9, 18])
def test_other_lengths_of_run(rounds: int) -> None:
    fall = ((3, 3, 2, 1) + (0,) * rounds)[:rounds]
    final = _course(_falling(1, fall, positions=True, rounds=rounds))[rounds]
    assert _fm1(final) in ("WATCH", "ALARM")
    assert not final.ready


def test_checks_that_still_find_something_are_no_such_fall() -> None:
    """Roles may agree as long as the checks do not only confirm, and disagree as long as somebody holds on."""
    agreed = _course(_falling(2, (2,) * 13, positions=True, unanimous=True))
    assert {_fm1(one) for one in agreed.values()} <= {"CLEAR", "INSUFFICIENT"}
    held = fold(_falling(2, (0,) * 0, positions=True))
    assert _fm1(judge(held)) == "CLEAR"


def test_the_simulated_roles_are_those_that_checks_need() -> None:
    assert set(STANDARD.values()) == set(ROLES) == {role for roles in NEEDS.values() for role in roles}
