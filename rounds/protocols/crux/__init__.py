"""`crux`: ask first, test what could change the answer, update by arithmetic, and write the answer down.

Laws
1. Every answer and every number is sealed: no prompt before the closing shows another role's forecast.
2. The first answers may end the run: everyone asked agrees, the frame has no objection, no test is worth its price.
3. A crux is tested by running, calculating, reading or measuring. It is never argued.
4. Programs are written by the role that doubts the crux most. A verdict that surprised all four roles is tested again
   by another role, which does not see the first program.
5. Forecasts follow from each role's own sealed numbers by Bayes. No role is asked again.
6. What is lost is never read as agreement: a role without the numbers that a verdict needs leaves the group forecast.
7. The question is checked before any role answers, and its findings are shown to all.
8. The answer is always written: by the nearest role, against the objection of the least convinced one, each sentence
   checked against what it cites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from ledger.events import Frame
from ledger.events.ids import StepName
from ledger.events.run import PlanRow
from ledger.state.state import VERIFIER, State
from roles.protocol import Column, Loss, Protocol, QuestionKind, RoleDefinition, Rules, Sight, View
from rounds.protocols.crux import answers, assignments, closing, memo, standing, testing
from rounds.protocols.crux.brief_blocks import blocks
from rounds.protocols.crux.replies import (
    CRUXES_MAX,
    OBJECTION_WORDS_MAX,
    AgendaReply,
    CalculationReply,
    ForecastReply,
    FrameReply,
    MemoReply,
    NumbersReply,
    ObjectionReply,
    ProgramReply,
    ReadingReply,
    SealedAnswer,
    SentencesReply,
)
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import plans_programs
from rounds.protocols.step_table import StepRow, Steps, StepTable, asks_each, rule, verifier_alone

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
"""The sentence check sees what each sentence cites and what tested each claim: no document, and nothing else."""


_skipped: Final = partial(Loss, "skipped")
_row: Final = partial(StepRow, columns=_VIEW)
"""Build a row whose prompt shows the question, what came before, and what the protocol adds."""

# ---------------------------------------------------------------- who is asked, and when


def _others(state: State, _round: int) -> tuple[str, ...]:
    return tuple(role for role in AUTHORS if role != standing.first_role(state))


# The others wait for the first answer and the frame. Where that answer already ends the run,
# three replies are saved.
def _others_are_due(state: State, _round: int) -> bool:
    first = (f"r1.B.{standing.first_role(state)}", f"r1.A.{VERIFIER}")
    return all(state.is_done(step) for step in first) and not standing.first_answer_ends(state)


# Every author must be done, with a reply or a lost one, before the agenda: it merges all answers in one
# reply, and an answer that came later would have no place in it.
def _agenda_is_due(state: State, _round: int) -> bool:
    answered = all(state.is_done(f"r1.B.{role}") for role in AUTHORS)
    return answered and bool(standing.answering_roles(state)) and not standing.short_way_is_open(state)


def _writer(state: State, round_: int) -> tuple[str, ...]:
    writer = memo.writer_of(state, round_)
    return (writer,) if writer else ()


# ---------------------------------------------------------------- the largest run: three tests made here, all mended


def _programs(act: str = "") -> Steps:
    # Programs are the dearest tests: one reply each and a repair each. Expressions are never repaired.
    return lambda state, round_, phase: (
        StepName(round_, phase, f"c{n}{act}", AUTHORS[n - 1])
        for n in ((1, 2, 3) if plans_programs(state) else ())
    )


def _expressions(state: State, round_: int, phase: str) -> Iterator[StepName]:
    tested = () if plans_programs(state) else (1, 2)
    return (StepName(round_, phase, f"c{n}", AUTHORS[n - 1]) for n in tested)


def _nobody(*_: object) -> tuple[StepName, ...]:
    return ()


def _with_memo(role: str) -> Callable[[State, int], tuple[str, ...]]:
    return lambda state, _round: (role,) if rule(state, "memo") != "off" else ()


_FIRST, _SECOND, _CHECKER = _with_memo(AUTHORS[0]), _with_memo(AUTHORS[1]), _with_memo(VERIFIER)

# ---------------------------------------------------------------- the table

STEPS: Final = StepTable(
    (
        _row(
            "A",
            asks_each(verifier_alone),
            FrameReply,
            lambda numbering, step, reply: (numbering.event(Frame, step, reply),),
            wrong=answers.wrong_frame,
            loss=_skipped("the question itself was not checked, so the run takes no short way"),
        ),
        _row(
            "B",
            asks_each(lambda state, _round: (standing.first_role(state),)),
            SealedAnswer,
            answers.answered,
            wrong=answers.wrong_answer,
            loss=_skipped(
                "this role gave no answer of its own; where options are named, the group forecast is without it",
                decides=lambda state: standing.made_by_code(state) or not standing.is_open_ended(state),
            ),
            group="first",
        ),
        _row(
            "B",
            asks_each(_others),
            SealedAnswer,
            answers.answered,
            wrong=answers.wrong_answer,
            group="others",
            when=_others_are_due,
        ),
        _row(
            "C.agenda",
            asks_each(verifier_alone),
            AgendaReply,
            answers.agreed,
            wrong=answers.wrong_agenda,
            loss={
                "C": _skipped(
                    "no claim is listed for a test; where no options are named, each answer is one",
                )
            },
            when=_agenda_is_due,
        ),
        _row(
            "E",
            asks_each(lambda state, _round: standing.numbering_roles(state)),
            lambda state: ForecastReply if standing.is_open_ended(state) else NumbersReply,
            answers.numbered,
            wrong=answers.wrong_numbers,
            loss=_skipped(
                "no numbers of this role: where a test needs them, or options are made, the forecast is without it",
                decides=standing.is_open_ended,
            ),
            widest=asks_each(lambda _state, _round: AUTHORS),
            when=lambda _state, round_: round_ == 1,
        ),
        _row(
            "D.program",
            assignments.planned_by("execution"),
            ProgramReply,
            testing.measured,
            later=testing.programs,
            wrong=testing.wrong_plan,
            loss={"D": _skipped("this test of the crux is not made")},
            widest=_programs(),
            group="D",
        ),
        _row(
            "D.calculation",
            assignments.planned_by("calculation"),
            CalculationReply,
            testing.calculated,
            later=testing.calculation_verdicts,
            wrong=testing.wrong_calculation,
            widest=_expressions,
            group="D",
        ),
        _row(
            "D.read",
            asks_each(assignments.readers),
            ReadingReply,
            testing.read,
            wrong=testing.wrong_reading,
            loss={"D.verifier": _skipped("the documents are not read for the cruxes")},
            widest=asks_each(lambda state, n: () if plans_programs(state) else verifier_alone(state, n)),
            group="D",
        ),
        *(
            # Each wave is a group of its own: a repair can be asked for only after the programs of the
            # wave before were run.
            _row(
                "D.again",
                assignments.extra_steps(wave),
                ProgramReply,
                testing.measured,
                later=testing.programs,
                wrong=testing.wrong_plan,
                widest=_programs(assignments.REPAIR) if wave == 1 else _nobody,
                group=f"D.again {wave}",
            )
            for wave in assignments.WAVES
        ),
        _row(
            "S.memo",
            asks_each(lambda state, n: closing.memo_writers(state, n)[:1], "memo"),
            MemoReply,
            memo.written,
            wrong=memo.wrong_memo,
            loss=_skipped(
                "the next nearest role writes this memo; without either, the leader is the answer of its round",
            ),
            widest=asks_each(_FIRST, "memo"),
            when=closing.has_memo_steps,
        ),
        _row(
            # A lost memo goes to the next nearest role once. A second loss ends the round with the
            # leader as the answer.
            "S.memo",
            asks_each(lambda state, n: closing.memo_writers(state, n)[1:], "memo"),
            MemoReply,
            memo.written,
            wrong=memo.wrong_memo,
            widest=_nobody,
            group="S.memo by another role",
            when=closing.first_memo_was_lost,
        ),
        _row(
            "S.objection",
            asks_each(closing.objectors, "objection"),
            ObjectionReply,
            memo.objected,
            wrong=lambda _, reply: answers.words_problem(reply.text, OBJECTION_WORDS_MAX, "text"),
            loss=_skipped("what this role objects to in the memo of this round is not known"),
            widest=asks_each(_SECOND, "objection"),
            group="S.checks",
            when=closing.memo_is_in,
        ),
        _row(
            "S.check",
            asks_each(verifier_alone, "check"),
            SentencesReply,
            memo.checked,
            wrong=memo.wrong_sentences,
            # The check must not see documents or forecasts, or it could support a sentence with text that the
            # memo does not cite.
            loss=_skipped("no sentence of this memo is checked against what it cites"),
            widest=asks_each(_CHECKER, "check"),
            columns=_OF_THE_MEMO,
            group="S.checks",
            when=closing.memo_is_in,
        ),
        _row(
            "S.memo",
            asks_each(_writer, "memo", repeat=memo.AGAIN),
            MemoReply,
            memo.written,
            wrong=memo.wrong_memo,
            loss={"S.memo~": _skipped("the unsupported sentences of this memo are removed")},
            widest=asks_each(_FIRST, "memo", repeat=memo.AGAIN),
            group="S.memo rewritten",
            when=memo.is_due,
        ),
        _row(
            "S.check",
            asks_each(verifier_alone, "check", repeat=memo.AGAIN),
            SentencesReply,
            memo.checked,
            wrong=memo.wrong_sentences,
            loss={"S.check~": _skipped("the rewritten sentences are not checked against what they cite")},
            widest=asks_each(_CHECKER, "check", repeat=memo.AGAIN),
            columns=_OF_THE_MEMO,
            group="S.check again",
            when=lambda state, round_: memo.is_due(state, round_) and bool(memo.changed(state, round_)),
        ),
    ),
)


def _rounds(_rules: Rules, _options: int) -> tuple[PlanRow, ...]:
    """Return one round with tests, and one more closing for each crux that a person may settle later."""
    # A later round needs only a look and a memo: its forecasts follow by arithmetic from numbers that
    # are on the ledger.
    later = (PlanRow(round=n, phases=("E", "S")) for n in range(2, CRUXES_MAX + 2))
    return (PlanRow(round=1, phases=("A", "B", "C", "E", "D", "S")), *later)


CRUX: Final[Protocol] = STEPS.protocol(
    "crux",
    "sealed forecasts, tests of what could change the answer, and an answer that follows from both",
    ROLES,
    plan=_rounds,
    has_castings=True,
    widest=STEPS.widest,
    # The question is checked, one role answers, and the answer is written up and checked.
    shortest={"A": 1, "B": 1, "S": 2},
    owed=closing.owed,
    after_answer=closing.forecasts_after_answer,
    brought=testing.brought,
    runs_first=testing.runs_first,
    look=closing.look,
    after_round=closing.after_round,
    needed=closing.needed,
    tells=blocks,
    raises_claims=True,
    profile="crux",
    options_wanted=(0, 8),
    # Without cues of its own: it takes every question that shows no cue of another kind.
    questions=(QuestionKind("decision", "a decision, or a cause to find"),),
    fits="a question with an answer: what could change it is tested, and no more",
    calls="4 to 21, and 9 where no test is worth it",
    sides=closing.sides,
    variants={
        "memo": ("on", "off"),
        "stakes": ("normal", "low", "high"),
        "wait": ("on", "off"),
    },
)
