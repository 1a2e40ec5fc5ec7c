"""The outcome block against what ledgers say, read by hand, and what it owes to every run.

Of `moot/view/outcome_text.py`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from ledger.events import Concern, Decision, Memo
from ledger.state.decided import final_in_force
from moot.api import open_run
from moot.view.grounds import rests_on
from moot.view.judgements import named
from moot.view.outcome import Outcome, outcome_of
from moot.view.outcome_text import LINES, WORDS, outcome_lines, outcome_markdown
from moot.view.show import show_of, show_text, why_of, why_text
from rounds.protocols import PROTOCOLS
from tests.long_run import FORK, NAME, long_run
from tests.protocols.playing import begin, play, played
from tests.recorded import recorded_names, run_of


class Read(NamedTuple):
    """What a person reads in a ledger: status, how the answer begins, how sure, who dissents, questions, reasons."""

    status: str
    answer: str
    sure: str
    dissent: tuple[str, ...] = ()
    questions: int = 0
    why: tuple[str, ...] = ()


STATED = "Confidence {} of 5, as stated"
LONG = {
    NAME: Read(
        "decided",
        "Use O-2 (one journal with a hash chain).",
        STATED.format(4),
        questions=9,
    ),
    FORK: Read(
        "running",
        "Not final: The team keeps O-2 (one journal with a hash chain)",
        STATED.format(4),
        questions=7,
    ),
}
"""The long scripted runs, and what their ledgers say: read in the ledger and not in the program's output."""
SCRIPTED = {
    "adversarial": Read(
        "decided",
        "approve with conditions: decision of r1 verdict judge",
        STATED.format(3),
        why=("R-1-1",),
    ),
    "comparative": Read(
        "decided",
        "Recommended: O-1 (three streams).",
        "Computed by the rule of the protocol",
        dissent=("judge, round 2", "judge, round 4"),
    ),
    "council": Read(
        "your_call", "3 members, naming no option.", "Stated confidence, of 5: 3 (D-1-1, D-1-2, D-1-3)."
    ),
    "crux": Read(
        "decided",
        "Use three streams.",
        "81% for O-1",
        dissent=("guardian",),
        why=("C-1-1", "S-1-B-action#reason-1"),
    ),
    "cross-examination": Read(
        "decided",
        "decision of r1 assessment examiner",
        STATED.format(3),
        why=("Y-1-2", "Y-1-4", "Y-1-6"),
    ),
    "debate": Read("decided", "recommendation of r1 judging judge", STATED.format(4), why=("R-1-6",)),
    "devils-advocate": Read("decided", "keep it", STATED.format(4), why=("Y-1-1", "Y-1-4")),
    "jugalbandi": Read("decided", "build it", STATED.format(4), why=("X-1-1", "X-1-4")),
    "panel": Read("decided", "ready: decision of r1 verdict judge", STATED.format(4)),
    "priority": Read(
        "your_call",
        "Order by the sum of both lenses: 1. O-1 (three streams)",
        "Computed by the rule of the protocol",
        questions=2,
        why=("R-1-1", "R-1-2"),
    ),
    "ratchet": Read("decided", "it is settled", "No confidence is stated", why=("X-1-1", "X-1-3")),
    "single-pass": Read("decided", "do it", STATED.format(3), why=("X-1-1", "X-1-3")),
    "tribunal": Read(
        "decided",
        "ACT by the rule unanimous (3 of 3 last votes are ACT).",
        "Computed by the documented rules",
        why=("VO-3-2-accuracy", "VO-3-2-safety", "VO-3-2-utility"),
    ),
}
"""Scripted runs by protocol, read in the same way; `tests/protocols/scripts.py` has the words."""


def of(name: str) -> Outcome:
    return outcome_of(name, open_run(run_of(name)).book)


def of_played(protocol: str, **rules: str) -> Outcome:
    return outcome_of(protocol, open_run(played(protocol, **rules)).book)


@pytest.mark.parametrize("protocol", SCRIPTED)
def test_a_run_with_a_space_in_its_name_is_quoted_in_every_command(protocol: str) -> None:
    found = outcome_of("my run", open_run(played(protocol)).book)
    for text in (
        "\n".join(outcome_lines(found, "my run", 200)),
        "\n".join(outcome_markdown(found, "my run")),
    ):
        assert "'my run'" in text
        assert "my run" not in text.replace("'my run'", "")


def test_the_tables_have_every_protocol() -> None:
    assert {"structured", *SCRIPTED} == set(PROTOCOLS)


@pytest.mark.parametrize("name", LONG)
def test_a_run_comes_to_what_its_ledger_says(name: str) -> None:
    _agrees(of(name), LONG[name])


