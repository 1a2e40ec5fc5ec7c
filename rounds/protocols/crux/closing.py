"""The closing of `crux`: the look after the tests, questions to a person, when the memo is due, and the decision.

A round ends with a look: group forecast, status and unsettled cruxes are recorded. The memo follows. A person's result
that changes leader or status opens one more round, which has a look and a memo of its own and no tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any, Final, cast

from detectors.forecasts.parameters import parameter_hash
from detectors.forecasts.standing import ForecastStanding
from ledger.events import Belief, Claim, Concern, Decision, Event, Signals
from ledger.events.answers import MemoSentence
from ledger.events.decisions import Cite, Dissent, Requirement, ValueOfTest
from ledger.events.ids import parse_reference
from ledger.events.values import StandingStatus
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from ledger.state.state import VERIFIER, State
from roles.outcome_status import OutcomeStatus
from roles.protocol import AfterRound
from rounds.protocols.crux import rewriting
from rounds.protocols.crux.answers import options_of_answers
from rounds.protocols.crux.assignments import objector, tests_are_done, writers
from rounds.protocols.crux.standing import (
    NUMBERS,
    askable,
    forecast_id,
    made_by_code,
    numbers_end,
    option_ids,
    option_texts,
    standing_at,
)
from rounds.protocols.step_table import Numbering, rule

_CITE_TYPE: Final = {
    "C": "claim",
    "V": "verification",
    "B": "belief",
    "N": "concern",
    "E": "experiment",
    "K": "document",
    "M": "memo",
    "D": "decision",
}


# ---------------------------------------------------------------- the look after the tests


def _decimal(value: Fraction) -> str:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{exact.quantize(Decimal('0.000001'), rounding=ROUND_HALF_EVEN):f}"


def look(book: Book, phase: str) -> tuple[Event, ...]:
    """Record where the run stands; then the questions whose answers could change it, where the run waits for them."""
    state = book.state
    standing, options = standing_at(state), option_ids(state)
    group = standing.group
    signals = Signals(
        round=state.round,
        phase=phase,
        by="controller",
        profile="crux",
        params=parameter_hash(),
        through=len(book.events) - 1,
        signals=(),
        satisfied=0,
        of=0,
        stop=True,
        advice="wrap_up",
        status=cast("StandingStatus", str(standing.status)),
        leader=None if standing.leader is None else options[standing.leader],
        pool={o: _decimal(group.points(n)) for n, o in enumerate(options)} if group else {},
        values=tuple(ValueOfTest(claim=one.claim, evsi=_decimal(one.best)) for one in standing.unsettled),
    )
    return (signals, *(_questions(book, phase) if state.waits else ()))


def _questions(book: Book, phase: str) -> Iterator[Event]:
    """One question for each unsettled crux that is worth a test and that a person can settle, not yet asked."""
    numbering = Numbering(book, book.state.round)
    asked = {claim for one in book.state.concerns.values() if _is_question(one) for claim in one.between}
    for crux in askable(book.state):
        claim = book.by_id[crux.claim]
        if isinstance(claim, Claim) and crux.claim not in asked:
            yield Concern(
                id=numbering.number("concern"),
                round=book.state.round,
                phase=phase,
                by="controller",
                type="question",
                text=claim.testable_as,
                between=(crux.claim,),
                for_human=True,
            )


def _is_question(one: Any) -> bool:
    return bool(one.for_human) and one.type == "question" and one.by == "controller"


def last_look(state: State) -> Signals | None:
    """The look of the round that is open, if it was taken."""
    return look_of(state, state.round)


def look_of(state: State, round_: int) -> Signals | None:
    """The look of a round."""
    return next((one for one in reversed(state.looks) if one.round == round_), None)


def standing_of_look(state: State, round_: int) -> ForecastStanding:
    """Where the run stood at the look of a round: its closing is played on this, whatever came later."""
    found = look_of(state, round_)
    return standing_at(state, None if found is None else found.seq)


# ---------------------------------------------------------------- waiting for a person


def needed(state: State) -> tuple[str, ...]:
    """Open questions whose answers could still change the outcome."""
    if not state.waits:
        return ()
    worth = {crux.claim for crux in askable(state)}
    return tuple(
        identity
        for identity, one in state.concerns.items()
        if _is_question(one) and identity not in state.resolved and worth.intersection(one.between)
    )


def _has_changed(state: State) -> bool:
    """Whether leader or status differ from what the last look recorded."""
    seen, now = last_look(state), standing_at(state)
    leader = None if now.leader is None else option_ids(state)[now.leader]
    return seen is not None and (seen.leader, seen.status) != (leader, str(now.status))


def after_round(state: State) -> AfterRound:
    """The next round, the wait for a person, or the end, once look and closing are done."""
    seen = last_look(state)
    if seen is None:
        return "steps"
    if not seen.pool:
        return "seats_failed"
    if "S" not in state.validated.get(state.round, ()) and has_memo_steps(state, state.round):
        return "steps"
    if _has_changed(state) and state.rounds[state.round].plan_row + 1 < len(state.opening.plan):
        return "next"
    return "wait" if needed(state) else "protocol_end"


def status_of(state: State) -> OutcomeStatus:
    """Status of the outcome now; a memo that answers with another option than the leader is a person's call."""
    if state.stopped_by is not None:
        return OutcomeStatus.STOPPED
    if not state.finished:
        return OutcomeStatus.WAITING if is_waiting(state) else OutcomeStatus.RUNNING
    return status_of_answer(state)


