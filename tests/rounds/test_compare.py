"""Two runs with their signals: what `diff` prints; and a run of our own that goes out and comes in again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import moot
from detectors.report import SignalReport
from detectors.signals import signals
from ledger.interchange.skill_export import export_skill
from ledger.state.book import Book
from moot.view.comparison import diff_text
from moot.view.stop_checks import gates_held
from rounds.analysis.compare import compare
from tests.ledger.interchange.sources import imported, lifecycles
from tests.protocols import crux_seats, playing
from tests.protocols.crux_seats import OPTIONS, ROLES, World
from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script
from tests.validators.factory import findings
from validators.ledger_index import RuleContext


def text(book: Book) -> SignalReport:
    return signals(book, "published")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Book]:
    made: dict[int, Book] = {}

    def run(seed: int) -> Book:
        if seed not in made:
            session = begin(
                tmp_path_factory.mktemp("runs") / "run", rows(3, absent={2: "critic"}, drift=(3,))
            )
            play(session, Script(seed=seed))
            made[seed] = session.book()
        return made[seed]

    return run


def test_two_deliberations_on_one_question(played: Callable[[int], Book]) -> None:
    found = compare(played(1), played(2), ("one", "two"), signals=text)
    assert (found.a, found.b, found.same, found.comparable) == ("one", "two", False, True)
    assert found.first_divergence is not None
    assert found.signals is not None
    assert (found.signals.a.profile, found.signals.a.of) == ("published", 6)
    reports = text(played(1)), text(played(2))
    assert {change.id for change in found.signals.changed} == {
        one.id
        for one, other in zip(reports[0].signals, reports[1].signals, strict=True)
        if (one.satisfied, one.value) != (other.satisfied, other.value)
    }
    assert "signals" in found.model_dump()


def test_a_run_of_our_own_goes_out_and_comes_in_with_the_same_lifecycles_and_signals(
    played: Callable[[int], Book],
) -> None:
    own = played(1)
    out = export_skill(own)
    again = imported(out.files)
    assert lifecycles(again) == lifecycles(own)
    for profile in ("gates", "published"):
        one, other = signals(own, profile), signals(again, profile)
        assert [(signal.id, signal.satisfied, signal.value) for signal in one.signals] == [
            (signal.id, signal.satisfied, signal.value) for signal in other.signals
        ]
        assert (one.stop, one.advice, [alarm.id for alarm in one.alarms]) == (
            other.stop,
            other.advice,
            [alarm.id for alarm in other.alarms],
        )
    assert export_skill(again).files == out.files


def test_what_came_in_again_breaks_no_rule(played: Callable[[int], Book]) -> None:
    found = findings(imported(export_skill(played(1)).files), RuleContext())
    assert [finding for finding in found if finding.severity == "error"] == []


def test_every_file_that_evidence_names_is_written(played: Callable[[int], Book]) -> None:
    out = export_skill(played(2)).files
    again = imported(out)
    refs = {ref for check in again.state.checks.values() for ref in check.refs}
    assert refs
    assert {ref.partition("#")[0] for ref in refs} <= out.keys()


def test_a_stress_round_has_exactly_three_artifacts(played: Callable[[int], Book]) -> None:
    listing = [path for path in export_skill(played(1)).files if path.startswith("artifacts/round_02/")]
    assert [Path(path).name for path in sorted(listing)] == ["action.md", "guardian.md", "observer.md"]


@pytest.fixture(scope="module")
def unlisted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return two runs whose question lists no options, by the option that leads."""
    runs: dict[str, Path] = {}
    for option, true, false in ((OPTIONS[0], 90, 30), (OPTIONS[1], 40, 20)):
        runs[option] = tmp_path_factory.mktemp("unlisted") / "run"
        session = crux_seats.begin(runs[option], {"wait": "off"}, options=0)
        first: dict[str, int] = dict.fromkeys(ROLES, (true + false) // 2)
        proposed = {"action": [("document", 50, true, false)]}
        crux_seats.play(session, World(first, proposed, numbers=(50, true, false)))
    return runs


def test_runs_that_number_their_options_themselves_are_told_in_words(unlisted: dict[str, Path]) -> None:
    """`A O-1 / B O-2`, ids without words, and "signals: 0 of 6" for runs that have none."""
    found = moot.diff(*(unlisted[option] for option in OPTIONS))
    assert found.signals is None
    said = diff_text(found)
    assert "signals" not in said
    assert said.startswith(f"A  {OPTIONS[0]} ")
    assert f"\nB  {OPTIONS[1]} " in said
    bare = [
        line for line in said.splitlines() if line.strip().startswith("only in") and len(line.split()) < 6
    ]
    assert not bare
    assert found.texts.a["D-1-1"].startswith(f"Use {OPTIONS[0]}")
    changed = [one.a for one in found.claims.changed]
    assert set(found.texts.a) == {*changed, *found.claims.only_a, *found.decisions.only_a}


def test_the_same_answer_is_told_in_words(unlisted: dict[str, Path]) -> None:
    """A-12: an id alone, although the answers agree."""
    run = unlisted[OPTIONS[0]]
    first, second = diff_text(moot.diff(run, run)).splitlines()[:2]
    assert first == "same answer"
    assert second.strip() == OPTIONS[0]


def test_an_option_has_its_words_once_beside_its_id() -> None:
    run = playing.played("comparative")
    found = moot.diff(run, run)
    assert found.answers.a is not None
    assert found.answers.a.text.count(playing.OPTIONS[0]) == 1


def test_answers_that_differ_in_form_alone_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A-12: composed and decomposed letters, case and a final full stop made another answer of the same one."""
    for number, option in enumerate(("Café  journal", "cafe\u0301 Journal.", "café journals")):
        monkeypatch.setattr(crux_seats, "OPTIONS", (option, OPTIONS[1]))
        session = crux_seats.begin(tmp_path / str(number), {"wait": "off"}, options=0)
        crux_seats.play(session, World(dict.fromkeys(ROLES, 90)))
    same = [moot.diff(tmp_path / "0", tmp_path / other).answers.same for other in ("1", "2")]
    assert same == [True, False]


def test_gates_are_counted_as_status_counts_them(played: Callable[[int], Book]) -> None:
    """A-12: "2 of 6" signals beside "2 of 8 gates", for the same run."""
    found = compare(played(1), played(2), ("a", "b"), signals=lambda book: signals(book, "gates")).signals
    assert found is not None
    for panel, seed in ((found.a, 1), (found.b, 2)):
        assert f"{panel.satisfied} of {panel.of} gates" == gates_held(signals(played(seed), "gates"))
    assert {change.id for change in found.changed} <= {
        gate.name for gate in signals(played(1), "gates").deciding
    }
