"""The closing of `crux`: the look after the tests, questions to a person, when the memo is due, and the decision.

A round ends with a look: group forecast, status and unsettled cruxes are recorded. The memo follows. A person's result
that changes leader or status opens one more round, which has a look and a memo of its own and no tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from detectors.forecasts.arithmetic import decimal_text, group_forecast, leader_of
from detectors.parameters import params_hash
from ledger.events import Belief, Claim, Concern, Decision, Event, Signals
from ledger.events.answers import MemoSentence
from ledger.events.decisions import Cite, Dissent, Requirement, ValueOfTest
from ledger.events.ids import cite_type, kind_of, parse_reference
from ledger.state.book import Book
from ledger.state.decided import final_in_force, is_overruled
from ledger.state.lifecycle import FALLEN
from ledger.state.state import VERIFIER, State
from roles.outcome_status import OutcomeStatus
from roles.protocol import AfterRound
from rounds.protocols.citations import cites
from rounds.protocols.crux.answers import options_of_answers
from rounds.protocols.crux.assignments import objector, tests_are_done, writers
from rounds.protocols.crux.memo import is_due, is_finished, last_memo, remaining, writer_of
from rounds.protocols.crux.standing import (
    NUMBERS,
    askable,
    forecast_id,
    last_look,
    look_of,
    made_by_code,
    numbers_end,
    option_ids,
    option_texts,
    standing_at,
    standing_of_look,
    table_at,
)
from rounds.protocols.step_table import Numbering, rule

_CITED: Final = frozenset(
    {"claim", "verification", "belief", "concern", "experiment", "document", "memo", "decision"}
)


# ---------------------------------------------------------------- the look after the tests


def look(book: Book, phase: str) -> tuple[Event, ...]:
    """Return the events of a look: where the run stands, and the questions that it waits for."""
    state = book.state
    standing, options = standing_at(state), option_ids(state)
    group = standing.group
    signals = Numbering(book, state.round).computed(
        Signals,
        phase,
        profile="crux",
        params=params_hash("crux"),
        through=len(book.events) - 1,
        signals=(),
        satisfied=0,
        of=0,
        stop=True,
        advice="wrap_up",
        status=str(standing.status),
        leader=None if standing.leader is None else options[standing.leader],
        pool={o: decimal_text(group.points(n), 6) for n, o in enumerate(options)} if group else {},
        values=[
            ValueOfTest(claim=crux.claim, evsi=decimal_text(crux.best, 6)) for crux in standing.unsettled
        ],
    )
    # Questions are written in the commit of the look, so a crash cannot leave a run that
    # waits without a question.
    return (signals, *(_questions(book, phase) if state.waits else ()))


def _questions(book: Book, phase: str) -> Iterator[Event]:
    """Yield one question for each unsettled crux that is worth a test and that a person can settle.

    A crux is asked about once.
    """
    numbering = Numbering(book, book.state.round)
    questions = [concern for concern in book.state.concerns.values() if _is_question(concern)]
    known = {claim for concern in questions for claim in concern.between}
    for crux in askable(book.state):
        claim = book.by_id[crux.claim]
        if isinstance(claim, Claim) and crux.claim not in known:
            yield numbering.computed(
                Concern,
                phase,
                type="question",
                text=claim.testable_as,
                between=(crux.claim,),
                for_human=True,
            )


def _is_question(concern: Any) -> bool:
    return bool(concern.for_human) and concern.type == "question" and concern.by == "controller"


# ---------------------------------------------------------------- waiting for a person


def needed(state: State) -> tuple[str, ...]:
    """Return open questions whose answers could still change the outcome."""
    if not state.waits or is_overruled(state):
        return ()
    # Worth is computed anew: after another answer, a question may no longer be able to change anything.
    worth = {crux.claim for crux in askable(state)}
    return tuple(
        identity
        for identity, concern in state.concerns.items()
        if _is_question(concern) and identity not in state.resolved and worth.intersection(concern.between)
    )


def after_round(state: State) -> AfterRound:
    """Return the next round, the wait for a person, or the end, once look and closing are done."""
    seen = last_look(state)
    if seen is None:
        return "steps"
    # An empty group forecast means that no role answered with numbers, and there is nothing to close.
    if not seen.pool:
        return "seats_failed"
    # A memo that is still open would replace the person's decision.
    if is_overruled(state):
        return "protocol_end"
    if "S" not in state.validated.get(state.round, ()) and has_memo_steps(state, state.round):
        return "steps"
    now = standing_at(state)
    leader = None if now.leader is None else option_ids(state)[now.leader]
    has_changed = (seen.leader, seen.status) != (leader, str(now.status))
    # The plan has one row per crux at most, which bounds the rounds that answers of people can open.
    if has_changed and state.rounds[state.round].plan_row + 1 < len(state.opening.plan):
        return "next"
    return "wait" if needed(state) else "protocol_end"


def status_of_answer(state: State) -> OutcomeStatus:
    """Return the status that the answer would have if the run were over."""
    standing, memo = standing_at(state), state.memo
    if memo is not None and standing.leader is not None:
        leader = option_ids(state)[standing.leader]
        # `at_most` never raises a status: a memo cannot turn an unsettled run into one that asks
        # only for a choice.
        if memo.answers not in (None, leader):
            return standing.status.at_most(OutcomeStatus.YOUR_CALL)
    return standing.status


# ---------------------------------------------------------------- S: who is asked


def closes(state: State, round_: int) -> bool:
    """Return whether the round has its closing steps."""
    recorded = look_of(state, round_)
    return recorded is not None and bool(recorded.pool)


def has_memo_steps(state: State, round_: int) -> bool:
    """Return whether a memo is asked for."""
    return rule(state, "memo") != "off" and closes(state, round_)


def memo_writers(state: State, round_: int) -> tuple[str, ...]:
    """Return the nearest role and the next nearest, which writes where the memo of the first is lost."""
    return writers(standing_of_look(state, round_))[:2]


def first_memo_was_lost(state: State, round_: int) -> bool:
    """Return whether the first writer's memo was lost."""
    return has_memo_steps(state, round_) and any(
        f"r{round_}.S.memo.{role}" in state.given_up for role in memo_writers(state, round_)[:1]
    )


