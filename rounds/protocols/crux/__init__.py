"""`crux`: beliefs first, tests only of what could change the answer, and a stop when nothing untested could.

Laws
1. Every answer, forecast and belief is sealed: no brief before the closing shows what another role believes.
2. The first answer may end the run: when whoever was asked agrees, the frame check objects to nothing, and nothing
   anybody proposed to test could change it. The same is looked at again when all four have answered.
3. A round tests at most three claims, those whose test is worth most. Who doubts one most plans its test, and for one
   that is argued about so does who holds it most; numbers and predictions are sealed before the result.
4. After the results each belief follows from the role's own numbers by Bayes; the surprised are asked for their own.
5. What is lost is never read as agreement: whoever gave no numbers is out of the pool until it gives a belief.
6. After each round the controller looks once whether to stop (docs/crux.md); then one role writes the memo, the one
   that believes least in it objects, and the verifier holds each sentence to what it cites.
"""

from __future__ import annotations

from typing import Final

from ledger.events import Event
from ledger.events.run import PlanRow
from ledger.state.state import VERIFIER, State
from roles.protocol import Column, Protocol, RoleDefinition, Rules, Sight, Step, View
from rounds.protocols.crux import answers, asked, closing, memo, programs, rewriting, standing, trials
from rounds.protocols.crux.replies import (
    AgendaReply,
    ChoiceReply,
    CruxCheckReply,
    ForecastReply,
    FrameReply,
    MemoReply,
    ObjectionReply,
    SealedAnswer,
    SentencesReply,
    UpdateReply,
)
from rounds.protocols.crux.telling import tells
from rounds.protocols.crux.widest import widest
from rounds.protocols.plans import AUTHORS
from rounds.protocols.step_table import Numbering, Sheet, StepRow, asks_each, rule

ROLES: Final = (
    RoleDefinition(
        "action", "What happens, step by step, if this is done?", "charters/action", "Who carries it out"
    ),
    RoleDefinition(
        "guardian", "What must hold, whatever happens?", "charters/guardian", "Who answers for what must hold"
    ),
    RoleDefinition(
        "observer", "What would people who live with it see?", "charters/observer", "Who has to live with it"
    ),
    RoleDefinition(
        "critic", "What is the strongest case against it?", "charters/critic", "Who looks for the flaw"
    ),
    RoleDefinition(
        "verifier", "What does the evidence show?", "charters/verifier", "Who checks, and holds no opinion"
    ),
)
_VIEW: Final[View] = {
    Column.QUESTION: Sight("all"),
    Column.BEFORE: Sight("all"),
    Column.TOLD: Sight("all"),
}
_OF_THE_MEMO: Final[View] = {Column.QUESTION: Sight("goals"), Column.TOLD: Sight("all")}
"""What a sentence is held to stands beside it: no document and nothing else that was said."""


# ---------------------------------------------------------------- who is asked, and when


def _verifier(state: State, round_: int) -> tuple[str, ...]:
    del state, round_
    return (VERIFIER,)


def _firsts(state: State, round_: int) -> tuple[str, ...]:
    del round_
    return standing.first_roles(state)


def _others(state: State, round_: int) -> tuple[str, ...]:
    del round_
    return tuple(role for role in AUTHORS if role not in standing.first_roles(state))


def _again(state: State, round_: int) -> tuple[str, ...]:
    """The role that answers twice, where noise is measured."""
    del round_
    wanted = rule(state, "redraw") != "off" and standing.rounds_wanted(state) > 0
    return (standing.lead_role(state),) if wanted else ()


def _all_authors(state: State, round_: int) -> tuple[str, ...]:
    del state, round_
    return AUTHORS


def _first_answers_are_in(state: State) -> bool:
    steps = (f"r1.A.{VERIFIER}", *(f"r1.B.{role}" for role in standing.first_roles(state)))
    return all(state.is_done(step) for step in steps)


def _others_are_due(state: State, round_: int) -> bool:
    del round_
    if any(state.is_done(f"r1.B.{role}") for role in _others(state, 1)):
        return True
    return _first_answers_are_in(state) and not standing.short_way_is_open(state)