def status_of_answer(state: State) -> OutcomeStatus:
    """Status that the answer would have if the run were over."""
    standing, memo = standing_at(state), state.memo
    if memo is not None and standing.leader is not None:
        leader = option_ids(state)[standing.leader]
        if memo.answers not in (None, leader):
            return standing.status.at_most(OutcomeStatus.YOUR_CALL)
    return standing.status


def is_waiting(state: State) -> bool:
    """Whether the run has its answer and waits for a person."""
    return last_look(state) is not None and after_round(state) == "wait"


# ---------------------------------------------------------------- S: who is asked


def closes(state: State, round_: int) -> bool:
    """Whether the round has its closing steps."""
    found = look_of(state, round_)
    return found is not None and bool(found.pool)


def has_memo_steps(state: State, round_: int) -> bool:
    """Whether a memo is asked for."""
    return rule(state, "memo") != "off" and closes(state, round_)


def memo_writers(state: State, round_: int) -> tuple[str, ...]:
    """The nearest role, and the next nearest, which writes where the memo of the first is lost."""
    return writers(standing_of_look(state, round_))[:2]


def first_writer(state: State, round_: int) -> tuple[str, ...]:
    """Who writes the memo."""
    return memo_writers(state, round_)[:1]


def second_writer(state: State, round_: int) -> tuple[str, ...]:
    """Who writes it where that was lost."""
    return memo_writers(state, round_)[1:]


def first_memo_was_lost(state: State, round_: int) -> bool:
    """Whether the first writer's memo was lost."""
    return has_memo_steps(state, round_) and any(
        f"r{round_}.S.memo.{role}" in state.given_up for role in first_writer(state, round_)
    )


def memo_is_in(state: State, round_: int) -> bool:
    """Whether a memo was written in this round."""
    return closes(state, round_) and rewriting.writer_of(state, round_) is not None


def objectors(state: State, round_: int) -> tuple[str, ...]:
    """Who objects to the memo; none where one role alone answered."""
    writer = rewriting.writer_of(state, round_)
    role = objector(standing_of_look(state, round_), writer) if writer else None
    return (role,) if role else ()


# ---------------------------------------------------------------- what the controller owes


def owed(book: Book) -> tuple[Event, ...]:
    """Options where none were made, forecasts that verdicts moved, then the decision once the closing is done."""
    state = book.state
    if state.round not in state.rounds:
        return ()
    if made := options_of_answers(book):
        return made
    if tests_are_done(state) and (moved := moved_forecasts(state)):
        return moved
    return decided(book) if _closing_is_done(state) else ()


