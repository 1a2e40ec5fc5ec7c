"""The scorer of the gate: agreement, and questions that deserve more than one reply."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks.gate import kappa, main, too_small
from benchmarks.gate.labeled import HERE, NAMES, Question, questions
from benchmarks.gate.learn import training
from rounds.setup.gate import GateQuestion, gate


def written(directory: Path, kinds: dict[str, str], name: str) -> None:
    lines = [json.dumps({"id": identity, "kind": kind}) for identity, kind in kinds.items()]
    (directory / name).write_text("\n".join(lines) + "\n")


def test_no_held_out_question_is_learned_from() -> None:
    learned = {row.question for row in training()}
    assert len(learned) > 5000
    assert [row.id for row in questions() if row.text in learned] == []
    assert {row.kind for row in training()} == set(NAMES)


def test_held_out_questions_have_their_sources_and_nothing_that_hints_at_an_answer() -> None:
    rows = [json.loads(line) for line in (HERE / "questions.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == [f"n{n:03}" for n in range(1, 161)]
    assert all(set(row) == {"id", "question", "source"} for row in rows)
    assert len({row["question"] for row in rows}) == len(rows)
    assert all(row["source"].startswith(("https://", "http://")) for row in rows)


def test_kappa_is_cohens() -> None:
    pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    assert kappa(pairs) == pytest.approx(0.4)
    assert kappa([("a", "a"), ("b", "b")]) == 1.0
    assert kappa([("a", "a")]) == 1.0
    assert kappa([("a", "b"), ("b", "a")]) == -1.0


def test_it_scores_two_readers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The gate's own choices stand in for readers here: then it is right on all of them."""
    kinds = {row.id: gate(GateQuestion(row.text)).kind for row in questions()}
    written(tmp_path, kinds, "labels-1.jsonl")
    assert main([str(tmp_path)]) == 2
    written(tmp_path, kinds, "labels-2.jsonl")
    assert main([str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "readers agree on 160 of 160 (100%), Cohen's kappa 1.00" in told
    assert "right protocol on 160 of 160 (100%)" in told
    assert told.endswith("deserves more: 0\n")


def test_the_pages_have_the_figures_that_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    """The page had kept those of the table before."""
    main([])
    printed = capsys.readouterr().out
    small, right = (
        re.search(rf"{words} (\d+) of (\d+)", printed) for words in ("one reply for", "right protocol on")
    )
    assert small is not None
    assert right is not None
    screening = Path("docs/screening.md").read_text("utf-8")
    assert f"On {right[2]} questions" in screening
    assert f"two independent readers name on {right[1]} (" in screening
    assert f"{small[1]} of {small[2]} get a single reply" in screening
    readme = (HERE / "README.md").read_text("utf-8")
    assert f"**{right[1]}** (" in readme
    assert f"Of {small[2]} in `stakes.jsonl`" in readme


def test_every_question_that_deserves_more_than_one_reply_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = {row.id: gate(GateQuestion(row.text)).kind for row in questions()}
    small = [identity for identity, kind in kinds.items() if kind in ("look-up", "chore")]
    written(tmp_path, kinds, "labels-1.jsonl")
    written(tmp_path, kinds | dict.fromkeys(small[:2], "decision"), "labels-2.jsonl")
    assert main([str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "deserves more: 2\n" in told
    assert all(f"  {identity} {kinds[identity]} / decision: " in told for identity in small[:2])


def test_one_reader_is_enough_to_say_so() -> None:
    asked = [Question("q1", "What does exit code 137 mean?")]
    chosen = {"q1": gate(GateQuestion(asked[0].text))}
    assert too_small(asked, chosen, [{"q1": "look-up"}, {"q1": "chore"}]) == []
    assert too_small(asked, chosen, [{"q1": "look-up"}, {"q1": "decision"}]) == asked


@pytest.mark.parametrize(
    ("change", "says"),
    [({"n001": "opinion"}, "no kind 'opinion'"), ({"n999": "text"}, "n999"), (None, "n001")],
)
def test_labels_that_cannot_be_used_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, str] | None, says: str
) -> None:
    kinds = dict.fromkeys((row.id for row in questions()), NAMES[0])
    written(tmp_path, kinds, "labels-1.jsonl")
    if change is None:
        del kinds["n001"]
    written(tmp_path, kinds | (change or {}), "labels-2.jsonl")
    assert main([str(tmp_path)]) == 2
    assert says in capsys.readouterr().err
    with (tmp_path / "labels-1.jsonl").open("a") as file:
        file.write('{"id": "n002", "kind": "text"}\n')
    assert main([str(tmp_path)]) == 2
    assert "n002 has a label already" in capsys.readouterr().err


def test_the_page_for_readers_explains_every_kind() -> None:
    page = (Path("benchmarks/gate") / "LABELING.md").read_text("utf-8")
    assert all(f"| `{name}` |" in page for name in NAMES)
