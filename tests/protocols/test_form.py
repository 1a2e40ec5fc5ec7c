"""The form that the published systems ask for is enforced where it is an error and warned about where it is style."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from roles.seats.port import Answer
from rounds.run.session import ReplyRefused, RunSession
from tests.protocols.playing import begin, play, submit
from tests.protocols.scripts import reply
from validators import rulebook

HOST = Answer(seat="host", isolation="trusted")


def until(session: RunSession, step: str) -> dict[str, Any]:
    """Play until a step is open; its lawful reply."""
    while step not in {one.step.id for one in session.pending()}:
        submit(session, session.pending()[0])
    (asked,) = [one for one in session.pending() if one.step.id == step]
    found: dict[str, Any] = orjson.loads(reply(session.book(), asked.step, asked.brief.saw))
    return found


def refused(session: RunSession, step: str, said: dict[str, Any]) -> list[str]:
    """What is wrong with a reply."""
    with pytest.raises(ReplyRefused) as error:
        session.submit(step, orjson.dumps(said), HOST)
    return list(error.value.errors)


def test_each_argument_gets_a_follow_up_question(tmp_path: Path) -> None:
    """R-27: XS-5 asks for a pointed question about each argument; one for all of them was enough."""
    session = begin(tmp_path / "run", "debate")
    said = until(session, "r1.crossing.pro")
    said["responses"][1]["follow_up_question"] = None
    (error,) = refused(session, "r1.crossing.pro", said)
    assert error.startswith("responses[1].follow_up_question: one pointed question")


def test_nothing_is_asked_about_what_is_conceded(tmp_path: Path) -> None:
    """R-27: the neighbour of it: a debate may concede everything and ask nothing."""
    session = begin(tmp_path / "run", "debate")
    said = until(session, "r1.crossing.pro")
    for one in said["responses"]:
        one |= {"type": "concede", "follow_up_question": None}
    session.submit("r1.crossing.pro", orjson.dumps(said), HOST)


@pytest.mark.parametrize("words", [99, 201])
def test_a_closing_has_a_hundred_to_two_hundred_words(tmp_path: Path, words: int) -> None:
    """R-27: XS-6. A matter of style: accepted, and warned about."""
    session = begin(tmp_path / "run", "debate")
    said = until(session, "r1.closing.pro")
    said |= {"concessions": [], "unrebutted": [], "position": " ".join(["so"] * words)}
    session.submit("r1.closing.pro", orjson.dumps(said), HOST)
    found = rulebook.check(play_on(session).book(), session.verdicts.context())
    assert [(one.code, one.severity) for one in found.findings] == [("WRD002", "warning")]
    assert f"{words} words; a closing has 100 to 200" in found.findings[0].message


RANKED = (
    ("adversarial", "r1.attack.challenger", "concerns", 5),
    ("devils-advocate", "r1.attack.devils_advocate", "challenges", 5),
    ("panel", "r1.findings.reviewer_1", "findings", "Critical"),
)


@pytest.mark.parametrize(("protocol", "step", "rows", "heaviest"), RANKED)
def test_the_heaviest_comes_first(
    protocol: str, step: str, rows: str, heaviest: object, tmp_path: Path
) -> None:
    """R-27: AD-4 and AD-30 rank by severity; the place in the list became the rank whatever the severity said."""
    session = begin(tmp_path / "run", protocol)
    said = until(session, step)
    said[rows][0]["severity"] = "Low" if heaviest == "Critical" else 1
    said[rows][-1]["severity"] = heaviest
    (error,) = refused(session, step, said)
    assert "heavier than the one before it" in error


def play_on(session: RunSession) -> RunSession:
    """The session when everything is answered."""
    play(session)
    return session


@pytest.mark.parametrize(
    ("protocol", "lost", "named"),
    [
        ("tribunal", "r1.analyse.safety", "r2.challenge.on_accuracy.utility"),
        ("tribunal", "r1.analyse.safety", "r2.challenge.on_utility.accuracy"),
    ],
)
def test_a_brief_names_no_lost_step_that_it_would_not_show(
    protocol: str, lost: str, named: str, tmp_path: Path
) -> None:
    """R-19: who challenges accuracy sees accuracy alone, and is not told that safety gave nothing."""
    assert lost not in _brief(begin(tmp_path / "new", protocol), lost, named)


def test_a_brief_names_the_lost_steps_that_it_would_have_shown(tmp_path: Path) -> None:
    """R-19: the other way round: the examiner is told that an analyst is missing, the analyst that nobody asked."""
    lost = "r1.analysis.analyst_2"
    assert lost in _brief(begin(tmp_path / "a", "cross-examination"), lost, "r1.questions.examiner")
    session = begin(tmp_path / "b", "adversarial")
    assert "r1.case.advocate" in _brief(session, "r1.case.advocate", "r1.verdict.judge")


def _brief(session: RunSession, lost: str, step: str) -> str:
    """The brief of a step of a run that has lost one."""
    while step not in {one.step.id for one in session.pending()}:
        first = session.pending()[0]
        if first.step.id == lost:
            session.give_up(lost, "given_up", "lost in a test")
        else:
            submit(session, first)
    return next(one.brief.text for one in session.pending() if one.step.id == step)


@pytest.mark.parametrize(
    "reasoning",
    [
        "I am 85% sure, and more tests would not change that.",
        "It helps most people; risk 60.",
        "Confidence: 85. It helps most people.",
        "**Confidence:** 85/100",
        "My confidence is about 70 percent and will stay there.",
        "It fails seldom (risk: 12).",
        "I would act with 90 percent confidence.",
    ],
)
def test_a_view_states_its_confidence_and_risk_in_their_fields_alone(reasoning: str, tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "tribunal")
    said = until(session, "r1.analyse.safety")
    (error,) = refused(session, "r1.analyse.safety", said | {"reasoning": reasoning})
    assert error.startswith("reasoning: ")
    assert "fields of their own" in error


@pytest.mark.parametrize(
    "reasoning",
    [
        "The main risk: users lose data.",
        "The risk: 3 of 40 users lose a line, and 12 lines were lost in 2024.",
        "A risk of 5% data loss and a 30% risk of overdose are stated in K-1; 60% of users act.",
        "My confidence: high, as X-2-1 and section 4.2 say.",
        "Nobody can be 100% sure that users read the leaflet.",
    ],
)
def test_a_view_may_say_risk_and_give_figures_of_the_matter(reasoning: str, tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "tribunal")
    said = until(session, "r1.analyse.safety")
    session.submit("r1.analyse.safety", orjson.dumps(said | {"reasoning": reasoning}), HOST)
