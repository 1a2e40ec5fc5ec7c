"""The questions that are decided by running: complete, fair to readers, and the quick ones decided again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.runnable.questions import (
    FOLDER,
    Rerun,
    answer,
    differences,
    keys,
    paper,
    questions,
    recorded,
    rerun,
)
from benchmarks.runnable.scores import contested, read_answers, scores
from rounds.setup.deliberation import parse

ALL = {question.name: question for question in questions()}
QUICK = ("q02", "q03", "q05", "q12", "q16", "q18", "q19", "q23", "q24", "q26")
WORDS_MAX = 120


def named(beginning: str) -> str:
    return next(name for name in ALL if name.startswith(beginning))


def test_every_question_has_options_documents_an_output_and_a_key() -> None:
    known = keys()
    assert len(ALL) >= 20
    assert set(known.answers) == set(ALL)
    assert known.measured <= set(ALL)
    for name, question in ALL.items():
        assert list(question.options) == [f"O-{n}" for n in range(1, len(question.options) + 1)]
        assert len(question.options) in (3, 4)
        assert len(question.text.split()) <= WORDS_MAX
        assert question.documents
        assert answer(recorded(name)) == known.answers[name]


def test_no_option_is_right_much_more_often_than_another() -> None:
    counted = Counter(keys().answers.values())
    assert set(counted) == {"O-1", "O-2", "O-3", "O-4"}
    assert max(counted.values()) <= len(ALL) / 3


def test_the_paper_has_no_key() -> None:
    for name in ALL:
        assert recorded(name) not in paper()
        assert (FOLDER / name / "truth.py").read_text("utf-8") not in paper()
    assert "answer:" not in paper()


def test_scores_agree_with_a_count_by_hand() -> None:
    names = contested()
    assert len(names) == 20
    known, by_name = keys().answers, {one.reader: one for one in scores(names)}
    for reader, answered in read_answers().items():
        assert all(sum(points.values()) == 100 for points in answered.values()), reader
        picks = {name: sorted(answered[name[:3]].items(), key=lambda one: -one[1])[0][0] for name in names}
        assert by_name[reader].right == sum(picks[name] == known[name] for name in names)
    assert 0 <= by_name["pooled"].brier <= 2


@pytest.mark.parametrize("beginning", QUICK)
def test_a_truth_decides_again_as_recorded(beginning: str) -> None:
    name = named(beginning)
    assert differences(name, rerun(name), keys()) == []


def test_another_answer_and_another_output_are_seen() -> None:
    name = named("q02")
    right = recorded(name)
    wrong = right.replace("answer: O-4", "answer: O-1")
    assert wrong != right
    assert differences(name, Rerun("O-1", wrong, 0.0), keys()) == [
        "answer O-1, key O-4",
        "output differs from the recorded one",
    ]
    with pytest.raises(ValueError, match="last line"):
        answer("no answer\n")


@pytest.mark.parametrize(
    "path", sorted(FOLDER.glob("*/deliberation.toml")), ids=lambda path: path.parent.name
)
def test_a_deliberation_file_asks_the_question_with_its_options(path: Path) -> None:
    question = ALL[path.parent.name]
    asked = parse(path.read_bytes()).deliberation
    said = [text.replace("`", "") for text in question.options.values()]
    assert asked.options == tuple(said)
    assert {document.path for document in parse(path.read_bytes()).context} == set(question.documents)
