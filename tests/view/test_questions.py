"""Questions to a person: merged where one asks what another asks, in any script and in a long run.

Of `moot/view/questions.py` and `rounds/run/same_question.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from ledger.events import Argument, Concern, Decision
from ledger.state.book import Book
from moot.api import open_run
from moot.view.outcome import Outcome, outcome_of
from moot.view.outcome_text import outcome_text
from moot.view.questions import SHOWN, asked_of_you
from roles.protocol import Step
from rounds.protocols.sides import is_given_up
from rounds.run.same_question import covers
from tests.long_run import QUESTIONS, long_run
from tests.protocols.changing import changed_run
from tests.protocols.playing import begin, play
from tests.recorded import recorded_names, run_of

SAME: Final = (
    ("Who runs R1, R3 and R7, on which file systems, and by when?", "WHO RUNS R1 AND R3, AND BY WHEN?"),
    ("Öffnet die Ausleihe gesperrte Karten am Montag?", "ÖFFNET DIE AUSLEIHE GESPERRTE KARTEN?"),
    ("Кто запускает проверку на втором сервере, и когда?", "КТО запускает проверку на втором сервере?"),
    ("这台服务器的备份由谁负责，什么时候做？", "这台服务器的备份由谁负责？"),
    ("Ποιος πληρώνει τις κάρτες των μελών φέτος;", "ΠΟΙΟΣ ΠΛΗΡΏΝΕΙ τις κάρτες των μελών;"),
)  # fmt: skip
OTHER: Final = (
    ("Is a fine under 10.00 waived for every card?", "Is a fine under 12.00 waived for every card?"),
    ("Who runs R1, and by when?", "Who runs R2, and by when?"),
    ("Does the desk take part payments?", "Does the desk take part payments, and who pays the postage of letters?"),
    ("这台服务器的备份由谁负责？", "那些读者的罚款由谁支付？"),
    ("Кто платит за карты?", "Кто запускает проверку на втором сервере?"),
    ("Why?", "When?"),
    (
        "Should the ledger keep deleted customer records after audits?",
        "Should the ledger drop deleted customer records after audits?",
    ),
    ("May the ledger not keep deleted customer records?", "May the ledger keep deleted customer records?"),
)  # fmt: skip


@pytest.mark.parametrize(("newer", "older"), SAME)
def test_the_same_question_in_any_script_is_one(newer: str, older: str) -> None:
    assert covers(newer, older)


@pytest.mark.parametrize(("newer", "older"), OTHER)
def test_another_number_name_or_thing_is_another_question(newer: str, older: str) -> None:
    assert not covers(newer, older)


def test_a_long_run_asks_at_most_five_and_merges_only_what_is_the_same() -> None:
    """Before its last answer: round 11 asked what round 8 had asked, which decides; the rest stand alone."""
    whole = open_run(long_run()).book
    answer = [event for event in whole.of(Decision) if event.type == "answer"][-1]
    book = whole.first(answer.seq)
    found = asked_of_you("run", book)
    ids = {event.text: event.id for event in book.of(Concern)}
    assert len(found) <= SHOWN
    assert [one.ids for one in found[:-1]] == [
        [ids[QUESTIONS[10]], ids[QUESTIONS[7]]],
        [ids[QUESTIONS[11]]],
        [ids[QUESTIONS[9]]],
        [ids[QUESTIONS[8]]],
    ]
    assert all(one.command == f"moot answer run {one.ids[0]} 'TEXT'" for one in found[:-1])
    asked = {str(one.id) for one in book.of(Concern) if one.for_human} - book.state.resolved
    told = [identity for one in found for identity in one.ids]
    assert sorted(told) == sorted(asked)  # each is somewhere, and once
    assert found[-1].text == f"{len(found[-1].ids)} older questions."


def test_one_question_that_was_asked_eight_times_leaves_no_more_questions(tmp_path: Path) -> None:
    """B-4: "5 more questions" beside the only question there is."""

    def escalated(_: Step, made: dict[str, Any]) -> None:
        for disposition in made.get("dispositions", []):
            disposition |= {"disposition": "escalated", "question": "Who pays for it?", "revision": None}

    book = changed_run(tmp_path / "run", "jugalbandi", escalated, rules={"rounds": "2"}).book()
    assert len([concern for concern in book.of(Concern) if concern.for_human]) == 8
    text = " ".join(outcome_text(outcome_of("run", book), "run").split())
    assert "Who pays for it? (N-2-4, N-2-3, N-2-2 and 5 more) to answer: moot answer run N-2-4" in text
    assert "more question" not in text


@pytest.mark.parametrize("name", recorded_names())
def test_every_run_keeps_to_five(name: str) -> None:
    assert len(asked_of_you(name, open_run(run_of(name)).book)) <= SHOWN


def lost_outcome(path: Path, protocol: str, *lost: str) -> tuple[Book, Outcome, str]:
    """Return the end of a run that lost these steps: its book, its outcome, and the block in one line."""
    book = play(begin(path / "run", protocol), lose=frozenset(lost))
    outcome = outcome_of("run", book)
    return book, outcome, " ".join(outcome_text(outcome, "run").split())


OPTIONS_NAMED = "one of O-1 (three streams), O-2 (one journal), O-3 (one database)"


@pytest.mark.parametrize(
    ("protocol", "lost", "choices", "words"),
    [
        (
            "panel",
            "r1.verdict.judge",
            "one of ready, targeted fixes, rethink",
            "Weigh 3 concerns (N-1-1 severity 5 marked by reviewer_2 and reviewer_3, N-1-2 severity 4, N-1-3 severity"
            " 2) of reviewer_1: finding 0",
        ),
        (
            "adversarial",
            "r1.verdict.judge",
            "one of approve, approve with conditions, reject",
            # The advocate's own blocker is no argument for the proposal.
            "Weigh 2 arguments (R-1-1, R-1-2), 1 blocker (N-1-1) of advocate: claim number 0",
        ),
        (
            "adversarial",
            "r1.verdict.judge",
            "one of approve, approve with conditions, reject",
            "Weigh 5 concerns (N-1-2 severity 5, N-1-3 severity 4, N-1-4 severity 3 and others) of challenger: concern",
        ),
        (
            "debate",
            "r1.judging.judge",
            # A side is for no option.
            "the side to follow: PRO or CON",
            # What a side concedes (X-1-3) and gives up (R-1-1) is no reason for it.
            "Weigh 1 closing (S-1-closing-pro), 2 arguments (R-1-2, R-1-3), 2 challenges, 2 responses of pro, which"
            " concedes 2 points: final position",
        ),
        (
            "devils-advocate",
            "r1.verdict.judge",
            "what becomes of the position: it is kept, changed or given up",
            "5 dispositions (X-1-1 addressed, X-1-2 partly addressed, X-1-3 deflected and others) of devils_advocate:",
        ),
        (
            "cross-examination",
            "r1.assessment.examiner",
            OPTIONS_NAMED,
            # Defended answers are shown with the text, and not only what was conceded.
            "Weigh 2 statements (S-1-answering-analyst_1, S-1-analysis-analyst_1), 2 responses (Y-1-1, Y-1-2) of"
            " analyst_1, which concedes 1 point: revised analysis of",
        ),
        (
            "jugalbandi",
            "r1.resolve.resolver",
            OPTIONS_NAMED,
            "Weigh 1 statement (S-1-plan-proposer) of proposer: ",
        ),
    ],
)
def test_a_lost_verdict_shows_what_there_is_to_decide_on(
    tmp_path: Path, protocol: str, lost: str, choices: str, words: str
) -> None:
    """The outcome said "what was handed in stands side by side", and showed none of it and no way to go on."""
    book, outcome, text = lost_outcome(tmp_path, protocol, lost)
    assert outcome.status == "nobody_answered"
    # A verdict on a proposal is a place on the run's scale.
    assert f"Choose {choices}." in text
    assert words in text
    refs = [ref for point in outcome.do_now for ref in point.refs if not ref.startswith("@")]
    assert all(ref.partition("#")[0] in book.by_id for ref in refs)
    assert "moot answer run N-" in text
    assert "go on moot fork run --round 1" in text


def test_what_a_side_gave_up_is_not_what_a_person_has_to_weigh_for_it(tmp_path: Path) -> None:
    """The first argument of each side was shown, which both closings of the script give up."""
    lost = ("r1.judging.judge", "r1.closing.pro")
    book, outcome, text = lost_outcome(tmp_path, "debate", *lost)
    pro, con = (next(p for p in outcome.do_now if f"of {side}" in p.text) for side in ("pro", "con"))
    given_up = {event.id for event in book.of(Argument) if is_given_up(book, event)}
    assert given_up == {"R-1-4"}
    assert not given_up.intersection(pro.refs + con.refs)
    assert con.refs[0] == "S-1-closing-con"
    # Without a closing the strongest that a side has are its arguments.
    assert pro.refs[0] == "R-1-1"
    assert "of con, which concedes 2 points: final position" in text


def test_lost_last_votes_leave_the_first_ones_to_weigh(tmp_path: Path) -> None:
    """Options were named to choose from, which no vote is about, and challenges without the votes that they are of."""
    lost = [f"r3.revise.{view}" for view in ("utility", "accuracy", "safety")]
    _, outcome, text = lost_outcome(tmp_path, "tribunal", *lost)
    assert outcome.status == "nobody_answered"
    assert "Choose one of ACT, WARN, REFUSE." in text
    assert "Weigh 1 vote (VO-1-1-utility ACT), 2 challenges (X-2-1, X-2-2) of utility: reasons of r1" in text


def test_many_ids_leave_room_for_the_words(tmp_path: Path) -> None:
    _, _, text = lost_outcome(tmp_path, "comparative", *(f"r{n}.scoring.judge" for n in range(1, 7)))
    assert "Weigh 42 arguments (R-1-1, R-1-2, R-1-3 and others), 18 concerns (" in text
    assert "of advocate_a: claim on" in text


def test_a_run_that_ends_early_names_what_was_never_asked(tmp_path: Path) -> None:
    lost = [f"r1.findings.reviewer_{n}" for n in (1, 2, 3)]
    _, outcome, text = lost_outcome(tmp_path, "panel", *lost)
    assert "never asked for: crossing, verdict" in outcome.status_why
    assert outcome.do_now == []
    assert "go on moot fork run --round 1" in text
