"""What several roles were worth: counted from whole runs, flagged when a side idles (AD-6, AD-7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rounds import people
from rounds.acceptance import edit_distance, output_of
from rounds.protocols import PROTOCOLS
from rounds.value import IN_A_ROW, RunValue, report, value_of
from tests.protocols.playing import begin, play

EXPECTED = {
    "jugalbandi": {"challenger": 2, "human": 1, "proposer": 1},
    "single-pass": {"challenger": 2, "proposer": 1},
    "council": {"challenger": 6, "proposer": 3},
    "debate": {"con": 2, "pro": 1},
    "adversarial": {"advocate": 2, "challenger": 3},
    "devils-advocate": {"devils_advocate": 1, "steelman": 2, "undecided": 2},
    "comparative": {"O-1": 2, "O-2": 2, "O-3": 2},
    "cross-examination": {"analysts": 3, "examiner": 3},
    "ratchet": {"critic": 2, "drafter": 1},
    "panel": {"reviewer_1": 2, "reviewer_2": 1},
    "priority": {"human": 2},
    "tribunal": {},
}


@pytest.mark.parametrize("name", sorted(PROTOCOLS.keys() - {"structured"}))
def test_sides_are_counted(name: str, tmp_path: Path) -> None:
    found = value_of("run", play(begin(tmp_path / "run", name)))
    assert found.sided_with == EXPECTED[name]
    assert found.disagreements == sum(EXPECTED[name].values())


def runs(count: int, protocol: str = "adversarial", **sides: int) -> list[RunValue]:
    return [RunValue(str(n), protocol, sum(sides.values()), sides, None, None) for n in range(count)]


def test_silence_is_flagged_at_the_fifth_run() -> None:
    assert report(runs(IN_A_ROW - 1)).flags == []
    assert "without a disagreement" in report(runs(IN_A_ROW)).flags[0]
    broken = [*runs(3), *runs(1, advocate=1, challenger=1), *runs(3)]
    assert report(broken).flags == []


def test_a_side_that_always_wins_is_flagged() -> None:
    assert "challenger has won every one" in report(runs(5, challenger=2, advocate=1)).flags[0]
    assert report([*runs(4, challenger=2), *runs(1, advocate=2)]).flags == []
    assert report(runs(5, challenger=1, advocate=1)).flags == []


def test_critiques_that_are_never_fixed_are_flagged() -> None:
    assert any("30 %" in flag for flag in report(runs(5, "ratchet", drafter=3)).flags)


def test_protocols_are_judged_apart() -> None:
    assert report([*runs(3), *runs(3, "debate")]).flags == []


def test_acceptance_is_noted_and_counted(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "ratchet")
    with pytest.raises(people.NotThere, match="no final decision"):
        people.accept(session, None)
    book = play(session)
    assert output_of(book) == "the whole text of r1 revision reviser"
    people.accept(session, None)
    assert value_of("run", session.book()).edit_distance == "low"
    people.accept(session, "quite another thing")
    found = value_of("run", session.book())
    assert (found.accepted, found.edit_distance) == (True, "high")
    people.accept(session, None, rejected=True)
    assert value_of("run", session.book()).accepted is False


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        ("a b c d", "a b c d", "low"),
        ("a b c d e", "a b c x e", "medium"),
        ("a b", "c d", "high"),
        ("", "", "low"),
    ],
)
def test_edit_distance(before: str, after: str, name: str) -> None:
    share, found = edit_distance(before, after)
    assert found == name
    assert 0 <= share <= 1
