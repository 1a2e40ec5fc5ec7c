"""What follows by rule says what it does not rest on: a lens, a judge, a round, a weight, a vote that was lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.events import Decision
from ledger.format.canonical import Head
from ledger.state.book import Book
from moot.documents import run_report
from moot.run_view import RunView
from moot.view.grounds import rests_on
from moot.view.labels import labels_of_run
from moot.view.seats import answered_by, seats_of
from rounds.run.outcome import quorum_of
from tests.protocols.playing import begin, play


def decided(book: Book) -> Decision:
    """The last decision that is final."""
    return [event for event in book.events if isinstance(event, Decision) and event.type == "final"][-1]


def played(path: Path, name: str, *lost: str, rules: dict[str, str] | None = None) -> Book:
    return play(begin(path, name, rules), lose=frozenset(lost))


def test_an_order_of_one_lens_is_no_sum_of_both(tmp_path: Path) -> None:
    """R-1, its sibling: priority said "by the sum of both lenses" with one of them lost."""
    book = played(tmp_path / "run", "priority", "r1.rating.impact")
    assert decided(book).text.startswith("Order by urgency alone, as impact was lost: 1. O-")


def test_means_name_the_rounds_and_weights_that_nobody_gave(tmp_path: Path) -> None:
    """R-1, its sibling: comparative recommended from what was scored, and did not say that a round was not."""
    whole = decided(played(tmp_path / "whole", "comparative")).text
    text = decided(played(tmp_path / "run", "comparative", "r1.weights.judge", "r2.scoring.judge")).text
    assert "Not scored" not in whole
    assert "each counts Medium" not in whole
    assert " Not scored: round 2, O-" in text
    assert text.endswith(" Nobody weighted the criteria: each counts Medium.")


def test_an_option_that_nobody_scored_is_named(tmp_path: Path) -> None:
    """R-1, its sibling: an option whose rounds were all lost is missing among the means, and said to be."""
    lost = [f"r{n}.scoring.judge" for n in range(2, 7)]
    text = decided(played(tmp_path / "run", "comparative", *lost)).text
    assert " Never scored at all: O-" in text


def test_a_judge_who_was_lost_agrees_with_nobody(tmp_path: Path) -> None:
    """R-1, its sibling: two of three judges were told as three."""
    rules = {"judges": "3"}
    whole = decided(played(tmp_path / "whole", "debate", rules=rules)).narratives
    lost = decided(played(tmp_path / "run", "debate", "r1.judging.judge~2", rules=rules)).narratives
    assert (whole[0].split(";")[0], lost[0].split(";")[0]) == ("3 judges", "2 of 3 judges")


def test_a_lost_vote_withdraws_no_veto(tmp_path: Path) -> None:
    """R-1, its sibling: safety refused in the first ballot and then was lost, and the ruling said "withdrawn"."""
    veto = " A veto of safety in the first ballot was"
    assert f"{veto} withdrawn." in decided(played(tmp_path / "whole", "tribunal")).text
    text = decided(played(tmp_path / "run", "tribunal", "r3.revise.safety")).text
    assert text.startswith("REFUSE ")
    assert f"{veto} not withdrawn." in text
    assert "was withdrawn" not in text


@pytest.mark.parametrize(
    ("name", "lost", "said"),
    [
        ("priority", ("r1.rating.urgency", "r1.rating.impact"), "without either, there is none"),
        ("debate", ("r1.opening.pro", "r1.opening.con"), "without any, nothing is"),
        (
            "adversarial",
            ("r1.case.advocate", "r1.attack.challenger"),
            "there is no case for what is proposed",
        ),
        (
            "panel",
            tuple(f"r1.findings.reviewer_{n}" for n in (1, 2, 3)),
            "without any field, it gives no verdict",
        ),
        ("council", ("r1.plan.solo", "r1.plan.solo~2"), "one plan fewer"),
        ("jugalbandi", ("r2.challenge.challenger",), "this round resolves nothing"),
    ],
)
def test_what_a_loss_means_is_so_beside_other_losses(
    name: str, lost: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    """R-2, its sibling: with both openings lost the headline said that "only the other side is judged"."""
    rules = {"rounds": "2"} if name == "jugalbandi" else None
    told = quorum_of(played(tmp_path / "run", name, *lost, rules=rules).state).told
    assert said in told
    for untrue in ("alone", "only the other", "one member short", "goes on without", "nothing is resolved"):
        assert f"{untrue})" not in told


def test_a_seat_that_gave_up_was_asked(tmp_path: Path) -> None:
    """R-2, its sibling: a finished run whose judge gave up said that the judge was "not yet asked"."""
    seats = answered_by(seats_of(played(tmp_path / "run", "jugalbandi", "r1.challenge.challenger")))
    assert (
        seats == "proposer: host (trusted); challenger: host (no reply, given up); resolver: host (no reply)"
    )


def test_nothing_decided_stands_under_no_decisions_in_force(tmp_path: Path) -> None:
    """R-2, its sibling: "Decisions in force (none is final)" stood over "Nothing was decided."."""
    book = played(tmp_path / "run", "priority", "r1.rating.urgency", "r1.rating.impact")
    text = run_report(RunView(book), Head(len(book.events) - 1, "9" * 64))
    assert "\n## Final decisions\n\nNothing was decided.\n" in text


def test_a_cited_vote_is_shown_with_its_numbers(tmp_path: Path) -> None:
    """R-2: the votes that a tribunal's decision cites are told, not named alone."""
    book = played(tmp_path / "run", "tribunal")
    votes = [ground for ground in rests_on(book, decided(book)) if ground.kind == "vote"]
    assert [ground.id for ground in votes] == ["VO-3-2-accuracy", "VO-3-2-safety", "VO-3-2-utility"]
    assert all("% sure that acting is right" in ground.text for ground in votes)


@pytest.mark.parametrize(
    ("lost", "kind"), [("r1.attack.challenger", "DEGRADED"), ("r1.verdict.judge", "UNANSWERED")]
)
def test_a_loss_stands_before_every_other_label(lost: str, kind: str, tmp_path: Path) -> None:
    """R-2: pages and reports show labels; the quorum is in the first of them."""
    (first, *_) = labels_of_run(played(tmp_path / "run", "adversarial", lost))
    assert first.kind == kind
    assert first.text.startswith("2 of 3 requested replies accepted")