@pytest.mark.parametrize("protocol", SCRIPTED)
def test_a_scripted_run_comes_to_what_its_ledger_says(protocol: str) -> None:
    _agrees(of_played(protocol), SCRIPTED[protocol])


def _agrees(found: Outcome, read: Read) -> None:
    assert found.status == read.status
    assert found.answer.startswith(read.answer)
    assert found.how_sure.startswith(read.sure)
    assert tuple(one.role for one in found.dissent) == read.dissent
    assert sum(len(one.ids) for one in found.needs_you) == read.questions
    if read.why:
        assert tuple(one.refs[0] for one in found.why) == read.why


@pytest.mark.parametrize("name", recorded_names())
def test_answer_and_questions_are_those_of_the_ledger(name: str) -> None:
    """Read in the events: the first final decision, and what a person was asked and nobody answered."""
    book = open_run(run_of(name)).book
    found = of(name)
    asked = {one.id for one in book.of(Concern) if one.for_human} - book.state.resolved
    told = {identity for one in found.needs_you for identity in one.ids if identity in book.state.concerns}
    assert told <= asked
    assert bool(told) == bool(asked)
    if book.state.finished:
        assert found.status not in ("running", "waiting", "stopped", "nobody_answered")
    else:
        assert found.status in ("running", "waiting", "stopped")
    finals = [event for event in book.of(Decision) if event.id in final_in_force(book.state)]
    if finals and book.state.opening.protocol != "tribunal":  # its answer counts the votes instead
        assert set(re.findall(r"\w+", finals[0].text)) <= set(re.findall(r"\w+", found.answer))


@pytest.mark.parametrize("name", recorded_names())
@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_block_fits_and_says_where_the_rest_is(name: str, width: int) -> None:
    found = of(name)
    lines = outcome_lines(found, name, width)
    assert max(map(len, lines)) <= width
    if width == 100:
        assert len(lines) <= LINES
        body = lines[lines.index(next(one for one in lines if one.startswith("answer"))) :]
        until = next(n for n, one in enumerate(body) if one.startswith("trust"))
        assert len(" ".join(body[:until]).split()) <= WORDS + 20  # labels are no words of the outcome
    if any("…" in line for line in lines[:-3]):
        assert f"moot show {name} ID" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize("name", recorded_names())
def test_no_quote_stands_at_another_claim(name: str) -> None:
    """A quote shown with a reason stands in the evidence of that very thing, or of a test of it alone."""
    book = open_run(run_of(name)).book
    under = {ground.id: ground for event in book.of(Decision) for ground in rests_on(book, event)}
    for point in of(name).why:
        if point.quote is not None and (memos := book.of(Memo)):
            written = [one for memo in memos for one in memo.sentences if one.text == point.text]
            assert point.quote in [one.quote for one in written]
        elif point.quote is not None:
            ground = under[point.refs[0]]
            assert point.quote in [quote.words for one in (ground, *ground.under) for quote in one.quotes]


def test_a_reason_is_told_as_what_it_was_said_of() -> None:
    """An objection to a draft is no fact about the answer; a vote's number is that of the ballot it was given in."""
    assert of_played("jugalbandi").why[0].text.startswith("Objection, taken up: STRUCTURAL 0")
    assert of_played("single-pass").why[0].text.startswith("Own objection, taken up: flaw 0")
    answered = of_played("cross-examination", analysts="2").why[0].text
    assert answered == "Held when questioned in X-1-2: answer of r1 answering analyst_1"
    assert "(ACT, risk 10 of 100; ACT, risk 10 in the first ballot)" in of_played("tribunal").why[0].text


def test_a_scorecard_is_the_mean_of_all_judgements() -> None:
    """Each of the six pairings is judged twice, in both orders."""
    (card, *_) = of_played("comparative").why
    assert len(card.refs) == 8


def test_what_is_still_open_is_said_against_a_verdict() -> None:
    """The judge finds three of the concerns genuine, and says of one that is a stretch that nothing met it."""
    found = of_played("adversarial")
    assert found.objection is not None
    assert found.objection.line == (
        "challenger: concern 3 of r1 attack challenger [judge: genuine, 5 of 5 (severity 2 of 5 by its"
        " author); of N-1-2, which the challenger"
        " ranks first: a stretch, 2 of 5] (N-1-5; others: N-1-4, N-1-3)"
    )
    assert [point.refs for point in found.not_settled] == [["D-1-1"], ["N-1-1"]]


def test_a_verdict_by_rule_hangs_on_what_the_judgement_under_it_does() -> None:
    assert {point.refs[0] for point in of_played("comparative").changes_our_mind} == {"D-1-1"}