def memo_is_in(state: State, round_: int) -> bool:
    """Return whether a memo was written in this round."""
    return closes(state, round_) and writer_of(state, round_) is not None


def objectors(state: State, round_: int) -> tuple[str, ...]:
    """Return the role that objects to the memo; none where one role alone answered."""
    writer = writer_of(state, round_)
    role = objector(standing_of_look(state, round_), writer) if writer else None
    return (role,) if role else ()


# ---------------------------------------------------------------- what the controller owes


def owed(book: Book) -> tuple[Event, ...]:
    """Return options where none were made, forecasts moved by verdicts, then the decision once the closing is done."""
    # One kind per call: each later kind reads the state that the earlier one changes, and the driver asks
    # again after every commit. A crash between two of them resumes at the one that is missing.
    state = book.state
    if state.round not in state.rounds:
        return ()
    if agenda := options_of_answers(book):
        return agenda
    if tests_are_done(state) and (moved := moved_forecasts(book)):
        return moved
    return decided(book) if _closing_is_done(state) else ()


def moved_forecasts(book: Book) -> tuple[Event, ...]:
    """Return forecasts that verdicts have moved since they were last recorded, by role."""
    state = book.state
    standing, options = standing_at(state), option_ids(state)
    recorded, numbering = state.beliefs_at(state.round), Numbering(book, state.round)
    moved: list[Event] = []
    for role, forecast in standing.forecasts.items():
        points = {option: value for option, value in zip(options, forecast, strict=True) if value}
        before = recorded.get(role)
        # Options made by code have no numbers from the roles, so a verdict has nothing to move them with.
        if before is not None and not made_by_code(state) and dict(before.points) != points:
            facts = state.beliefs.values()
            numbers = [fact.n for fact in facts if (fact.round, fact.role) == (state.round, role)]
            # Computed forecasts are numbered after the sealed ones, whose numbers are fixed even where
            # a role gave none.
            identity = forecast_id(state.round, role, max([NUMBERS, *numbers]) + 1)
            moved.append(numbering.computed(Belief, id=identity, role=role, points=points, derived=True))
    return tuple(moved)


def forecasts_after_answer(book: Book, answer: Decision) -> tuple[Event, ...]:
    """Return the forecasts that a person's result moves, for the same commit; none while it is kept back."""
    kept_back = answer.result is None or numbers_end(book.state) is None
    return () if kept_back else moved_forecasts(book)