def _answers_again_in_numbers(state: State, round_: int) -> bool:
    return not standing.is_open_ended(state) and _others_are_due(state, round_)


def _agenda_is_due(state: State, round_: int) -> bool:
    if state.is_done(f"r1.C.{VERIFIER}"):
        return True
    done = _others_are_due(state, round_) and all(state.is_done(f"r1.B.{role}") for role in AUTHORS)
    answered = any(standing.belief(state, 1, role, 1) for role in AUTHORS)
    return done and answered and (standing.is_open_ended(state) or not standing.short_way_is_open(state))


def _choice_is_due(state: State, round_: int) -> bool:
    del round_
    return standing.is_open_ended(state) and bool(state.agenda and state.agenda.options)


def _tests_something(state: State, round_: int) -> bool:
    return bool(standing.tested_in(state, round_))


def _forecasts_are_in(state: State, round_: int) -> bool:
    return all(state.is_done(f"r{round_}.E.{role}") for role in asked.forecasters(state, round_))


def _check_is_due(state: State, round_: int) -> bool:
    step = f"r{round_}.E.{VERIFIER}"
    return state.is_done(step) or (
        _tests_something(state, round_)
        and _forecasts_are_in(state, round_)
        and not programs.still_to_run(state, round_)
        and bool(asked.to_check(state, round_))
    )


def _update_is_due(state: State, round_: int) -> bool:
    if standing.handed_in(state, round_):
        return True
    in_ = _tests_something(state, round_) and _forecasts_are_in(state, round_)
    in_ = in_ and not programs.still_to_run(state, round_)
    checked = not _check_is_due(state, round_) or state.is_done(f"r{round_}.E.{VERIFIER}")
    return in_ and checked and not trials.derived_beliefs(state, round_)


def _memo_is_due(state: State, round_: int) -> bool:
    return closing.closes(state, round_) and closing.has_memo_steps(state)


def _memo_was_lost(state: State, round_: int) -> bool:
    if not _memo_is_due(state, round_):
        return False
    return any(f"r{round_}.S.memo.{role}" in state.given_up for role in asked.writers(state)[:1])


def _memo_is_in(state: State, round_: int) -> bool:
    return closing.closes(state, round_) and closing.memo_is_in(state, round_)


def _writer(state: State, round_: int) -> tuple[str, ...]:
    writer = rewriting.writer_of(state, round_)
    return (writer,) if writer else ()


def _answer(numbering: Numbering, step: Step, reply: SealedAnswer) -> tuple[Event, ...]:
    made = answers.redrawn if step.name.repeat > 1 else answers.answered
    return made(numbering, step, reply)


# ---------------------------------------------------------------- the table

