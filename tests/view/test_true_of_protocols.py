"""Sentences of an outcome that were untrue or left something out in one protocol, held against its scripted runs.

Of `moot/view/judgements.py`, `moot/view/objections.py`, `moot/view/questions.py`, `moot/view/reasons.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from roles.protocol import Step
from tests.view.test_true_outcomes import ended, played


def scoring(totals: dict[int, tuple[int, int]]) -> Any:
    """Scores of both options of a round, the same in every criterion: of the first by name, of the second."""

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "scoring":
            scores = totals[step.name.round]
            first = min(row["option"] for row in made["scores"])
            for row in made["scores"]:
                row["score"] = scores[row["option"] != first]

    return change


def test_every_judgement_that_leaves_its_own_scores_is_named(tmp_path: Path) -> None:
    """Rounds 5 and 6 compare options that are not recommended in the end."""
    # The script recommends the first of each pair, in even rounds the later one by name.
    _, found = played(tmp_path, "comparative", scoring(dict.fromkeys(range(1, 7), (4, 2))))
    assert found.how_sure.endswith(" than the one that it recommends in D-2-1, D-4-1, D-6-1.")


def test_a_leader_that_loses_where_both_were_compared_is_said_to(tmp_path: Path) -> None:
    lost = "; in the rounds that compare the two, O-2 scores higher."
    # O-1 leads by its rounds against O-3, and O-2 is behind by its own.
    scores = {1: (3, 4), 2: (3, 3), 3: (5, 1), 4: (5, 1), 5: (2, 2), 6: (2, 2)}
    _, found = played(tmp_path / "lost", "comparative", scoring(scores))
    (point,) = [point for point in found.why if "ahead" in point.text]
    assert point.text.startswith("By the judge's scores O-1 is ahead of O-2 in ")
    assert point.text.endswith(lost)
    _, even = played(tmp_path / "even", "comparative", scoring(scores | {2: (4, 3)}))
    assert all(lost not in point.text for point in even.why)


def test_a_ruling_by_one_view_s_confidence_has_that_view_as_its_reason(tmp_path: Path) -> None:
    """Safety votes ACT and is 12 percent sure; accuracy alone votes the way of the ruling."""
    numbers = {"utility": (60, 32), "accuracy": (32, 16), "safety": (12, 29)}

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "revise":
            made["confidence"], made["risk"] = numbers[step.role]

    _, found = played(tmp_path, "tribunal", change, rules={"voting": "shipped"})
    assert found.answer.startswith(
        "REFUSE by the rule low confidence of safety (1 of 3 last votes are REFUSE). safety: reasons of r3 revise safety"
    )
    assert [point.refs for point in found.why] == [["VO-3-2-safety"], ["VO-3-2-accuracy"]]
    assert [one.role for one in found.dissent] == ["utility"]
    assert found.objection is not None
    assert found.objection.ref == "VO-3-2-utility"


def test_the_first_thing_to_do_is_no_alternative_to_nothing(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "tribunal", {"r3.revise.safety"})
    assert [point.text.partition(":")[0] for point in found.do_now] == ["To ask again"]
