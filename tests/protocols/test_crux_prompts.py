"""What prompts of `crux` show: the check of the question, what tested each claim, and what a limit counts.

Seats are scripted; nothing here was said by a model.

Of `rounds/protocols/crux/brief_blocks.py`, `rounds/protocols/crux/replies.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

from roles.prompt_set import installed_prompt_set, read_prompt_set
from roles.seats.port import Answer
from rounds.protocols.crux.replies import WORDS_MAX
from rounds.run.experiments import conduct
from rounds.run.human_actions import amend_experiments, answer
from rounds.run.session import ReplyRefused, RunSession
from tests.protocols.crux_seats import ROLES, World, begin, contested, play, reply, submit
from tests.rounds.experimenting import BENCH

FOUND: dict[str, Any] = {
    "missing": ["A CANARYTHIRD way"],
    "double": [["O-1", "O-2"]],
    "two_readings": [{"word": "line", "readings": ["a CANARYROW", "a statement"]}],
}


def prompts(session: RunSession, world: World) -> dict[str, str]:
    """Play while a step is open; step → the prompt that it was asked with."""
    texts: dict[str, str] = {}
    while asked := session.pending():
        texts.update((one.step.id, one.brief.text) for one in asked)
        submit(session, asked[0], world)
    return texts


def shown_of(text: str) -> str:
    """A prompt without the instructions that are the same in every run."""
    return text.split("# The question", 1)[-1].split("# Your role", 1)[0]


# ---------------------------------------------------------------- the check of the question


def test_the_question_is_checked_before_anybody_answers(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    assert [one.step.id for one in session.pending()] == ["r1.A.verifier"]


def test_a_lost_check_asks_the_first_role_all_the_same(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    session.give_up("r1.A.verifier", "given_up", "lost in a test")
    assert [one.step.id for one in session.pending()] == ["r1.B.action"]


@pytest.mark.parametrize("options", [2, 0])
def test_what_the_check_found_is_shown_to_every_later_step_of_the_roles(tmp_path: Path, options: int) -> None:
    frame: dict[str, Any] = FOUND if options else {**FOUND, "double": []}
    asked = prompts(
        begin(tmp_path / "run", {"wait": "off"}, options=options), contested("person", frame=frame)
    )
    assert "CANARY" not in asked.pop("r1.A.verifier")
    checks = {step for step in asked if step.startswith("r1.S.check")}
    for step in asked.keys() - checks:
        text = shown_of(asked[step])
        for part in ("missing | A CANARYTHIRD way", "CANARYROW", "points for one of them go to `none`"):
            assert part in text, step
        assert not options or "O-1 (three streams) = O-2 (one journal)" in text, step


def test_an_ill_posed_question_is_said_to_be_one(tmp_path: Path) -> None:
    world = World(frame={"ill_posed": True, "why": "CANARYWHY decides it."})
    assert "why | CANARYWHY decides it." in prompts(begin(tmp_path / "run"), world)["r1.B.action"]


def test_nothing_found_shows_nothing(tmp_path: Path) -> None:
    assert "check of the question found" not in shown_of(
        prompts(begin(tmp_path / "run"), World())["r1.B.action"]
    )


# ---------------------------------------------------------------- what tested each claim, and why nothing did

LOW = World(proposed={"critic": [("execution", 50, 62, 58)]})
MANY = World(
    proposed={role: [("person", 50, 90, 30), ("person", 50, 62, 58)] for role in ROLES}, numbers=(50, 90, 30)
)
REASONS: Mapping[str, tuple[World, str, str]] = {
    "programs are off": (contested("execution"), "off", "programs are not run in this run (experiments are off)"),
    "nothing is worth it": (LOW, "on", "none is worth making here"),
    "one sure answer": (World(first=dict.fromkeys(ROLES, 96)), "off", "the first answer was sure enough"),
    "four sure answers": (World(first=dict.fromkeys(ROLES, 94)), "off", "all answers were sure enough"),
    "no claim": (World(), "off", "nobody named a claim whose test could change the answer"),
    "silent document": (contested("document", document="not_settled"), "off", "the documents do not say it"),
    "no number": (contested("calculation", expression=None), "off", "a number that it needs is written nowhere"),
    "a person": (contested("person"), "off", "only a person can measure it or look it up"),
    "left out": (MANY, "off", "worth less than the 3 claims"),
    "settled by a document": (contested("document"), "off", "it holds: a document says so, word for word"),
    "settled by arithmetic": (contested("calculation"), "off", "it holds: moot calculated it"),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_writer_and_checker_see_what_was_tested_or_why_nothing_was(tmp_path: Path, name: str) -> None:
    world, experiments, reason = REASONS[name]
    asked = prompts(begin(tmp_path / "run", {"wait": "off"}, experiments=experiments), world)
    for act in ("memo", "check"):
        text = next(text for step, text in asked.items() if f".S.{act}." in step)
        assert reason in text, act


def test_a_lost_agenda_and_a_lost_plan_are_named(tmp_path: Path) -> None:
    lost = {"r1.C.verifier": "the reply that lists the claims worth testing was lost",
            "r1.D.c1.action": "the reply that plans it was lost",
            "r1.D.verifier": "the reply about the documents was lost"}  # fmt: skip
    for n, (step, reason) in enumerate(lost.items()):
        session = begin(tmp_path / str(n), {"wait": "off"})
        world = contested("calculation" if "c1" in step else "document")
        while not any(".S.memo." in one.step.id for one in session.pending()):
            one = session.pending()[0]
            if one.step.id == step:
                session.give_up(step, "given_up", "lost in a test")
            else:
                submit(session, one, world)
        assert reason in session.pending()[0].brief.text


def test_a_refused_program_is_named(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", {"wait": "off"}, experiments="ask")
    world = contested("execution")
    play(session, world)
    amend_experiments(session, is_allowed=False)
    assert "a person has not allowed it" in prompts(session, world)["r1.S.memo.action"]


def test_a_persons_result_is_told_as_one(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    play(session, contested("person"))
    question = next(one for one, facts in session.book().state.concerns.items() if facts.for_human)
    answer(session, question, "It fails.", result="fails")
    asked = next(one for one in session.pending() if ".S.memo." in one.step.id)
    assert "it fails: a person measured or looked it up" in asked.brief.text


def test_an_open_claim_may_be_cited_for_what_was_not_done(tmp_path: Path) -> None:
    """A sentence of absence has no text that could support it, but the claim that stayed open."""
    session = begin(tmp_path / "run", {"wait": "off"})
    world = contested("person")
    while not any(".S.memo." in one.step.id for one in session.pending()):
        submit(session, session.pending()[0], world)
    memo = reply(session.book(), session.pending()[0].step, world)
    absent = "Nobody has measured what the action would see."
    cited = {"field": "not_settled", "text": absent, "refs": ["C-1-1"], "quote": None, "judgment": False}
    memo["sentences"].append(cited)
    session.submit(
        session.pending()[0].step.id, orjson.dumps(memo), Answer(seat="command", isolation="trusted")
    )
    check = next(one for one in session.pending() if ".S.check." in one.step.id)
    assert f"says | {absent}" in check.brief.text
    assert "tested | not settled: no test was made: only a person can measure it" in check.brief.text


# ---------------------------------------------------------------- outputs of programs


def test_outputs_are_labeled_with_the_run_that_wrote_them(tmp_path: Path) -> None:
    session, world = begin(tmp_path / "run", experiments="on"), contested("execution")
    while not any(".S.memo." in one.step.id for one in session.pending()):
        if session.pending():
            submit(session, session.pending()[0], world)
        else:
            list(conduct(session, BENCH, session.book().state.unjudged[0]))
    step = session.pending()[0]
    assert "repetition 1 wrote |" in step.brief.text
    memo = reply(session.book(), step.step, world)
    memo["sentences"][1] |= {"text": "A program was run, and it held.", "refs": ["E-1-1", "C-1-1"]}
    session.submit(step.step.id, orjson.dumps(memo), Answer(seat="command", isolation="trusted"))
    text = next(one for one in session.pending() if ".S.check." in one.step.id).brief.text
    for label in ("control must fail", "control must hold", "repetition 1", "repetition 2", "repetition 3"):
        assert text.count(f"E-1-1, {label}, output |") == 2, label
    assert text.count("E-1-1, counted | 3 held, 0 failed") == 2


# ---------------------------------------------------------------- limits and instructions


def _too_long(made: dict[str, Any], field: str, words: int) -> None:
    made[field] = " ".join(["word"] * words) if field == "answer" else [" ".join(["0.5"] * words)]


@pytest.mark.parametrize("field", ["answer", "reasons"])
def test_the_limit_in_words_counts_what_the_prompt_says(tmp_path: Path, field: str) -> None:
    session = begin(tmp_path / "run", options=0)
    submit(session, session.pending()[0], World())
    one = session.pending()[0]
    assert (
        f"The {WORDS_MAX} words of `answer` and of each of `reasons` are counted at spaces" in one.brief.text
    )
    made = reply(session.book(), one.step, World())
    _too_long(made, field, WORDS_MAX + 1)
    with pytest.raises(ReplyRefused, match=f"{WORDS_MAX + 1} words, {WORDS_MAX} at most"):
        session.submit(one.step.id, orjson.dumps(made), Answer(seat="command", isolation="trusted"))
    _too_long(made, field, WORDS_MAX)
    session.submit(one.step.id, orjson.dumps(made), Answer(seat="command", isolation="trusted"))


@pytest.mark.parametrize("task", ["D.program", "D.again"])
def test_the_planner_is_told_who_runs_the_program(task: str) -> None:
    text = _template(f"tasks/{task}")
    assert "moot runs it after your reply" in text
    assert "`moot experiment run`" in text


def _template(path: str) -> str:
    return str(read_prompt_set(installed_prompt_set("crux"))["templates"][path])


@pytest.mark.parametrize("protocol", ["crux", "structured", "debate"])
def test_no_prompt_asks_for_another_form_than_json(protocol: str) -> None:
    for text in read_prompt_set(installed_prompt_set(protocol))["templates"].values():
        assert "TOML" not in text.upper()
