"""Every short protocol: to its end, in any order of arrival, with any one reply lost, and again from its ledger.

Of `rounds/protocols/adversarial.py`, `rounds/protocols/comparative.py`, `rounds/protocols/cross_examination.py`,
`rounds/protocols/devils_advocate.py`, `rounds/protocols/priority.py`, `rounds/protocols/ratchet.py`,
`rounds/protocols/single_pass.py`, `rounds/protocols/tribunal.py`, `rounds/protocols/step_table.py`,
`rounds/protocols/citations.py`.
"""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from ledger.events import Decision, Ruling, Vote
from ledger.events.ids import parse_step
from ledger.state.book import Book
from moot.view.outcome import outcome_of
from roles.brief import derive
from roles.protocol import Step, loss_of
from roles.seats.port import Answer
from rounds.protocols import PROTOCOLS
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from tests.protocols.playing import VARIANTS, begin, events_of, play, variants_slow
from tests.protocols.scripts import SCRIPTS, Shown
from validators import rulebook

IDS = ["-".join([name, *(f"{rule}={value}" for rule, value in rules.items())]) for name, rules in VARIANTS]
ALL = pytest.mark.parametrize(("name", "rules"), VARIANTS, ids=IDS)
PLAIN_QUICK = pytest.mark.parametrize(("name", "rules"), variants_slow())
PLAIN = sorted(PROTOCOLS.keys() - {"structured"})


def is_sound(session: RunSession) -> None:
    """No finding at all, and the same ledger when it is executed again."""
    book = session.book()
    report = rulebook.check(book, session.verdicts.context())
    assert not report.findings, [finding.message for finding in report.findings]
    assert re_execute(book, session.protocol, session.controller).identical


def test_every_protocol_is_played() -> None:
    assert {name for name, _ in VARIANTS} == set(PLAIN)


@ALL
def test_runs_to_its_end(name: str, rules: dict[str, str], tmp_path: Path) -> None:
    session = begin(tmp_path / "run", name, rules)
    book = play(session)
    assert book.state.finished
    assert book.state.closing is not None
    assert book.state.closing.reason in ("protocol_end",)
    decided = [facts.type for facts in book.state.decisions.values()]
    assert ("final" in decided) == (name != "council")
    is_sound(session)


@pytest.mark.parametrize(
    "name", [name for name in PLAIN if name not in ("crux", "ratchet", "priority", "tribunal")]
)
def test_whoever_decides_says_what_would_show_it_wrong(name: str, tmp_path: Path) -> None:
    decided = play(begin(tmp_path / "run", name)).of(Decision)
    judged = [one for one in decided if one.made_by not in ("rule", "human")]
    assert judged
    assert all(one.falsifiers for one in judged)
    asks = name in ("adversarial", "panel", "jugalbandi", "single-pass", "council")
    assert all(bool(one.requirements) == asks for one in judged)


@PLAIN_QUICK
@pytest.mark.parametrize("lost", ["none", "what decides", "every second"])
def test_the_order_of_arrival_changes_nothing(
    name: str, rules: dict[str, str], lost: str, tmp_path: Path
) -> None:
    session = begin(tmp_path / "whole", name, rules)
    steps = list(play(session).state.answered)
    lose = frozenset(
        step
        for n, step in enumerate(steps)
        if (lost == "every second" and n % 2) or (lost == "what decides" and _decides(session, step))
    )
    first_to_last = play(begin(tmp_path / "one", name, rules), lose=lose)
    last_to_first = play(begin(tmp_path / "other", name, rules), lose=lose, order=-1)
    assert events_of(first_to_last) == events_of(last_to_first)


def _decides(session: RunSession, step: str) -> bool:
    name = parse_step(step)
    assert name is not None
    decides = loss_of(session.protocol.losses, name).decides
    return decides(session.book().state) if callable(decides) else decides


@pytest.mark.parametrize(
    ("name", "apart"),
    [(name, 5) for name in PLAIN if name != "comparative"]
    + [pytest.param(name, 1, marks=pytest.mark.slow) for name in PLAIN if name != "comparative"]
    + [pytest.param("comparative", 3, marks=pytest.mark.slow)]
    + [pytest.param("comparative", 1, marks=pytest.mark.campaign)],
)
def test_any_one_reply_can_be_lost(name: str, apart: int, tmp_path: Path) -> None:
    steps = list(play(begin(tmp_path / "whole", name)).state.answered)
    # The slow part is what the quick one, of every fifth step, leaves out.
    for n, step in enumerate(steps[-1::-apart]):
        if apart == 1 and n % 5 == 0 and name != "comparative":
            continue
        session = begin(tmp_path / str(n), name)
        book = play(session, lose=frozenset({step}))
        assert book.state.finished
        assert step in book.state.given_up
        assert book.state.quorum.actual < book.state.quorum.declared
        is_sound(session)


@pytest.mark.parametrize("name", PLAIN)
def test_everything_can_be_lost(name: str, tmp_path: Path) -> None:
    session = begin(tmp_path / "run", name)
    while asked := session.pending():
        session.give_up(asked[0].step.id, "unavailable", "nobody there")
    book = session.book()
    assert book.state.finished
    assert not [event for event in book.events if event.kind == "decision" and event.by != "controller"]
    is_sound(session)


@pytest.mark.parametrize("name", PLAIN)
def test_briefs_are_the_same_after_the_run(name: str, tmp_path: Path) -> None:
    session = begin(tmp_path / "run", name)
    before: dict[str, str] = {}
    while asked := session.pending():
        before |= {one.step.id: one.brief.sha256 for one in asked}
        play_one(session)
    book = session.book()
    for round_ in book.state.rounds:
        for group in session.protocol.groups(book.state, round_):
            for step in group.steps:
                again = derive(book, session.protocol, step, session.prompt_set)
                assert again.sha256 == before[step.id]


def play_one(session: RunSession) -> None:
    """Answer the first open step."""
    from tests.protocols.playing import submit

    submit(session, session.pending()[0])


def test_a_view_that_the_ruling_goes_against_is_named_with_its_reasons(tmp_path: Path) -> None:
    def disagreeing(book: Book, step: Step, shown: Shown) -> dict[str, object]:
        said = SCRIPTS["tribunal"](book, step, shown)
        return (
            said
            if "risk" not in said
            else said | {"risk": 5, "confidence": 20 if step.role == "accuracy" else 90}
        )

    session = begin(tmp_path / "run", "tribunal")
    while asked := session.pending():
        one = asked[0]
        shown = [event for event in session.book().events if event.seq in one.brief.saw]
        content = orjson.dumps(disagreeing(session.book(), one.step, shown))
        session.submit(one.step.id, content, Answer(seat="host", isolation="trusted"))
    book = session.book()
    (decision,), (ruling,) = book.of(Decision), book.of(Ruling)
    against = [vote for vote in book.of(Vote) if vote.ballot == 2 and vote.decision != ruling.decision]
    assert against
    assert [(one.ref, one.text) for one in decision.dissent] == [
        (vote.id, vote.reasoning) for vote in against
    ]
    told = [one.ref for one in outcome_of("run", book).dissent]
    assert told == [vote.id for vote in against]
    is_sound(session)
