"""A memo's answer: empty, contradictory and invented ones are refused, by option id."""

from __future__ import annotations

import pytest

from ledger.events.answers import MemoSentence
from roles.memo.checks import CitedText, MemoAnswer, MemoContext, memo_problems
from roles.outcome_status import OutcomeStatus

OPTIONS = {"O-1": "Kafka", "O-2": "NATS", "O-3": "a table in PostgreSQL", "none": "none of the options"}
CITED = {
    "S-1-B-critic#reason-1": CitedText(("It is simple to run.",)),
    "C-1-1": CitedText(("It keeps order.",), "claim", "reproduced"),
    "C-1-2": CitedText(("It keeps order.",), "claim", None),
}


def problems(
    *texts: str, option: str = "O-1", why: str | None = None, ref: str = "S-1-B-critic#reason-1"
) -> set[str]:
    sentences = [MemoSentence(field="answer", text=text, refs=(ref,)) for text in texts]
    context = MemoContext(
        answer=MemoAnswer(option, why, "O-1", OPTIONS),
        status=OutcomeStatus.YOUR_CALL,
        question="Kafka or NATS or a table in PostgreSQL?",
        cited=CITED,
    )
    return {one.code for one in memo_problems(sentences, context)}


def test_the_leaders_answer_is_accepted() -> None:
    assert problems("Use Kafka.") == set()
    assert problems("Use Kafka rather than NATS.") == set()
    assert problems("Take the first one.") == set()


@pytest.mark.parametrize("text", ["...", "–", "!?", "   ."])
def test_an_answer_without_words_is_refused(text: str) -> None:
    assert "says_nothing" in problems(text)
    assert "says_nothing" in problems("Use Kafka.", text)


@pytest.mark.parametrize("text", ["Use NATS.", "use nats!", "Put it into a table in PostgreSQL."])
def test_an_answer_that_names_another_option_is_refused(text: str) -> None:
    assert problems(text) == {"other_option"}
    assert problems("Use Kafka.", text) == {"other_option"}  # the second sentence contradicts the first


@pytest.mark.parametrize(
    "text",
    [
        "Do not use Kafka.",
        "Use NATS, not Kafka.",
        "Avoid Kafka.",
        "Take NATS instead of Kafka.",
        "Don't use Kafka.",
    ],
)
def test_an_answer_that_rules_its_own_option_out_is_refused(text: str) -> None:
    assert problems(text) == {"other_option"}
    assert problems("Use Kafka.", text) == {"other_option"}


def test_an_answer_in_the_words_of_another_option_is_refused() -> None:
    assert problems("Use the table.") == {"other_option"}
    assert problems("Use the table.", option="O-3", why="It is there already.") == set()
    assert problems("Use the broker with the log, and no table.") == {"other_option"}
    assert problems("Use Kafka.", "The table can follow later.") == set()


@pytest.mark.parametrize(
    "text", ["Use Kafka, not NATS.", "If order does not matter to you, use Kafka.", "Never mind NATS: Kafka."]
)
def test_an_answer_may_rule_the_others_out(text: str) -> None:
    assert problems(text) == set()


def test_another_option_than_the_leader_needs_a_reason() -> None:
    assert problems("Use NATS.", option="O-2") == {"not_the_leader"}
    assert problems("Use NATS.", option="O-2", why="...") == {"not_the_leader"}
    assert problems("Use NATS.", option="O-2", why="The team knows it.") == set()
    assert problems("Use Kafka.", why="The team knows it.") == {"not_the_leader"}


@pytest.mark.parametrize("option", ["O-9", "Kafka", ""])
def test_an_option_that_does_not_exist_is_refused(option: str) -> None:
    assert "option_unknown" in problems("Use it.", option=option)


@pytest.mark.parametrize(
    "text",
    [
        "A test was run and it held.",
        "We ran it twice and it kept order.",
        "The program showed that order is kept.",
        "An experiment confirmed it.",
        "The benchmark passed.",
        "It was tested, and it passed.",
        "Tests show no lost line.",
        "We tested it and nothing was lost.",
    ],
)
def test_a_test_that_was_not_made_is_refused(text: str) -> None:
    assert "test_not_made" in problems(text)
    assert "test_not_made" in problems(text, ref="C-1-2")
    assert "test_not_made" not in problems(text, ref="C-1-1")


@pytest.mark.parametrize(
    "text",
    [
        "No test was run.",
        "Run a test before you switch.",
        "If a test held, this would change.",
        "The test should be run first.",
        "It was never measured.",
        "The company ran out of money.",
        "Write a script that proves it.",
        "It was not tested, and no test shows otherwise.",
    ],
)
def test_tests_that_are_missing_or_wanted_may_be_named(text: str) -> None:
    assert "test_not_made" not in problems(text)
