"""`crux` with experiments: who writes a program, what is refused, when it is run, how its result becomes beliefs."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Final

import orjson
import pytest

from ledger.events import ExperimentJudged, ExperimentPlanned, ExperimentRun, Verification
from ledger.state.book import Book
from ledger.state.state import VERIFIER
from moot.view.claims import claims_of
from roles.protocol import Step, awaited_experiments
from rounds.protocols import PROTOCOLS
from rounds.protocols.programs import EXAMPLE
from rounds.protocols.quotable import Quotable, known_to
from rounds.run.controller import Controller
from rounds.run.engine import Answer, ReplyRefused
from rounds.run.experiments import conduct
from rounds.run.human_actions import note
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.protocols.crux_seats import OPTIONS, ROLES, World, reply
from tests.rounds.experimenting import BENCH
from tests.rounds.openings import clock
from validators.rulebook import findings

CRUX: Final = PROTOCOLS["crux"]
WORLD: Final = World(
    first=dict.fromkeys(ROLES, 60),
    proposed={"critic": ("execution", 50, 90, 30), "action": ("execution", 50, 90, 30)},
    later=(50, 90, 30),
)


def begin(path: Path, experiments: str | None = "CPython 3.11") -> RunSession:
    table: dict[str, Any] = {
        "deliberation": {"question": "Which storage?", "protocol": "crux", "options": list(OPTIONS)}
    }
    opening = resolve(checked(table), {}, moot="0", experiments=experiments)
    return start(
        path, opening.event, blobs=opening.blobs, files={}, verdicts=standard, clock=clock(), sync=False
    )


def answer(session: RunSession, step: Step, program: dict[str, Any] | None, world: World = WORLD) -> None:
    said = reply(session.book(), step, world)
    if step.task == "C.agenda":
        for crux in said["cruxes"]:
            crux["how"] = "execution"
    if step.task == "D":
        for plan in said["plans"]:
            plan |= {"program": program, "form": "experiment"}
    roles = (*ROLES, VERIFIER)
    context = f"c{roles.index(step.role) + 1 + 10 * step.name.repeat}"
    session.submit(
        step.id, orjson.dumps(said), Answer(seat="command", isolation="trusted", context_id=context)
    )


def play(session: RunSession, program: dict[str, Any] = EXAMPLE, world: World = WORLD) -> Book:
    """Answer until nothing is open."""
    for _ in range(60):
        asked = session.asked()
        if not asked:
            return session.book()
        answer(session, asked[0].step, program, world)
    raise AssertionError("still open")


def changed(**more: Any) -> dict[str, Any]:
    return copy.deepcopy(EXAMPLE) | more


TURNED: Final = ["python3", "test.py", "turned"]
FAILS: Final = changed(
    argv=TURNED,
    controls=[
        {"must": "fail", "files": [{"name": "keys.json", "text": '["d", "c"]'}], "argv": TURNED},
        EXAMPLE["controls"][1],
    ],
)
"""The same program on a subject that is wrong."""


def test_a_run_waits_for_its_experiments_and_goes_on_by_their_results(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    book = play(session)
    waiting = awaited_experiments(CRUX, book.state)
    assert waiting
    assert [book.by_id[one].by for one in waiting] != ["human"]
    assert not book.of(ExperimentRun)  # every forecast is in, and nothing was started
    before = {role: book.state.beliefs_at(2)[role].points["O-1"] for role in ROLES}
    for experiment in waiting:
        list(conduct(session, BENCH, experiment))
    book = play(session)
    assert book.state.finished
    judged = book.of(ExperimentJudged)
    assert {(one.verdict, one.class_) for one in judged} == {("holds", "reproduced")}
    assert {one.tested for one in claims_of("run", book).claims} == {f"ran ×{judged[0].counts.holds}"}
    assert not [one for one in book.of(Verification) if one.round == 2]  # nobody argues about what was run
    after = {role: book.state.beliefs_at(2)[role].points["O-1"] for role in ROLES}
    # By Bayes at quality .95 from q .5: each result moves 60 to 87 of 90; two of them reach the end of the scale.
    assert all(after[role] > before[role] + 20 for role in ROLES)
    assert [f"{one.code} {one.message}" for one in findings(book, standard(CRUX).context())] == []
    assert re_execute(book, CRUX, Controller(CRUX, standard(CRUX))).identical


def test_a_result_against_the_claims_moves_beliefs_the_other_way(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    play(session, FAILS)
    state = session.book().state
    for experiment in awaited_experiments(CRUX, state):
        list(conduct(session, BENCH, experiment))
    book = session.book()
    assert {one.verdict for one in book.of(ExperimentJudged)} == {"fails"}
    assert {facts.status for facts in book.state.claims.values() if facts.how == "execution"} == {
        "tested_refuted"
    }
    derived = [facts for facts in book.state.beliefs.values() if facts.derived]
    assert derived
    assert all(facts.points.get("O-1", 0) < 60 for facts in derived)


@pytest.mark.parametrize(
    ("program", "wrong"),
    [
        (None, "write the program"),
        (changed(controls=[EXAMPLE["controls"][0]] * 2), "one that must fail and one that must hold"),
        (changed(fail_if=EXAMPLE["pass_if"]), "can hold together"),
        (changed(argv=["/bin/sh", "test.py"]), "neither ./ and a file"),
        (changed(files=[{"name": "../x", "text": "1"}]), "plain file name"),
        (changed(argv=["./none.py"]), "no file is called 'none.py'"),
        (changed(times=2), "times"),
    ],
)
def test_a_program_that_could_decide_nothing_is_refused_with_the_reason(
    tmp_path: Path, program: dict[str, Any] | None, wrong: str
) -> None:
    session = begin(tmp_path / "run")
    while session.asked()[0].step.task != "D":
        answer(session, session.asked()[0].step, None)
    with pytest.raises(ReplyRefused) as refused:
        answer(session, session.asked()[0].step, program)
    assert any(wrong in error for error in refused.value.errors), refused.value.errors
    answer(session, session.asked()[0].step, EXAMPLE)


def test_who_plans_is_told_what_a_program_may_be(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    seen: dict[str, str] = {}
    for _ in range(60):
        asked = session.asked()
        if not asked:
            break
        seen.setdefault(asked[0].step.task, asked[0].brief.text)
        answer(session, asked[0].step, EXAMPLE)
    parts = (
        "CPython 3.11 as python3",
        "not there | network",
        "512 MiB",
        "pattern of RE2",
        "within `tolerance`",
    )
    for part in (*parts, "`pointer` such as /lost", "controls", "turned", "MOOT_SEED"):
        assert part in seen["D"]
    assert "a program for" in seen["E.forecast"]  # whole, so that it can be called unfair
    assert "made = list(dict.fromkeys(keys))" in seen["E.forecast"]
    assert "programs can be run here" not in seen["B"] + seen["E.forecast"]


def test_an_unfair_program_is_not_run(tmp_path: Path) -> None:
    world = World(
        first=WORLD.first, proposed=WORLD.proposed, later=WORLD.later, unfair=("guardian", "observer")
    )
    session = begin(tmp_path / "run")
    book = play(session, world=world)
    assert book.of(ExperimentPlanned)
    assert awaited_experiments(CRUX, book.state) == ()
    assert not book.of(ExperimentRun)
    assert book.state.finished or book.state.round > 2


def test_without_the_persons_word_nobody_is_asked_for_a_program(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", None)
    for _ in range(60):
        asked = session.asked()
        if not asked:
            break
        said = reply(session.book(), asked[0].step, WORLD)
        assert "'program'" not in str(asked[0].brief.schema)
        session.submit(asked[0].step.id, orjson.dumps(said), Answer(seat="command", isolation="trusted"))
    book = session.book()
    assert not book.of(ExperimentPlanned)
    assert not awaited_experiments(CRUX, book.state)


def test_an_error_moves_no_belief(tmp_path: Path) -> None:
    """A control that passes: the crux stays open, and the round goes on."""
    session = begin(tmp_path / "run")
    passes = {"must": "fail", "files": [], "argv": ["python3", "test.py", "list"]}
    both = changed(
        controls=[passes, {"must": "hold", "files": [{"name": "keys.json", "text": "[1]"}], "argv": None}]
    )
    play(session, both)
    for experiment in awaited_experiments(CRUX, session.book().state):
        list(conduct(session, BENCH, experiment))
    book = session.book()
    assert {one.verdict for one in book.of(ExperimentJudged)} == {"error"}
    assert not [
        facts
        for facts in book.state.beliefs.values()
        if facts.derived and facts.points != {"O-1": 60, "O-2": 40}
    ]


def test_whoever_is_asked_behind_experiments_sees_them_whatever_a_person_did_in_between(
    tmp_path: Path,
) -> None:
    session = begin(tmp_path / "run")
    waiting = awaited_experiments(CRUX, play(session).state)
    note(session, "I looked at the programs.", name="Ada")
    for experiment in waiting:
        list(conduct(session, BENCH, experiment))
    asked = session.asked()
    assert {one.step.name.phase for one in asked} == {"F"}
    for one in asked:
        assert f"{waiting[0]} · run 3 times in a sandbox: holds" in one.brief.text
    book = play(session)
    assert book.state.finished
    assert [one for one in findings(book, standard(CRUX).context()) if one.severity == "error"] == []
    assert re_execute(book, CRUX, Controller(CRUX, standard(CRUX))).identical


def test_what_a_program_wrote_can_be_quoted_where_its_plan_is_cited(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    experiment = awaited_experiments(CRUX, play(session).state)[0]
    before = known(session.book())
    list(conduct(session, BENCH, experiment))
    book = session.book()
    output = next(run for run in book.of(ExperimentRun) if run.of == experiment).stdout
    said = (book.blobs.read(output.kept) or b"").decode().strip()
    assert said
    assert len(list(before.reference_problems(experiment, "evidence[0]", said))) == 1  # not written yet
    assert list(known(book).reference_problems(experiment, "evidence[0]", said)) == []
    assert len(list(known(book).reference_problems(experiment, "evidence[0]", f"not {said}"))) == 1


def known(book: Book) -> Quotable:
    """A brief that has shown everything."""
    step = CRUX.groups(book.state, 2)[0].steps[0]
    return known_to(book, step, frozenset(range(len(book.events))), documents=True)