def test_an_option_that_nobody_listed_is_no_majority(tmp_path: Path) -> None:
    """Each member's own O-1 is another thing: labels that the opening does not define are not counted."""
    session = begin(tmp_path / "run", "council")
    play(session)
    assert " say O-" not in outcome_of("run", session.book()).answer


def test_markdown_has_the_same_rows() -> None:
    text = "\n".join(outcome_markdown(of_played("debate"), "debate"))
    for word in (
        "**DECIDED: no option named**",
        "**Answer.**",
        "**How sure.**",
        "**Why**",
        "**Trust.**",
        "**Looked at.**",
    ):
        assert word in text
    assert len(text.splitlines()) < 60


def test_options_are_named_once_in_the_askers_words() -> None:
    book = open_run(long_run()).book
    assert named(book, "Not O-2 (a journal), but O-3, and O-3 again.") == (
        "Not O-2 (a journal), but O-3 (one SQLite database), and O-3 again."
    )
    assert named(book, "Numbers (O-3)") == "Numbers (O-3: one SQLite database)"


def test_a_run_that_goes_on_says_so(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "adversarial")
    found = outcome_of("run", session.book())
    assert (found.status, found.answer) == ("running", "Nothing is decided yet.")
    assert not found.why
    session.stop("human")
    assert outcome_of("run", session.book()).status == "stopped"


def test_an_override_stands_in_the_place_of_what_it_overturned(tmp_path: Path) -> None:
    from rounds.run.human_actions import override

    session = begin(tmp_path / "run", "adversarial")
    play(session)
    override(session, "D-1-1", "Build neither before the audit.")
    found = outcome_of("run", session.book())
    assert found.answer == "Build neither before the audit."
    assert found.how_sure.startswith("Decided by a person in place of D-1-1.")


def test_an_override_is_told_of_both_decisions_and_of_no_other(tmp_path: Path) -> None:
    from rounds.run.human_actions import override

    session = begin(tmp_path / "run", "adversarial")
    play(session)

    def told(identity: str) -> list[str]:
        book = session.book()
        return [
            line
            for line in show_of("run", book, book.by_id[identity]).history
            if not line.startswith("took ")
        ]

    assert told("D-1-1") == []
    override(session, "D-1-1", "Build neither before the audit.")
    later = final_in_force(session.book().state)[-1]
    assert told("D-1-1") == [f"overturned; {later} stands in its place"]
    assert told(later) == ["stands in the place of D-1-1"]


def test_only_a_question_of_more_than_three_lines_is_cut_and_names_the_whole() -> None:
    found = of_played("adversarial")

    def asked(words: int) -> str:
        return "\n".join(outcome_lines(msgspec.structs.replace(found, question="why " * words), width=80))

    assert "(moot log RUN @0)" not in asked(60)
    assert asked(60).startswith("why " * 19)
    assert "why … (moot log RUN @0)" in asked(61)


@pytest.mark.parametrize("name", recorded_names())
def test_what_ends_in_an_ellipsis_names_the_thing_that_has_it_whole(name: str) -> None:
    """Each such row holds an id whose `show`, or for a quote `why`, has the words, or the command that prints them."""
    ours = open_run(run_of(name)).book
    found = outcome_of(name, ours)
    for width in (60, 80, 120, 200):
        block = " ".join(" ".join(outcome_lines(found, name, width)).split()).partition(" in full ")[0]
        for place in re.finditer(r"[^…]{40}(?= …)", block):
            rest = block[place.end() : place.end() + 160]
            if re.match(r" … \(moot (?:decisions|log) ", rest):
                continue
            ids = re.findall(r"[(;,] ?(?:whole: )?([A-Z]{1,2}-\d[\w~-]*)", rest[: rest.index(")") + 1])
            ids = [
                one for one in ids if one in ours.by_id
            ]  # a document is quoted, and has no words of its own
            texts = [show_text(show_of(name, ours, ours.by_id[one]), 10_000) for one in ids]
            if at := re.match(r" … \(@(\d+)\)", rest):
                texts.append(show_text(show_of(name, ours, ours.events[int(at[1])]), 10_000))
            texts += [
                why_text(why_of(name, ours, one, everything=True), 10_000) for one in ids if rest[2:3] == "”"
            ]
            last = " ".join(place[0].rpartition(" / ")[2].split()[-3:])  # " / " stands between listed texts
            assert any(last in " ".join(text.split()) for text in texts), f"{place[0]}{rest}"


def test_a_rule_tells_the_confidence_of_the_judge_under_it() -> None:
    """`comparative` said that nobody states a confidence, and its judge states 3 of 5 each time."""
    stated = "each for its own recommendation, of 5: 3 (D-1-1, D-2-1, D-3-1 and 3 more)."
    assert stated in of_played("comparative").how_sure
    assert of_played("priority").how_sure.startswith("Computed by the rule of the protocol. Of ")