def _closing_is_done(state: State) -> bool:
    round_ = state.round
    finals = [decision.round for decision in state.decisions.values() if decision.type == "final"]
    if not closes(state, round_) or round_ in finals:
        return False
    if not has_memo_steps(state, round_):
        return True
    # Without a memo, both writers must have lost theirs before the leader alone becomes the answer.
    if not memo_is_in(state, round_):
        return all(state.is_done(f"r{round_}.S.memo.{role}") for role in memo_writers(state, round_))
    objections = [f"r{round_}.S.objection.{role}" for role in objectors(state, round_)]
    if not all(state.is_done(step) for step in (*objections, f"r{round_}.S.check.{VERIFIER}")):
        return False
    return not is_due(state, round_) or is_finished(state, round_)


def decided(book: Book) -> tuple[Event, ...]:
    """Return the final decision, which replaces the last one.

    It is the memo's answer without its unsupported sentences, or the leader.
    """
    state, round_ = book.state, book.state.round
    seen, memo = last_look(state), last_memo(state, round_)
    assert seen is not None, "a run closes after a look"
    sentences, removed = remaining(book, round_)
    option = memo.answers if memo is not None else seen.leader
    answer = " ".join(sentence.text for sentence in sentences if sentence.field == "answer")
    earlier = cites("decision", [(identity, "supersedes") for identity in final_in_force(state)])
    decision = Numbering(book, round_).computed(
        Decision,
        "S",
        text=answer or f"{option_texts(state)[option or 'none']}".strip(),
        type="final",
        cites=(*_cites(book, sentences), *earlier),
        made_by="rule",
        # `none` is not an option of the question, so a decision for it is about nothing.
        about=(option,) if option and kind_of(option) == "option" else (),
        dissent=[
            Dissent(role=event.by, ref=event.id, text=event.text)
            for event in book.of(Concern, round_)
            if (event.phase, event.rank) == ("S", 1)
        ],
        falsifiers=[sentence.text for sentence in sentences if sentence.field == "changes_our_mind"],
        requirements=[
            Requirement(text=sentence.text) for sentence in sentences if sentence.field == "requirements"
        ],
    )
    # The shortened memo and the decision are one commit: a reader never sees a decision
    # next to refused sentences.
    return (removed, decision) if removed else (decision,)


def _ground(book: Book, identity: str) -> str:
    """Return the thing that bears a sentence: for a claim that has fallen, the test or answer that felled it."""
    # A memo may well rest on a claim's failure. To cite the claim itself would put the decision AT RISK from
    # its first moment, because a refuted claim supports nothing.
    claim = book.state.claims.get(identity)
    if claim is None or claim.status not in FALLEN:
        return identity
    felled = next(move for move in sorted(claim.moves, reverse=True) if move.to in FALLEN)
    return book.events[felled.seq].id or identity


def _cites(book: Book, sentences: Sequence[MemoSentence]) -> tuple[Cite, ...]:
    """Return what the remaining sentences refer to, and at least the forecasts of the group."""
    # A decision without a cite breaks a rule (SD-47), and a judgment alone cites nothing;
    # the forecasts always exist.
    state = book.state
    named = [_ground(book, parse_reference(ref).id) for sentence in sentences for ref in sentence.refs]
    forecasts = [facts.id for facts in state.beliefs_at(state.round).values()]
    relations = {
        identity: "supported-by" if identity in named else "based-on" for identity in (*named, *forecasts)
    }
    return tuple(
        cite
        for identity, relation in relations.items()
        if cite_type(identity) in _CITED
        for cite in cites(cite_type(identity), [(identity, relation)])
    )


# ---------------------------------------------------------------- whose answer won


def sides(book: Book) -> Counter[str]:
    """Return whose leader won in the end, among first answers with another leader than most points."""
    first = table_at(book.state).forecasts.values()
    if not first:
        return Counter()
    options = option_ids(book.state)
    last = book.state.looks[-1].leader if book.state.looks else None
    foremost = group_forecast(first).leader
    led = [leader for leader in map(leader_of, first) if leader != foremost]
    return Counter("minority" if options[leader] == last else "majority" for leader in led)