SHEET: Final = Sheet(
    (
        StepRow(
            "B",
            asks_each(_firsts),
            SealedAnswer,
            _answer,
            wrong=answers.wrong_answer,
            columns=_VIEW,
            redrawn=True,
            group="first",
        ),
        StepRow(
            "A",
            asks_each(_verifier),
            FrameReply,
            answers.framed,
            wrong=answers.wrong_frame,
            columns=_VIEW,
            group="first",
        ),
        StepRow(
            "B",
            asks_each(_others),
            SealedAnswer,
            _answer,
            wrong=answers.wrong_answer,
            columns=_VIEW,
            group="others",
            when=_others_are_due,
        ),
        StepRow(
            "B",
            asks_each(_again, repeat=2),
            SealedAnswer,
            _answer,
            wrong=answers.wrong_answer,
            columns=_VIEW,
            redrawn=True,
            group="others",
            when=_answers_again_in_numbers,
        ),
        StepRow(
            "C.agenda",
            asks_each(_verifier),
            AgendaReply,
            answers.agreed,
            wrong=answers.wrong_agenda,
            columns=_VIEW,
            when=_agenda_is_due,
        ),
        StepRow(
            "C.choice",
            asks_each(_all_authors),
            ChoiceReply,
            answers.chosen,
            wrong=answers.wrong_choice,
            columns=_VIEW,
            redrawn=True,
            when=_choice_is_due,
        ),
        StepRow(
            "C.choice",
            asks_each(_again, repeat=2),
            ChoiceReply,
            answers.chosen,
            wrong=answers.wrong_choice,
            columns=_VIEW,
            redrawn=True,
            when=_choice_is_due,
        ),
        StepRow(
            "D",
            asks_each(asked.planners),
            programs.plans_reply,
            trials.planned,
            later=programs.programs,
            wrong=trials.wrong_plans,
            columns=_VIEW,
            when=_tests_something,
        ),
        StepRow(
            "E.forecast",
            asks_each(asked.forecasters),
            ForecastReply,
            trials.forecast,
            wrong=trials.wrong_forecast,
            columns=_VIEW,
            when=_tests_something,
        ),
        StepRow(
            "E.check",
            asks_each(_verifier),
            CruxCheckReply,
            trials.judged,
            wrong=trials.wrong_verdicts,
            columns=_VIEW,
            when=_check_is_due,
        ),
        StepRow(
            "F",
            asks_each(asked.updaters),
            UpdateReply,
            trials.updated,
            wrong=trials.wrong_update,
            columns=_VIEW,
            when=_update_is_due,
        ),
        StepRow(
            "S.memo",
            asks_each(lambda state, _: asked.writers(state)[:1], "memo"),
            MemoReply,
            memo.written,
            wrong=memo.wrong_memo,
            columns=_VIEW,
            when=_memo_is_due,
        ),
        StepRow(
            "S.memo",
            asks_each(lambda state, _: asked.writers(state)[1:2], "memo"),
            MemoReply,
            memo.written,
            wrong=memo.wrong_memo,
            columns=_VIEW,
            group="S.memo again",
            when=_memo_was_lost,
        ),
        StepRow(
            "S.objection",
            asks_each(closing.objectors, "objection"),
            ObjectionReply,
            memo.objected,
            wrong=memo.wrong_objection,
            columns=_VIEW,
            when=_memo_is_in,
        ),
        StepRow(
            "S.check",
            asks_each(_verifier, "check"),
            SentencesReply,
            memo.checked,
            wrong=memo.wrong_sentences,
            columns=_OF_THE_MEMO,
            when=_memo_is_in,
        ),
        StepRow(
            "S.memo",
            asks_each(_writer, "memo", repeat=rewriting.AGAIN),
            MemoReply,
            memo.written,
            wrong=memo.wrong_memo,
            columns=_VIEW,
            group="S.memo rewritten",
            when=rewriting.is_due,
        ),
        StepRow(
            "S.check",
            asks_each(_verifier, "check", repeat=rewriting.AGAIN),
            SentencesReply,
            memo.checked,
            wrong=memo.wrong_sentences,
            columns=_OF_THE_MEMO,
            group="S.check again",
            when=rewriting.is_to_be_checked,
        ),
    ),
    follows_from=lambda state, round_: (round_, standing.fingerprint(state)),
)


def _rounds(rules: Rules, options: int) -> tuple[PlanRow, ...]:
    """Round 1, and as many rounds of tests as there may be at most."""
    del options
    tests = int(str(rules.get("rounds", "3")))
    later = (PlanRow(round=n, phases=("D", "E", "F", "S")) for n in range(2, tests + 2))
    return (PlanRow(round=1, phases=("A", "B", "C", "S")), *later)


CRUX: Final[Protocol] = SHEET.protocol(
    "crux",
    "sealed beliefs first, tests of what could change the answer, and a stop when nothing untested could",
    ROLES,
    plan=_rounds,
    has_castings=True,
    version=1,
    brief_version=2,
    widest=widest,
    owed=closing.owed,
    set_aside=programs.set_aside,
    brought=programs.brought,
    look=closing.look,
    after_round=closing.after_round,
    needed=closing.needed,
    tells=tells,
    raises_claims=True,
    profile="crux",
    options_wanted=(0, 8),
    fits="a question with an answer: what is worth testing is tested, and no more",
    calls="4 to 40, as far as the answers differ",
    variants={
        "rounds": ("3", "0", "1", "2"),
        "first": ("1", "4"),
        "redraw": ("on", "off"),
        "memo": ("on", "off"),
        "stakes": ("normal", "low", "high"),
        "wait": ("on", "off"),
        "orders": ("on", "off"),
    },
)
