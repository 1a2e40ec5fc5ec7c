"""`tribunal` with votes lost: nothing is acted on without safety's vote, whatever the others say (R-1).

All ballots of the three views against every set of lost votes, by both rule sets, over the ruling itself; and every set
of lost seats through the engine, with the numbers that would act.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson
import pytest

from ledger.events import Decision, Event, Ruling, Vote
from ledger.state.book import Book
from roles.seats.port import Answer
from rounds.analysis.value import value_of
from rounds.protocols.tribunal import POLICIES, VIEWS, ruling
from rounds.protocols.votes import aggregate_votes
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from tests.protocols.playing import begin, play, subsets
from tests.protocols.scripts import reply

NUMBERS: Final = {
    "utility": ((90, 10), (50, 10), (20, 10)),
    "accuracy": ((90, 10), (70, 10), (50, 10)),
    "safety": ((90, 10), (90, 40), (90, 60)),
}
"""View → (confidence, risk) for each decision that its policy can come to."""
BALLOTS: Final = tuple(product(*(NUMBERS[view] for view in VIEWS)))
RULES: Final = ("documented", "shipped")
ACTS: Final = {view: NUMBERS[view][0] for view in VIEWS}


@pytest.fixture(scope="module", params=RULES)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Book:
    """A run without a loss, up to its ruling."""
    path = tmp_path_factory.mktemp("tribunal") / "run"
    book = play(begin(path, "tribunal", {"voting": request.param}))
    end = next(n for n, event in enumerate(book.events) if isinstance(event, Ruling))
    return msgspec.structs.replace(book, events=book.events[:end])


def with_votes(book: Book, ballot: tuple[tuple[int, int], ...], lost: frozenset[str]) -> Book:
    """The book with these numbers in both ballots, and the votes `view` and `view.1` of `lost` not given."""

    def voted(event: Event) -> Event:
        if not isinstance(event, Vote):
            return event
        view = str(event.id).rpartition("-")[2]
        confidence, risk = ballot[VIEWS.index(view)]
        gone = f"{view}.{event.ballot}" in lost
        return msgspec.structs.replace(
            event,
            decision="REFUSE" if gone else POLICIES[view](confidence, risk),
            confidence=0 if gone else confidence,
            risk=100 if gone else risk,
            fallback=gone,
        )

    return msgspec.structs.replace(book, events=tuple(voted(event) for event in book.events))


def test_no_ballot_acts_without_safety(whole: Book) -> None:
    """R-1: 27 ballots, 64 sets of lost votes, both rule sets: never ACT, and the ruling says why."""
    votes = [f"{view}.{ballot}" for view in VIEWS for ballot in (1, 2)]
    acted = 0
    for lost in subsets(votes):
        for ballot in BALLOTS:
            made, *others = ruling(with_votes(whole, ballot, lost))
            assert isinstance(made, Ruling)
            decision = next((event for event in others if isinstance(event, Decision)), None)
            acted += made.decision == "ACT"
            if lost & {"safety.1", "safety.2"}:
                assert made.decision == "REFUSE", (ballot, lost)
                assert made.rule in ("safety_vote_lost", "safety_veto"), (ballot, lost)
                said = f"{made.metadata.get('lost_votes')} {made.metadata.get('lost_in_first_ballot')}"
                assert "safety" in said
            if decision is not None:
                assert decision.text.startswith(f"{made.decision} by the rule {made.rule}")
                cited = {cite.id for cite in decision.cites if cite.type == "vote"}
                assert cited == {f"VO-3-2-{view}" for view in VIEWS if f"{view}.2" not in lost}
                assert all(view in decision.text for view in VIEWS if f"{view}.2" in lost)
            else:
                assert {f"{view}.2" for view in VIEWS} <= lost
    assert acted, "a tribunal that never acts proves nothing"


def held(path: Path, voting: str, lost: frozenset[str]) -> tuple[RunSession, Ruling]:
    """A run in which every view would act, without the seats of `lost`."""
    session = begin(path, "tribunal", {"voting": voting})
    while asked := session.pending():
        one = asked[0]
        if one.step.role in lost:
            session.give_up(one.step.id, "unavailable", "nobody there")
            continue
        content = reply(session.book(), one.step, one.brief.saw)
        if one.step.task != "challenge":
            confidence, risk = ACTS[one.step.role]
            content = orjson.dumps(orjson.loads(content) | {"confidence": confidence, "risk": risk})
        session.submit(one.step.id, content, Answer(seat="host", isolation="trusted"))
    (made,) = (event for event in session.book().events if isinstance(event, Ruling))
    assert re_execute(session.book(), session.protocol, session.controller).identical
    return session, made


@pytest.mark.parametrize("voting", RULES)
def test_no_set_of_lost_seats_acts_without_safety(voting: str, tmp_path: Path) -> None:
    """R-1: through the engine; with safety's vote the documented rule may still act on two of three."""
    for n, lost in enumerate(subsets(VIEWS)):
        _, made = held(tmp_path / str(n), voting, lost)
        expected = {"documented": len(lost) < 2, "shipped": not lost}[voting] and "safety" not in lost
        assert (made.decision == "ACT") == expected, lost
        if "safety" in lost:
            assert (made.decision, made.rule) == ("REFUSE", "safety_vote_lost")


