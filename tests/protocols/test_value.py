"""What several roles were worth: counted from whole runs, flagged when a side idles (AD-6, AD-7).

Of `rounds/run/acceptance.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledger.state.book import Book
from roles.protocol import Step
from rounds.analysis.value import IN_A_ROW, RunValue, event_lines, report, value_of
from rounds.protocols import PROTOCOLS
from rounds.run import human_actions as people
from rounds.run.acceptance import edit_distance, output_of
from tests.protocols import scripts
from tests.protocols.playing import begin, play

EXPECTED = {
    "crux": {},
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
    assert found.disagreements == APART.get(name, sum(EXPECTED[name].values()))
    assert bool(found.resolution) == (name != "council"), "whose plans stand side by side"


APART = {"adversarial": 1, "devils-advocate": 4, "cross-examination": 3}
"""What stayed in dispute, where the form fixes how many points are raised."""


def runs(
    count: int, protocol: str = "adversarial", resolution: str | None = "do it", **sides: int
) -> list[RunValue]:
    return [
        RunValue(str(n), protocol, sum(sides.values()), sides, None, None, resolution) for n in range(count)
    ]


def test_silence_is_flagged_at_the_fifth_run() -> None:
    assert report(runs(IN_A_ROW - 1)).flags == []
    assert "without a disagreement" in report(runs(IN_A_ROW)).flags[0]
    broken = [*runs(3), *runs(1, advocate=1, challenger=1), *runs(3)]
    assert report(broken).flags == []


def test_a_side_that_always_wins_is_flagged() -> None:
    assert (
        "challenger has won every one of 5 runs; advocate may idle"
        in report(runs(5, challenger=2, advocate=1)).flags[0]
    )
    assert report([*runs(4, challenger=2), *runs(1, advocate=2)]).flags == []
    assert report(runs(5, challenger=1, advocate=1)).flags == []


def test_a_side_wins_only_the_runs_in_which_the_two_were_at_odds() -> None:
    """R-19: one decided run of five is not "every one of 5 runs", and six of eight are six."""
    assert report([*runs(1, challenger=2), *runs(4)]).flags == []
    (flag,) = report([*runs(4, challenger=2), *runs(2), *runs(2, challenger=1)]).flags
    assert "every one of 6 runs in which they were at odds" in flag


@pytest.mark.parametrize(
    ("protocol", "sides"),
    [
        ("priority", {"human": 2}),
        ("structured", {"critic": 3, "undecided": 1}),
        ("comparative", {"O-1": 4, "O-2": 2}),
        ("panel", {"reviewer_1": 2, "reviewer_2": 1}),
        ("devils-advocate", {"undecided": 3, "steelman": 1, "devils_advocate": 1}),
    ],
)
def test_what_is_no_side_does_not_win(protocol: str, sides: dict[str, int]) -> None:
    """R-19: a person, an option, one reviewer of several: none of them leaves "the other side" idle."""
    found = [msgspec.structs.replace(run, sided_with=sides, disagreements=2) for run in runs(5, protocol)]
    assert report(found).flags == []


def test_runs_without_a_decision_are_not_judged() -> None:
    """R-19: five runs that were stopped are not five runs without a disagreement."""
    assert report(runs(5, resolution=None)).flags == []
    assert "without a disagreement" in report(runs(5)).flags[0]


def test_a_fix_rate_of_one_run_is_not_five_runs_running() -> None:
    """R-19: the other half of the same sentence."""
    assert not any(
        "30 %" in flag for flag in report([*runs(1, "ratchet", drafter=3), *runs(4, "ratchet")]).flags
    )


def test_an_adversarial_run_can_be_without_a_disagreement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-19: concerns are always five; whether anything is in dispute is the judge's word (AD-5, AD-7)."""
    scripted = scripts.SCRIPTS["adversarial"]

    def settled(book: Book, step: Step, shown: scripts.Shown) -> dict[str, Any]:
        said = scripted(book, step, shown)
        return {**said, "contested": []} if "contested" in said else said

    monkeypatch.setitem(scripts.SCRIPTS, "adversarial", settled)
    found = [value_of(str(n), play(begin(tmp_path / str(n), "adversarial"))) for n in range(IN_A_ROW)]
    assert {run.disagreements for run in found} == {0}
    assert any("without a disagreement" in flag for flag in report(found).flags)


def test_event_lines_name_the_resolution_and_the_evaluation() -> None:
    """R-27: AD-6 promises `resolution`, and a line `compete-eval` once a person has said what became of it."""
    (value,) = runs(1, challenger=3, advocate=2, resolution="reject: two writers, [K-1]\nlose = a line")
    assert event_lines(value) == (
        "[compete-result: skill=adversarial, artifact=0, disagreements=5,"
        " resolution=reject: two writers; (K-1) lose : a line, sided_with=challenger:3/advocate:2]",
    )
    accepted = msgspec.structs.replace(value, accepted=True, edit_distance="low")
    assert event_lines(accepted) == (
        event_lines(value)[0],
        "[compete-eval: skill=adversarial, edit_distance=low, acceptance=true, disagreements=5,"
        " sided_with=challenger:3/advocate:2]",
    )
    (long,) = runs(1, resolution="word " * 100)
    assert len(event_lines(long)[0]) < 300


def test_an_override_is_the_resolution(tmp_path: Path) -> None:
    """R-27: the line says what stands, not what was overturned."""
    session = begin(tmp_path / "run", "adversarial")
    book = play(session)
    (final,) = [identity for identity, facts in book.state.decisions.items() if facts.type == "final"]
    people.override(session, final, "We do it next year.")
    assert value_of("run", session.book()).resolution == "We do it next year."


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
