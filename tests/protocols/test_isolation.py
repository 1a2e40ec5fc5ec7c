"""What a role must not see never reaches its brief (JB-24, XS-1, S4-10, AD-1): canaries, step by step."""

from __future__ import annotations

from pathlib import Path

import pytest

from rounds.protocols import PROTOCOLS
from tests.protocols.playing import begin, submit

CANARY = "CANARYQUESTION"
WITHOUT_QUESTION = {
    "jugalbandi": ("challenger", "resolver"),
    "devils-advocate": ("devils_advocate",),
    "ratchet": ("critic",),
}
"""Protocol → roles that never see what was asked."""


def briefs(path: Path, name: str, rules: dict[str, str] | None = None) -> dict[str, str]:
    """The text of every brief of a run, by step."""
    session = begin(path, name, rules)
    found: dict[str, str] = {}
    while asked := session.pending():
        found |= {one.step.id: one.brief.text for one in asked}
        submit(session, asked[0])
    return found


@pytest.mark.parametrize("name", sorted(PROTOCOLS.keys() - {"structured"}))
def test_the_question_reaches_only_those_who_may_see_it(name: str, tmp_path: Path) -> None:
    blind = WITHOUT_QUESTION.get(name, ())
    for step, text in briefs(tmp_path / "run", name).items():
        role = step.rpartition(".")[2].partition("~")[0]
        assert (CANARY in text) == (role not in blind), step


@pytest.mark.parametrize("name", sorted(PROTOCOLS.keys() - {"structured"}))
def test_steps_side_by_side_see_nothing_of_each_other(name: str, tmp_path: Path) -> None:
    session = begin(tmp_path / "run", name)
    while asked := session.pending():
        group = {one.step.id for one in asked}
        for one in asked:
            for other in group - {one.step.id}:
                assert f"of {other.replace('.', ' ')}" not in one.brief.text
        first = asked[0]
        submit(session, first)
        for one in session.pending():
            if one.step.group == first.step.group and one.step.name.round == first.step.name.round:
                assert f"of {first.step.id.replace('.', ' ')}" not in one.brief.text


@pytest.mark.parametrize("name", sorted(PROTOCOLS.keys() - {"structured"}))
def test_a_charter_is_its_own_roles_alone(name: str, tmp_path: Path) -> None:
    protocol = PROTOCOLS[name]
    session = begin(tmp_path / "run", name)
    templates = session.prompt_set["templates"]
    while asked := session.pending():
        for one in asked:
            for role in protocol.roles:
                own = next(known.charter for known in protocol.roles if known.id == one.step.role)
                shown = templates[role.charter].strip() in one.brief.text
                assert shown == (role.charter == own)
        submit(session, asked[0])


def test_a_tribunal_challenges_reasons_without_numbers_beside_its_own_first_decision(tmp_path: Path) -> None:
    for step, text in briefs(tmp_path / "run", "tribunal").items():
        if ".challenge." in step:
            target = step.split(".")[2].removeprefix("on_")
            own = step.rpartition(".")[2]
            assert f"reasons of r1 analyse {target}" in text
            assert f"reasons of r1 analyse {own}" in text
            theirs = {"utility": "confidence: 70", "accuracy": "confidence: 90", "safety": "confidence: 80"}[
                target
            ]
            assert theirs not in text.replace("**", "")


def test_a_second_round_sees_the_revised_plan_alone(tmp_path: Path) -> None:
    texts = briefs(tmp_path / "run", "jugalbandi", {"rounds": "2"})
    second = texts["r2.challenge.challenger"]
    assert "final plan of r1 resolve resolver" in second
    assert "first of r1 plan proposer" not in second
    assert "breaks of r1 challenge" not in second


def test_every_second_judge_reads_the_sides_in_the_other_order(tmp_path: Path) -> None:
    texts = briefs(tmp_path / "run", "debate", {"judges": "2"})
    pro, con = "position of r1 opening pro", "position of r1 opening con"
    first, second = texts["r1.judging.judge"], texts["r1.judging.judge~2"]
    assert first.index(pro) < first.index(con)
    assert second.index(con) < second.index(pro)