def moved_forecasts(state: State) -> tuple[Event, ...]:
    """Forecasts that verdicts have moved since they were last recorded, by role."""
    standing, options = standing_at(state), option_ids(state)
    recorded = state.beliefs_at(state.round)
    moved: list[Event] = []
    for role, forecast in standing.forecasts.items():
        points = {option: value for option, value in zip(options, forecast, strict=True) if value}
        before = recorded.get(role)
        if before is not None and not made_by_code(state) and dict(before.points) != points:
            moved.append(
                Belief(
                    id=_next_id(state, role),
                    round=state.round,
                    phase=state.phase,
                    by="controller",
                    role=role,
                    points=points,
                    derived=True,
                )
            )
    return tuple(moved)


def _next_id(state: State, role: str) -> str:
    given = [one.n for one in state.beliefs.values() if (one.round, one.role) == (state.round, role)]
    return forecast_id(state.round, role, max([NUMBERS, *given]) + 1)


def forecasts_after_answer(book: Book, answer: Decision) -> tuple[Event, ...]:
    """The forecasts that a person's result moves, for the same commit; none while it is kept back."""
    if answer.result is None or numbers_end(book.state) is None:
        return ()
    return moved_forecasts(book.state)


def _closing_is_done(state: State) -> bool:
    round_ = state.round
    if not closes(state, round_) or _decided_in(state, round_):
        return False
    if not has_memo_steps(state, round_):
        return True
    if not memo_is_in(state, round_):
        return all(state.is_done(f"r{round_}.S.memo.{role}") for role in memo_writers(state, round_))
    late = [f"r{round_}.S.objection.{role}" for role in objectors(state, round_)]
    if not all(state.is_done(step) for step in (*late, f"r{round_}.S.check.{VERIFIER}")):
        return False
    return not rewriting.is_due(state, round_) or rewriting.is_finished(state, round_)


def _decided_in(state: State, round_: int) -> bool:
    return any(one.type == "final" and one.round == round_ for one in state.decisions.values())


def decided(book: Book) -> tuple[Event, ...]:
    """The final decision: the memo's answer without its unsupported sentences, or the leader; it replaces the last."""
    state, round_ = book.state, book.state.round
    seen, memo = last_look(state), rewriting.last_memo(state, round_)
    assert seen is not None, "a run closes after a look"
    sentences, removed = rewriting.left(book, round_)
    option = memo.answers if memo is not None else seen.leader
    answer = " ".join(one.text for one in sentences if one.field == "answer")
    earlier = tuple(Cite(type="decision", id=one, relation="supersedes") for one in final_in_force(state))
    decision = Decision(
        round=round_,
        phase="S",
        by="controller",
        id=Numbering(book, round_).number("decision"),
        text=answer or f"{option_texts(state)[option or 'none']}".strip(),
        type="final",
        cites=(*_cites(book, sentences), *earlier),
        made_by="rule",
        about=(option,) if option and option.startswith("O-") else (),
        dissent=tuple(
            Dissent(role=event.by, ref=str(event.id), text=event.text)
            for event in book.of(Concern)
            if (event.round, event.phase, event.rank) == (round_, "S", 1)
        ),
        falsifiers=tuple(one.text for one in sentences if one.field == "changes_our_mind"),
        requirements=tuple(Requirement(text=one.text) for one in sentences if one.field == "requirements"),
    )
    return (removed, decision) if removed else (decision,)


def _cites(book: Book, sentences: Sequence[MemoSentence]) -> tuple[Cite, ...]:
    """What the remaining sentences refer to, and at least the forecasts of the group."""
    state = book.state
    named = [parse_reference(ref).id for one in sentences for ref in one.refs]
    forecasts = [facts.id for facts in state.beliefs_at(state.round).values()]
    found: list[Cite] = []
    for identity in dict.fromkeys((*named, *forecasts)):
        kind: Any = _CITE_TYPE.get(identity.partition("-")[0])
        if kind is not None:
            relation: Any = "supported-by" if identity in named else "based-on"
            found.append(Cite(type=kind, id=identity, relation=relation))
    return tuple(found)
