"""Prompts show a person's answer with what it answers, and a challenger its own first decision.

Seats are scripted; nothing here was said by a model. B-6: the answer alone. B-7: the challenge without the decision.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.events import Concern, Vote
from ledger.state.book import Book
from rounds.run.human_actions import answer
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.protocols.changing import changed_run
from tests.rounds.openings import clock
from tests.view.test_true_structured import AsksAPerson, play_one_round
from tests.view.test_without import until


def _structured(path: Path) -> RunSession:
    """Open a run of `structured` with the rules that a new run has."""
    subject = {
        "question": "Which storage?",
        "protocol": "structured",
        "options": ["three streams", "one journal"],
    }
    opening = resolve(checked({"deliberation": {**subject, "goals": ["No line is lost"]}}), {}, moot="0.2.0")
    files = {"deliberation.toml": opening.toml.encode()}
    return start(path, opening.event, blobs=opening.blobs, files=files, verdicts=standard, clock=clock())


@pytest.mark.parametrize("phase", ["D", "E", "G"])
def test_a_persons_answer_is_shown_with_its_question_in_structured(tmp_path: Path, phase: str) -> None:
    """B-6: seats read "yes" without the question that it answers."""
    session, script = _structured(tmp_path / "run"), AsksAPerson(seed=0)
    play_one_round(session, script)
    question = next(one for one in session.book().of(Concern) if one.for_human)
    answer(session, str(question.id), "CANARYANSWER", "Ada")
    until(session, script, phase, None, round_=2)
    text = next(one for one in session.pending() if one.step.name.phase == phase).brief.text
    assert "CANARYANSWER" in text
    assert f"question {question.id} | {question.text.splitlines()[0]}" in text


def _has_voted(book: Book) -> bool:
    return len(book.of(Vote)) == 3


def test_a_challenger_sees_its_own_first_decision_and_no_others(tmp_path: Path) -> None:
    """B-7: the published documents (S4) show a challenger its own first decision."""
    session = changed_run(tmp_path / "run", "tribunal", until=_has_voted)
    votes = {one.by: str(one.id) for one in session.book().of(Vote)}
    asked = session.pending()
    assert len(asked) == 6
    for one in asked:
        assert votes[one.step.role] in one.brief.text, one.step.id
        others = {vote for role, vote in votes.items() if role != one.step.role}
        assert not any(vote in one.brief.text for vote in others), one.step.id