def test_numbers_of_nobody_count_for_nothing(tmp_path: Path) -> None:
    """R-1: the risk of 100 that stands in for a lost vote is nobody's estimate."""
    _, made = held(tmp_path / "run", "documented", frozenset({"utility"}))
    assert (made.decision, made.metadata["max_risk"]) == ("ACT", "10.0000")
    assert made.metadata["lost_votes"] == "utility"


def vote(agent: str, decision: str, **more: Any) -> dict[str, Any]:
    return {"agent": agent, "decision": decision, "confidence": 90, "risk": 10} | more


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("agent", ["safety", "Safety Agent", "SAFETY"])
@pytest.mark.parametrize("decision", ["ACT", "WARN", "REFUSE", "VETO", None])
def test_the_function_never_acts_on_a_lost_vote_of_safety(rules: str, agent: str, decision: Any) -> None:
    """R-1: whatever a lost ballot of safety says, and however many others act."""
    for others in range(6):
        acts = [vote(f"agent {n}", "ACT") for n in range(others)]
        made = aggregate_votes([*acts, vote(agent, decision, fallback=True)], rules)
        assert made.decision == "REFUSE"
        assert made.metadata["lost_votes"] == [agent]


@pytest.mark.parametrize("rules", RULES)
def test_a_lost_vote_of_another_view_is_never_an_act(rules: str) -> None:
    """R-1: a lost ballot counts as REFUSE whatever it says; a flag that is none counts as lost."""
    given = [vote("safety", "ACT"), vote("accuracy", "WARN")]
    for flag in (True, 1, "yes", None):
        made = aggregate_votes([*given, vote("utility", "ACT", fallback=flag)], rules)
        assert made.decision != "ACT"
        assert made.metadata["vote_breakdown"] == {"ACT": 1, "WARN": 1, "REFUSE": 1}


ACT, WARN = (90, 10), (50, 10)


@pytest.mark.parametrize(
    ("utility", "accuracy", "safety", "lost", "sides", "disputed"),
    [
        (ACT, ACT, ACT, "", {}, 0),
        (WARN, ACT, ACT, "", {"accuracy": 1, "safety": 1}, 1),
        (ACT, ACT, ACT, "utility", {}, 0),
        ((20, 10), (50, 10), (90, 60), "", {}, 0),  # two refuse and one vetoes
        ((20, 10), ACT, (90, 40), "", {"safety": 1}, 1),
        (ACT, (50, 10), ACT, "utility", {"accuracy": 1}, 1),  # the lost vote refuses, but is no side
    ],
)
def test_the_sides_are_the_views_that_the_ruling_followed(
    utility: tuple[int, int],
    accuracy: tuple[int, int],
    safety: tuple[int, int],
    lost: str,
    sides: dict[str, int],
    disputed: int,
    tmp_path: Path,
) -> None:
    session = begin(tmp_path / "run", "tribunal", {"voting": "documented"})
    numbers = {"utility": utility, "accuracy": accuracy, "safety": safety}
    while asked := session.pending():
        step, brief = asked[0].step, asked[0].brief
        if step.id == f"r3.revise.{lost}":
            session.give_up(step.id, "unavailable", "no reply")
            continue
        content = orjson.loads(reply(session.book(), step, brief.saw))
        if step.task != "challenge":
            content |= dict(zip(("confidence", "risk"), numbers[step.role], strict=True))
        session.submit(step.id, orjson.dumps(content), Answer(seat="host", isolation="trusted"))
    value = value_of("run", session.book())
    assert (value.sided_with, value.disagreements) == (sides, disputed)
