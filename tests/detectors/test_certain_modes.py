"""FM-5 (starvation), FM-7 and FM-9: when they begin, what closes them, and what opens them again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from detectors.stopping.gates import judge, readings_of
from detectors.stopping.reading import ModeReading, is_open
from ledger.events import Alarm, Claim, Event, RoundOpened, RunOpened
from ledger.events.envelope import FailureMode
from ledger.events.run import Labelled
from ledger.interchange.skill_import import read_skill
from ledger.state.fold import fold, step
from ledger.state.state import State
from tests.detectors.made import a_change, a_claim, a_verification
from tests.detectors.test_stress_avoidance import _fm7, _rows, _state

Row = dict[str, Any]


def events_of(rounds: Mapping[int, Sequence[tuple[str, ...]]], *, tested: bool = True) -> tuple[Event, ...]:
    """Rounds with claims about these options; a check of the same round tests them."""
    claims: list[Row] = []
    checks: list[Row] = []
    about: dict[str, tuple[str, ...]] = {}
    for number, subjects in rounds.items():
        moves = []
        for n, options in enumerate(subjects, 1):
            claims.append(a_claim(number, n))
            about[claims[-1]["id"]] = options
            moves.append(a_change(claims[-1]["id"]))
        checks.append(a_verification(number, 1, "ROBUST", *(moves if tested else ())))
    files = {"claims.jsonl": claims, "verifications.jsonl": checks}
    encoded = {
        name: b"".join(msgspec.json.encode(row) + b"\n" for row in rows) for name, rows in files.items()
    }
    choices = tuple(Labelled(id=f"O-{n}", text=f"option {n}") for n in (1, 2))

    def placed(event: Event) -> Event:
        if isinstance(event, RunOpened):
            return msgspec.structs.replace(event, options=choices)
        return (
            msgspec.structs.replace(event, about=about[event.id or ""]) if isinstance(event, Claim) else event
        )

    return tuple(placed(event) for event in read_skill(encoded, None).events)


def after(events: Sequence[Event], *acks: tuple[FailureMode, int]) -> State:
    """The state after the events, with alarms that a person closed in these rounds."""
    state = fold(events)
    for mode, round_ in acks:
        closing = Alarm(
            seq=state.seq + 1, prev="0" * 64, rest=0, v=3, at="", round=round_, phase="G", by="human",
            fm=mode, action="closed", verdict="ALARM", params="0" * 64, because="seen",
        )  # fmt: skip
        step(state, closing)
    return state


def reading(state: State, mode: str) -> ModeReading:
    return next(one for one in readings_of(state) if one.mode == mode)


FOUR = [("O-1",)] * 4


def test_fm9_begins_once_and_does_not_move() -> None:
    for rounds in range(2, 9):
        found = reading(fold(events_of(dict.fromkeys(range(1, rounds + 1), FOUR))), "FM-9")
        assert (found.verdict, found.onset, found.alarm_round, found.subject) == ("ALARM", 2, 2, "O-2")


def test_fm9_is_not_open_after_an_ack_until_as_much_again_was_tested() -> None:
    events = events_of(dict.fromkeys(range(1, 6), FOUR))
    assert is_open(after(events), reading(after(events), "FM-9"))
    acked = after(events, ("FM-9", 4))
    assert not is_open(acked, reading(acked, "FM-9"))
    longer = after(events_of(dict.fromkeys(range(1, 7), FOUR)), ("FM-9", 4))
    assert is_open(longer, reading(longer, "FM-9"))
    assert reading(longer, "FM-9").onset == 6


def test_a_claim_that_compares_two_options_counts_for_both() -> None:
    compared = fold(events_of({number: [*FOUR[:3], ("O-1", "O-2")] for number in range(1, 5)}))
    assert reading(compared, "FM-9").verdict == "CLEAR"


def test_of_open_alarms_the_earliest_is_the_suspected_cause() -> None:
    details = {one.id: one.detail for one in judge(fold(events_of(dict.fromkeys(range(1, 7), FOUR)))).alarms}
    assert "suspected cause" in details["FM-9"]


def test_what_chance_may_have_done_is_told_of_every_mode_but_the_certain_ones() -> None:
    told = {one.id: one for one in judge(fold(events_of(dict.fromkeys(range(1, 7), FOUR)))).alarms}
    certain = {"FM-7", "FM-9"}
    assert {mode for mode, one in told.items() if one.e_value is None} == certain
    assert {mode for mode, one in told.items() if one.p_anytime is None} == certain
    assert all(0 < float(one.p_anytime) <= 1 for one in told.values() if one.p_anytime is not None)


@pytest.mark.parametrize(
    ("rounds", "verdict"),
    [
        ({1: FOUR, 2: FOUR, 3: [("O-1",)], 4: []}, "ALARM"),
        ({1: FOUR, 2: FOUR, 3: [("O-1",)], 4: FOUR}, "CLEAR"),
        ({1: FOUR, 2: FOUR, 3: FOUR[:2], 4: FOUR[:2]}, "CLEAR"),
    ],
)
def test_two_rounds_of_hardly_any_claim_starve_a_run_with_an_option_to_examine(
    rounds: dict[int, list[tuple[str, ...]]], verdict: str
) -> None:
    found = reading(fold(events_of(rounds)), "FM-5")
    assert found.verdict == verdict
    assert (found.variant == "starvation") == (verdict == "ALARM")


def test_a_run_with_nothing_left_to_test_does_not_starve() -> None:
    both = [("O-1", "O-2")] * 4
    assert reading(fold(events_of({1: both, 2: both, 3: [], 4: []})), "FM-5").verdict == "CLEAR"
    pending = fold(events_of({1: both, 2: both, 3: [], 4: []}, tested=False))
    assert reading(pending, "FM-5").verdict == "ALARM"


def test_starvation_is_answered_by_claims_and_by_an_ack() -> None:
    starved = {1: FOUR, 2: FOUR, 3: [], 4: []}
    found = reading(fold(events_of(starved | {5: FOUR})), "FM-5")
    assert found.has_recovered(4)
    acked = after(events_of(starved), ("FM-5", 4))
    assert not is_open(acked, reading(acked, "FM-5"))
    again = after(events_of(starved | {5: [], 6: []}), ("FM-5", 4))
    assert is_open(again, reading(again, "FM-5"))


def test_inflation_that_begins_again_after_its_ack_comes_before_starvation() -> None:
    claims = [12, 12, 12, 2, 2, 2, 60, 1, 1]
    rounds = {number: FOUR[:1] * count for number, count in enumerate(claims, 1)}
    for through in (7, 8, 9):
        so_far = {number: rounds[number] for number in range(1, through + 1)}
        state = after(events_of(so_far, tested=False), ("FM-5", 5))
        found = reading(state, "FM-5")
        assert (found.variant, found.alarm_round, found.onset) == ("inflation", 3, 7)
        assert is_open(state, found)
    answered = after(events_of(rounds, tested=False), ("FM-5", 7))
    assert reading(answered, "FM-5").variant == "starvation"


def test_starvation_is_not_answered_by_a_round_without_a_role() -> None:
    starved = {1: FOUR, 2: FOUR, 3: [], 4: []}
    stressed = [
        msgspec.structs.replace(event, absent="critic")
        if isinstance(event, RoundOpened) and event.round == 5
        else event
        for event in events_of(starved | {5: [("O-1",)]})
    ]
    found = reading(fold(stressed), "FM-5")
    assert found.variant == "starvation"
    assert not found.has_recovered(4)


def test_a_mended_absence_leaves_the_faults_of_other_roles_open() -> None:
    """Two roles were absent only on paper; one of them is really absent later."""
    rows = _rows(9, {2: "critic", 4: "guardian"}, {2: "critic", 4: "guardian", 7: "critic"})
    for number, check in ((2, 1), (4, 2)):
        rows["verifications"][4 * (number - 1) + check - 1]["result"] = "BROKEN"
    found = _fm7(rows)
    assert (found.verdict, found.subject, found.onset, found.mended) == ("ALARM", "guardian", 4, ())
    both = _rows(9, {2: "critic", 4: "guardian"}, {2: "critic", 4: "guardian", 7: "critic", 8: "guardian"})
    for number, check in ((2, 1), (4, 2)):
        both["verifications"][4 * (number - 1) + check - 1]["result"] = "BROKEN"
    assert _fm7(both).mended == (8,)


def test_an_acked_fault_stays_closed_and_a_later_one_opens() -> None:
    def state(rounds: int) -> State:
        rows = _rows(rounds, {2: "critic", 4: "guardian"}, {2: "critic", 4: "guardian"})
        for number, check in ((2, 1), (4, 2)):
            if number <= rounds:
                rows["verifications"][4 * (number - 1) + check - 1]["result"] = "BROKEN"
        return _state(rows)

    for rounds, still_open in ((3, False), (4, True)):
        found = state(rounds)
        found.alarms.append(
            Alarm(
                seq=0, prev="0" * 64, rest=0, v=3, at="", round=3, phase="G", by="human",
                fm="FM-7", action="closed", verdict="ALARM", params="0" * 64, because="seen",
            )
        )  # fmt: skip
        assert is_open(found, reading(found, "FM-7")) == still_open
