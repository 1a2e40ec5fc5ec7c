"""`crux`: who is asked and how often, what each test does to the forecasts, and the status of every end.

Of `rounds/protocols/crux/assignments.py`, `rounds/protocols/crux/closing.py`, `rounds/protocols/crux/standing.py`,
`rounds/protocols/crux/testing.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from ledger.events import Agenda, Concern, Decision, Memo, RunClosed, Signals
from ledger.state import decided
from ledger.state.book import Book
from moot.view.outcome import outcome_of
from roles.outcome_status import OutcomeStatus
from roles.protocol import awaited_answers, awaited_experiments
from roles.seats.port import Answer
from rounds.protocols import PROTOCOLS
from rounds.protocols.crux import standing
from rounds.run.controller import Controller
from rounds.run.human_actions import NotThere, amend_experiments, answer, override, stop_waiting
from rounds.run.reexecution import re_execute
from rounds.run.session import ReplyRefused, RunSession
from rounds.run.verdicts import standard
from tests.protocols.crux_seats import (
    OPTIONS,
    ROLES,
    World,
    begin,
    contested,
    play,
    reply,
    status_of,
    submit,
    varied,
)
from tests.rounds.experimenting import BENCH
from tests.slowly import mostly_slow
from tests.validators.factory import findings

CRUX = PROTOCOLS["crux"]
HERE = contested("execution", "calculation", "document")
"""One crux of each kind that can be tested here."""


def steps(book: Book) -> list[str]:
    return list(book.state.answered)


def group(book: Book, option: str = "O-1") -> float:
    report = standing.standing_at(book.state).group
    assert report is not None
    return float(report.points(standing.option_ids(book.state).index(option)))


def sound(book: Book) -> Book:
    """A run that breaks no rule and re-executes to the same head."""
    assert [f"{one.code} {one.message}" for one in findings(book, standard(CRUX).context())] == []
    again = re_execute(book, CRUX, Controller(CRUX, standard(CRUX)))
    assert again.divergences == ()
    assert again.identical
    return book


# ---------------------------------------------------------------- how many replies


def test_four_replies_where_the_first_answer_is_sure(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run"), World(first=dict.fromkeys(ROLES, 95))))
    assert steps(book) == ["r1.A.verifier", "r1.B.action", "r1.S.memo.action", "r1.S.check.verifier"]
    assert status_of(book) is OutcomeStatus.DECIDED


def test_high_stakes_ask_all_four_whatever_the_first_says(tmp_path: Path) -> None:
    world = World(first=dict.fromkeys(ROLES, 95))
    book = sound(play(begin(tmp_path / "run", {"stakes": "high"}), world))
    assert len(steps(book)) == 8


def test_all_four_may_end_the_run_too(tmp_path: Path) -> None:
    world = World(first=dict.fromkeys(ROLES, 94))
    assert len(steps(sound(play(begin(tmp_path / "run"), world)))) == 8
    divided = varied(world, first={**world.first, "critic": 84})
    assert len(steps(play(begin(tmp_path / "other"), divided))) == 9


@pytest.mark.parametrize("frame", [{"missing": ["a third one"]}, {"double": [["O-1", "O-2"]]}])
def test_an_objection_to_the_frame_closes_the_short_way(tmp_path: Path, frame: dict[str, Any]) -> None:
    world = World(first=dict.fromkeys(ROLES, 96), frame=frame)
    assert len(steps(sound(play(begin(tmp_path / "run"), world)))) == 9


def test_a_test_worth_its_price_closes_the_short_way(tmp_path: Path) -> None:
    world = World(first=dict.fromkeys(ROLES, 96), proposed={"action": [("execution", 90, 98, 5)]})
    assert "r1.B.critic" in steps(play(begin(tmp_path / "run"), world))


def test_nine_replies_where_nothing_is_worth_a_test(tmp_path: Path) -> None:
    world = World(proposed={"critic": [("execution", 50, 62, 58)]})
    book = sound(play(begin(tmp_path / "run", experiments="on"), world))
    assert len(steps(book)) == 9
    assert status_of(book) is OutcomeStatus.DECIDED


@pytest.mark.parametrize("how", ["execution", "document", "person"])
def test_thirteen_replies_where_it_cannot_be_tested_here(tmp_path: Path, how: str) -> None:
    book = sound(play(begin(tmp_path / "run", {"wait": "off"}, document=False), contested(how)))
    assert len(steps(book)) == 13
    assert book.state.finished
    assert status_of(book) is OutcomeStatus.RUN_THIS_FIRST


def test_at_most_twenty_one(tmp_path: Path) -> None:
    surprised = dict.fromkeys(ROLES, (80, 70, 20))
    world = contested(
        "execution",
        "execution",
        "execution",
        of_role=surprised,
        programs=dict.fromkeys(ROLES, ("error", "fails")),
        unsupported=(2,),
        rewritten="There is another reason for it.",
    )
    book = sound(play(begin(tmp_path / "run", experiments="on"), world, bench=BENCH))
    assert len(steps(book)) == 21
    widest = CRUX.widest
    assert widest is not None
    assert sum(len(one.steps) for one in widest(book.state, 1)) == 21


# ---------------------------------------------------------------- tests


def test_each_kind_is_tested_once_and_moves_every_forecast(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run", experiments="on"), HERE, bench=BENCH))
    assert [step for step in steps(book) if ".D." in step] == [
        "r1.D.c1.action",
        "r1.D.c2.action",
        "r1.D.verifier",
    ]
    assert group(book) > 90
    assert status_of(book) is OutcomeStatus.DECIDED
    assert {one.role for one in book.state.beliefs.values() if one.derived} == set(ROLES)


def test_a_person_crux_is_kept_beside_those_that_are_tested(tmp_path: Path) -> None:
    world = contested("document", "person")
    book = sound(play(begin(tmp_path / "run", {"wait": "off"}), world))
    (open_crux,) = standing.standing_at(book.state).unsettled
    assert open_crux.claim == "C-1-2"


def test_a_failing_test_moves_the_answer_to_the_other_option(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run"), varied(contested("document"), document="fails")))
    assert group(book, "O-2") > 50
    (final,) = [one for one in book.of(Decision) if one.type == "final"]
    assert final.about == ("O-2",)
    assert OPTIONS[1] in final.text


def test_documents_that_do_not_settle_it_settle_nothing(tmp_path: Path) -> None:
    world = varied(contested("document"), document="not_settled")
    book = sound(play(begin(tmp_path / "run"), world))
    assert status_of(book) is OutcomeStatus.RUN_THIS_FIRST
    assert not [one for one in book.state.concerns.values() if one.for_human]  # nobody is asked to look it up
    assert group(book) == 60


def test_an_expression_that_lacks_a_number_settles_nothing(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    book = sound(play(session, varied(contested("calculation"), expression=None)))
    assert group(book) == 60
    assert status_of(book) is OutcomeStatus.WAITING


@pytest.mark.parametrize("expression", ["41 * 25", "40 *", "40 * 25 * 365", "__import__('os')"])
def test_an_expression_uses_only_numbers_that_stand_there(tmp_path: Path, expression: str) -> None:
    from rounds.run.session import ReplyRefused

    session = begin(tmp_path / "run")
    with pytest.raises(ReplyRefused, match="expression"):
        play(session, varied(contested("calculation"), expression=expression))


def test_the_role_that_doubts_most_writes_the_program(tmp_path: Path) -> None:
    world = contested("execution", of_role={"observer": (30, 90, 47)})
    book = play(begin(tmp_path / "run", experiments="on"), world, bench=BENCH)
    assert "r1.D.c1.observer" in steps(book)


def test_experiments_off_ask_for_no_program(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run", {"wait": "off"}), contested("execution"))
    assert not [step for step in steps(book) if ".D." in step]


# ---------------------------------------------------------------- repair, and the second program


def test_a_broken_program_goes_back_once_with_what_it_wrote_to_stderr(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", experiments="on")
    world = contested("execution", programs={"action": ("error", "holds")})
    briefs: dict[str, str] = {}
    for _ in range(60):
        asked = session.pending()
        waiting = awaited_experiments(CRUX, session.book().state)
        if waiting and not asked:
            from rounds.run.experiments import conduct

            list(conduct(session, BENCH, waiting[0]))
            continue
        if not asked:
            break
        briefs[asked[0].step.id] = asked[0].brief.text
        submit(session, asked[0], world)
    book = sound(session.book())
    repair = briefs["r1.D.c1_repair.action"]
    assert "CANARYERR" in repair
    assert "exit 9" in repair
    assert "\n| CANARYOUT" not in repair  # stdout stays hidden; the program text itself is shown
    assert group(book) > 80


def test_a_repair_may_not_change_what_counts_as_the_result(tmp_path: Path) -> None:
    from rounds.run.session import ReplyRefused

    world = contested("execution", programs={"action": ("error", "readable")})
    with pytest.raises(ReplyRefused, match="a repair may change files and argv"):
        play(begin(tmp_path / "run", experiments="on"), world, bench=BENCH)


def test_an_unreadable_predicate_is_mended_and_a_second_failure_is_not(tmp_path: Path) -> None:
    world = contested("execution", programs={"action": ("unreadable", "readable")})
    book = sound(play(begin(tmp_path / "run", experiments="on"), world, bench=BENCH))
    assert group(book) > 80
    broken = contested("execution", programs={"action": ("error", "error")})
    book = sound(play(begin(tmp_path / "other", {"wait": "off"}, experiments="on"), broken, bench=BENCH))
    assert [step for step in steps(book) if ".D." in step] == ["r1.D.c1.action", "r1.D.c1_repair.action"]
    assert status_of(book) is OutcomeStatus.RUN_THIS_FIRST


def test_a_surprise_is_tested_again_by_another_role_that_does_not_see_the_first(tmp_path: Path) -> None:
    numbers = dict.fromkeys(ROLES, (80, 70, 20))
    world = contested("execution", of_role=numbers, programs=dict.fromkeys(ROLES, ("fails",)))
    book = sound(play(begin(tmp_path / "run", experiments="on"), world, bench=BENCH))
    assert [step for step in steps(book) if ".D." in step] == ["r1.D.c1.action", "r1.D.c1.guardian"]
    assert group(book, "O-2") > 60
    second = book.events[book.state.answered["r1.D.c1.guardian"]]
    first = next(one for one in book.events if one.step == "r1.D.c1.action")
    assert first.seq not in second.saw
    assert not any(book.events[seq].kind == "experiment_planned" for seq in second.saw)


def test_two_programs_that_disagree_settle_nothing(tmp_path: Path) -> None:
    numbers = dict.fromkeys(ROLES, (80, 70, 20))
    world = contested("execution", of_role=numbers, programs={"action": ("fails",), "guardian": ("holds",)})
    book = sound(play(begin(tmp_path / "run", {"wait": "off"}, experiments="on"), world, bench=BENCH))
    assert standing.disagreeing(book.state, "C-1-1")
    assert group(book) == 60
    assert [one.claim for one in standing.standing_at(book.state).unsettled] == ["C-1-1"]


def test_one_role_that_expected_the_result_is_enough(tmp_path: Path) -> None:
    numbers = {**dict.fromkeys(ROLES, (80, 70, 20)), "critic": (50, 90, 30)}
    world = contested("execution", of_role=numbers, programs=dict.fromkeys(ROLES, ("fails",)))
    book = play(begin(tmp_path / "run", experiments="on"), world, bench=BENCH)
    assert len([step for step in steps(book) if ".D." in step]) == 1


# ---------------------------------------------------------------- experiments: on, ask, off


def test_ask_plans_a_program_and_waits_for_the_word(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", experiments="ask")
    world = contested("execution")
    book = play(session, world, bench=BENCH)
    assert awaited_experiments(CRUX, book.state)
    assert not book.state.experiments[next(iter(book.state.experiments))].judged
    amend_experiments(session, is_allowed=True)
    book = sound(play(session, world, bench=BENCH))
    assert group(book) > 80


def test_a_no_leaves_the_crux_to_a_person(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", experiments="ask")
    world = contested("execution")
    play(session, world)
    amend_experiments(session, is_allowed=False)
    book = sound(play(session, world))
    assert status_of(book) is OutcomeStatus.WAITING
    assert book.state.opening.rules["experiments"] == "ask"


def test_off_is_recorded_at_opening(tmp_path: Path) -> None:
    assert begin(tmp_path / "run").opened.rules["experiments"] == "off"


# ---------------------------------------------------------------- questions without options


def test_options_are_made_of_the_answers_and_numbers_always_asked_for(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run", options=0), World()))
    assert len(steps(book)) == 13
    assert [one.text for one in book.state.options] == list(OPTIONS)
    assert group(book) == 60


def test_cruxes_of_a_question_without_options_are_tested(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run", options=0), contested("document", "calculation")))
    assert group(book) > 85


def test_a_sure_first_answer_becomes_the_only_option(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run", options=0), World(first=dict.fromkeys(ROLES, 96))))
    assert len(steps(book)) == 4
    assert [one.text for one in book.state.options] == ["what action holds"]
    assert status_of(book) is OutcomeStatus.DECIDED


def test_without_an_agenda_each_answer_is_an_option(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run", options=0), World(), lose=frozenset({"r1.C.verifier"})))
    assert len(book.state.options) == 4
    assert status_of(book) is OutcomeStatus.YOUR_CALL
    assert book.of(Agenda)[0].by == "controller"


# ---------------------------------------------------------------- a person's result


def waiting(tmp_path: Path, *hows: str, **more: Any) -> RunSession:
    session = begin(tmp_path / "run", **more)
    play(session, contested(*(hows or ("person",))))
    assert status_of(session.book()) is OutcomeStatus.WAITING
    return session


def test_a_result_moves_every_forecast_in_the_same_commit(tmp_path: Path) -> None:
    session = waiting(tmp_path)
    (question,) = awaited_answers(CRUX, session.book().state)
    events = answer(session, question, "Measured last night: it is so.", "Ada", result="holds", output=b"log")
    assert events[0].rest == 4
    (decision,) = [one for one in events if isinstance(one, Decision)]
    assert (decision.result, decision.claims) == ("holds", ("C-1-1",))
    assert session.run.blobs.read(str(decision.output)) == b"log"
    book = session.book()
    assert group(book) == 81
    assert book.state.claims["C-1-1"].status == "tested_confirmed"


def test_the_memo_is_written_again_if_leader_or_status_change(tmp_path: Path) -> None:
    session = waiting(tmp_path)
    answer(session, "N-1-2", "It fails.", result="fails")
    book = sound(play(session, contested("person")))
    assert [one.round for one in book.of(Memo)] == [1, 2]
    assert status_of(book) is OutcomeStatus.DECIDED
    first, last = [one for one in book.of(Decision) if one.type == "final"]
    assert book.state.decisions[str(first.id)].overturned_by == last.id
    assert last.about == ("O-2",)


def test_it_is_not_written_again_if_neither_changes(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    proposed = {"action": [("person", 50, 56, 44)], "critic": [("person", 50, 90, 10)]}
    numbers = {"C-1-1": (50, 56, 44), "C-1-2": (50, 90, 10)}
    play(session, World(first=dict.fromkeys(ROLES, 50), proposed=proposed, of_claim=numbers))
    (question, *_) = (one for one in session.book().of(Concern) if one.between == ("C-1-1",))
    answer(session, str(question.id), "It holds.", result="holds")
    book = session.book()
    assert group(book) == 54
    assert status_of(book) is OutcomeStatus.WAITING  # the other one is still worth a test
    assert not session.pending()
    assert book.state.round == 1


def test_context_settles_nothing_and_ends_the_wait(tmp_path: Path) -> None:
    session = waiting(tmp_path)
    answer(session, "N-1-2", "We cannot measure that here.")
    book = sound(session.book())
    assert book.state.finished
    assert status_of(book) is OutcomeStatus.RUN_THIS_FIRST
    assert group(book) == 60


def test_a_result_before_the_numbers_is_kept_back_until_they_are_in(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    world = contested("document")
    while session.pending()[0].step.name.phase != "E":
        submit(session, session.pending()[0], world)
    answer(session, "C-1-1", "It holds.", result="holds")
    assert not [one for one in session.book().state.beliefs.values() if one.derived]
    book = sound(play(session, world))
    assert "r1.D.verifier" not in book.state.answered  # it is settled, so nobody reads for it
    assert group(book) == 81


def test_a_result_while_a_test_is_planned_outranks_it(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    world = varied(contested("document"), document="fails")
    while session.pending()[0].step.name.phase != "D":
        submit(session, session.pending()[0], world)
    answer(session, "C-1-1", "It holds.", result="holds")
    book = sound(play(session, world))
    assert group(book) == 81


def test_a_result_while_the_memo_is_written_counts_when_it_is_done(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    world = contested("person")
    while session.pending()[0].step.name.phase != "S":
        submit(session, session.pending()[0], world)
    submit(session, session.pending()[0], world)
    answer(session, "N-1-2", "It fails.", result="fails")
    book = sound(play(session, world))
    assert [one.round for one in book.of(Memo)] == [1, 2]
    assert book.of(Decision)[-1].about == ("O-2",)


def test_another_result_takes_the_place_of_the_first_everywhere(tmp_path: Path) -> None:
    """No override takes a result back, for claim and forecasts would go on counting it; another result does."""
    session = waiting(tmp_path, "person", "person")
    (event, *_) = answer(session, "N-1-2", "CANARYWRONG: it fails.", result="fails")
    with pytest.raises(NotThere, match="only another result") as refused:
        override(session, str(event.id), "The wrong host was measured.")
    assert "moot answer RUN C-1-1 --holds|--fails" in refused.value.fix
    (later, *_) = answer(session, "C-1-1", "CANARYRIGHT: it holds.", result="holds")
    while not (asked := session.pending()[0]).step.id.startswith("r3."):
        submit(session, asked, contested("person", "person"))
    assert "CANARYRIGHT" in asked.brief.text
    assert "CANARYWRONG" not in asked.brief.text
    book = sound(play(session, contested("person", "person")))
    assert book.state.claims["C-1-1"].status == "tested_confirmed"
    assert group(book) == 81
    assert book.state.decisions[str(event.id)].overturned_by == later.id
    assert "CANARYWRONG" not in str(outcome_of("run", book))


def test_the_override_of_an_answer_is_quoted_in_its_place(tmp_path: Path) -> None:
    session = waiting(tmp_path, "person", "person")
    (event, *_) = answer(session, "N-1-2", "CANARYOLD: nobody can.")
    override(session, str(event.id), "CANARYNEW: the operators can.")
    answer(session, "N-1-3", "It fails.", result="fails")
    brief = session.pending()[0].brief.text
    assert "CANARYOLD" not in brief
    assert "CANARYNEW" in brief.split("question N-1-2")[1]


@pytest.mark.parametrize("memo", ["on", "off"])
@pytest.mark.parametrize("answered", range(4))
def test_nothing_overturns_the_decision_of_a_person(tmp_path: Path, answered: int, memo: str) -> None:
    """An override while the run waits, or while an answer makes it write its memo again, is the end."""
    session, world = begin(tmp_path / "run", {"memo": memo}), contested("person", "execution")
    play(session, world)
    if answered:
        answer(session, "N-1-2", "It fails.", result="fails")
    for one in session.pending()[: answered - 1]:
        submit(session, one, world)
    (final,) = decided.final_in_force(session.book().state)
    (event, *_) = override(session, final, "Use one journal.", "Ada")
    book = sound(session.book())
    assert (book.state.closing and book.state.closing.reason) == "protocol_end"
    assert decided.final_in_force(book.state) == [event.id]
    outcome = outcome_of("run", book)
    assert (outcome.status, outcome.answer) == (OutcomeStatus.DECIDED, "Use one journal.")
    assert outcome.needs_you == []
    answer(session, "C-1-2", "It fails, too.", result="fails")
    assert decided.final_in_force(session.book().state) == [event.id]
    assert session.pending() == ()


def test_a_later_result_corrects_an_earlier_one_in_whatever_phase_it_comes(tmp_path: Path) -> None:
    """`crux` tests in phase E and forecasts again in phase D, against the alphabet."""
    session = begin(tmp_path / "run")
    world = contested("person", "document")
    for phase, result in (("E", "holds"), ("D", "fails")):
        while session.book().state.phase != phase:
            submit(session, session.pending()[0], world)
        answer(session, "C-1-1", "Measured.", result=result)  # type: ignore[arg-type]
    state = session.book().state
    assert state.claims["C-1-1"].status == "tested_refuted"
    (crux,) = [one for one in standing.table_at(state).cruxes if one.claim == "C-1-1"]
    assert crux.verdict is not None
    assert not crux.verdict.holds


def test_results_are_refused_where_they_say_nothing(tmp_path: Path) -> None:
    session = waiting(tmp_path)
    with pytest.raises(NotThere, match="tests no claim"):
        answer(session, "N-1-1", "It holds.", result="holds")
    with pytest.raises(NotThere, match="needs a result"):
        answer(session, "C-1-1", "We think so.")
    with pytest.raises(NotThere, match="no question"):
        answer(session, "N-9-9", "What?", result="holds")
    answer(session, "N-1-2", "It holds.", result="holds")
    with pytest.raises(NotThere, match="answered already"):
        answer(session, "N-1-2", "It fails after all.", result="fails")


def test_no_wait_ends_at_once_with_the_status(tmp_path: Path) -> None:
    session = waiting(tmp_path)
    stop_waiting(session)
    book = sound(play(session, contested("person")))
    assert book.state.finished
    assert status_of(book) is OutcomeStatus.RUN_THIS_FIRST


def test_the_answer_stands_beside_its_question_claim_and_test_in_later_prompts(tmp_path: Path) -> None:
    session = waiting(tmp_path)
    answer(session, "N-1-2", "CANARYANSWER: it fails.", result="fails", output=b"CANARYOUTPUT")
    asked = next(one for one in session.pending() if one.step.id.startswith("r2.S.memo"))
    for text in ("CANARYANSWER", "CANARYOUTPUT", "What action would see", "One sees what action", "N-1-2"):
        assert text in asked.brief.text


# ---------------------------------------------------------------- statuses and the memo


def test_a_margin_below_ten_points_is_your_call(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run"), World(first=dict.fromkeys(ROLES, 54))))
    assert status_of(book) is OutcomeStatus.YOUR_CALL


def test_an_ill_posed_question_is_named_so(tmp_path: Path) -> None:
    world = World(
        first=dict.fromkeys(ROLES, 40), rest=-1, frame={"ill_posed": True, "why": "Nothing decides it."}
    )
    book = sound(play(begin(tmp_path / "run"), world))
    assert status_of(book) is OutcomeStatus.ILL_POSED


def test_a_memo_that_leaves_the_leader_says_why_and_is_at_most_your_call(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run"), World(answers="O-2")))
    assert status_of(book) is OutcomeStatus.YOUR_CALL
    (memo,) = book.of(Memo)
    assert (memo.answers, memo.why_not_leader) == ("O-2", "It is the safer one of the two.")
    assert book.of(Decision)[-1].about == ("O-2",)


def test_unsupported_sentences_are_rewritten_once_and_then_removed(tmp_path: Path) -> None:
    world = World(unsupported=(2,), rewritten="There is another reason.", still=True)
    book = sound(play(begin(tmp_path / "run"), world))
    last = book.of(Memo)[-1]
    assert [one.text for one in last.removed] == ["There is another reason."]
    assert "There is another reason." not in [one.text for one in last.sentences]
    assert len(steps(book)) == 11


def test_every_look_names_every_unsettled_crux_with_its_value(tmp_path: Path) -> None:
    proposed = {role: [("person", 50, 90, 30), ("person", 50, 80, 40)] for role in ROLES}
    book = sound(
        play(begin(tmp_path / "run", {"wait": "off"}), World(proposed=proposed, numbers=(50, 90, 30)))
    )
    (look,) = book.of(Signals)
    assert len(look.values) == 8
    assert standing.kept_cruxes(book.state) == ("C-1-1", "C-1-3", "C-1-5")


def test_memo_off_decides_by_the_leader(tmp_path: Path) -> None:
    book = sound(play(begin(tmp_path / "run", {"memo": "off"}), World()))
    assert len(steps(book)) == 6
    (final,) = book.of(Decision)
    assert (final.text, final.about) == (OPTIONS[0], ("O-1",))


def test_memo_off_follows_a_persons_result_too(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", {"memo": "off"})
    play(session, contested("person"))
    answer(session, "N-1-2", "It fails.", result="fails")
    book = sound(session.book())
    assert book.state.finished
    assert [one.about for one in book.of(Decision) if one.type == "final"] == [("O-1",), ("O-2",)]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("seed", mostly_slow(range(4), quick=1))
def test_the_order_of_replies_changes_nothing_but_the_order(tmp_path: Path, seed: int, order: int) -> None:
    book = sound(play(begin(tmp_path / "run", seed=seed), contested("document", "calculation"), order=order))
    forward = play(begin(tmp_path / "again", seed=seed), contested("document", "calculation"))
    assert set(steps(book)) == set(steps(forward))
    assert standing.standing_at(book.state) == standing.standing_at(forward.state)
    assert book.of(Decision)[-1].text == forward.of(Decision)[-1].text


def test_ways_to_be_wrong_are_counted_with_who_named_them(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run"), World())
    (way,) = [one for one in book.of(Concern) if one.type == "defeater"]
    assert way.sightings == ROLES


@pytest.mark.parametrize(("place", "result"), [("of", "fails"), ("negated", "holds")])
def test_a_way_to_be_wrong_that_a_crux_tests_is_answered_with_it(
    tmp_path: Path, place: str, result: str
) -> None:
    world = contested("document", document=result, merged={"action": place})
    book = sound(play(begin(tmp_path / "run", {"wait": "off"}), world))
    common, own = (concern for concern in book.of(Concern) if concern.type == "defeater")
    assert (own.text, own.sightings, own.between) == ("a way that action found", ("action",), ("C-1-1",))
    assert common.sightings == tuple(role for role in ROLES if role != "action")
    standings = {concern: decided.concern_standing(book.state, concern) for concern in (common.id, own.id)}
    assert standings == {common.id: "open", own.id: f"tested by C-1-1: {result}"}
    assert f"{own.id} tested by C-1-1: {result}" in outcome_of("run", book).looked_at
    closed = book.of(RunClosed)[-1]
    assert common.id in closed.open
    assert own.id not in closed.open


def test_a_way_to_be_wrong_stays_open_while_its_crux_is_not_settled(tmp_path: Path) -> None:
    world = contested("document", document="not_settled", merged={"action": "of"})
    book = sound(play(begin(tmp_path / "run", {"wait": "off"}), world))
    own = next(concern for concern in book.of(Concern) if concern.between == ("C-1-1",))
    assert decided.concern_standing(book.state, own.id) == "open"
    assert own.id in book.of(RunClosed)[-1].open


def test_a_crux_needs_a_proposal_beside_the_ways_to_be_wrong(tmp_path: Path) -> None:
    world, session = contested("document", merged={"action": "of"}), begin(tmp_path / "run", {"wait": "off"})
    while (asked := session.pending()[0]).step.task != "C.agenda":
        submit(session, asked, world)
    agenda = reply(session.book(), asked.step, world)
    agenda["cruxes"][0]["of"], agenda["left_out"] = (
        [agenda["cruxes"][0]["of"][1]],
        [{"of": agenda["cruxes"][0]["of"][0], "why": "It is said twice."}],
    )
    with pytest.raises(ReplyRefused, match="name the proposals that say it"):
        session.submit(asked.step.id, orjson.dumps(agenda), Answer(seat="command", isolation="trusted"))
