"""Rules asked after each phase, where people look: status, the live view, the outcome, `next`, the round's page."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.api import open_run
from moot.terminal.stage import Stage
from moot.view.outcome import outcome_of
from moot.view.outcome_text import outcome_lines
from moot.view.steps import next_of, steps_text
from moot.view.story import scene_of
from moot.web.rounds import round_shown
from rounds.run.human_actions import override
from rounds.run.session import RunSession
from tests.render.screens import shown
from tests.rounds.scripted import Script
from tests.rounds.test_validating import Complaint, begin
from tests.view.test_without import until


def live(session: RunSession) -> str:
    return " ".join(shown(Stage(scene_of(session.book(), {}, None), 60), 120).split())


@pytest.fixture
def held(tmp_path: Path) -> RunSession:
    """Held up after phase D of its first round."""
    complaint = Complaint()
    session = begin(tmp_path / "run", complaint)
    script = Script(seed=2)
    assert until(session, script, "D", "critic")
    complaint.complains = True
    assert not until(session, script, "E.check", None)
    complaint.complains = False
    return session


def test_the_live_view_says_after_which_phases_the_rules_were_asked(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    assert "asked after" not in live(session)
    assert until(session, Script(seed=2), "E", None)
    assert "rules asked after R1 B, C, D: no error" in live(session)
    assert "held up" not in live(session)


def test_where_rules_are_asked_once_a_round_the_live_view_has_no_such_line(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", validate="round")
    assert until(session, Script(seed=2), "E", None)
    assert "asked after" not in live(session)


def test_an_error_is_named_as_what_holds_the_run_up(held: RunSession) -> None:
    (place,) = held.book().state.held_up
    found = outcome_of("RUN", held.book())
    assert found.status == "waiting"
    (asked,) = found.needs_you
    assert asked.text.startswith(f"An error that the validation {place} found holds the run up")
    assert asked.command == f"moot override RUN {place} 'why it is harmless'"
    block = " ".join(" ".join(outcome_lines(found)).split())
    assert "moot check RUN" in block
    assert "screening" not in block
    told = live(held)
    assert "rules asked after R1 B, C, D: an error, see `moot check`" in told
    assert f"held up by an error that the validation {place} found" in told


def test_once_let_go_nothing_is_said_of_it(held: RunSession) -> None:
    (place,) = held.book().state.held_up
    override(held, place, "It is known and harmless.")
    assert "held up" not in live(held)
    assert not outcome_of("RUN", held.book()).needs_you


def test_next_does_not_say_that_somebody_called_human_is_asked(tmp_path: Path) -> None:
    complaint = Complaint()
    session = begin(tmp_path / "run", complaint)
    complaint.complains = True
    assert not until(session, Script(seed=2), "D", None)
    said = steps_text(next_of("RUN", session, session.pending()))
    assert (
        said
        == "the run is held up until a person decides: `moot status RUN` says by what, and how to go on\n"
    )


def test_a_phase_that_goes_on_is_not_done_on_the_page_because_an_earlier_one_was_validated(
    tmp_path: Path,
) -> None:
    session = begin(tmp_path / "run")
    assert until(session, Script(seed=2), "D", "guardian")  # action's artifact is in, the others are asked
    session.stop("human")
    places = dict(round_shown(open_run(tmp_path / "run").view, 1).phases)
    assert (places["B"], places["C"], places["D"]) == ("done", "done", "now")
