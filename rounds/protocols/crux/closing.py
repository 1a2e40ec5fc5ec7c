"""The end of a run of `crux`: the look at its beliefs after each round, the memo, and the decision that follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any, Final

from detectors.beliefs.parameters import crux_parameter_hash
from ledger.events import Claim, Concern, Decision, Event, Signals
from ledger.events.answers import MemoSentence
from ledger.events.decisions import Cite, Dissent, ValueOfTest
from ledger.events.ids import parse_reference
from ledger.state.book import Book
from ledger.state.decided import deliberated
from ledger.state.state import VERIFIER, State
from roles.protocol import AfterRound
from rounds.protocols.crux import rewriting
from rounds.protocols.crux.asked import objector, writers
from rounds.protocols.crux.standing import (
    end_of,
    option_ids,
    terms_now,
)
from rounds.protocols.crux.trials import derived_beliefs
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


# ---------------------------------------------------------------- the look after a round


def _decimal(value: Fraction) -> str:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{exact.quantize(Decimal('0.000001'), rounding=ROUND_HALF_EVEN):f}"


def look(book: Book, phase: str) -> tuple[Event, ...]:
    """What the beliefs come to after a round, and whether to stop; for what only a person can say, the question."""
    state = book.state
    end, options = end_of(state, state.round), option_ids(state)
    reason = end.stop.reason if end.stop else None
    goes_on = reason == "go_on"
    signals = Signals(
        round=state.round,
        phase=phase,
        by="controller",
        profile="crux",
        params=crux_parameter_hash(),
        through=len(book.events) - 1,
        signals=(),
        satisfied=0,
        of=0,
        stop=not goes_on,
        advice="continue" if goes_on else "wrap_up",
        reason=reason,
        leader=None if end.leader is None else options[end.leader],
        pool={o: _decimal(value) for o, value in zip(options, end.pool, strict=True)} if end.pool else {},
        movement=None if end.movement is None else _decimal(end.movement),
        noise=None if end.noise is None else _decimal(end.noise),
        values=tuple(ValueOfTest(claim=one.claim, evsi=_decimal(one.at_best)) for one in end.values),
    )
    asked = _questions(book, phase) if reason == "hand_over" and state.waits else ()
    return (signals, *asked)


def _questions(book: Book, phase: str) -> Iterator[Event]:
    """For each open crux that is worth a test which nobody here can make: that test, as a question to a person.

    What is handed in as its answer is `said`; a program's result that was run elsewhere may be told so as well.
    """
    numbering, end = Numbering(book, book.state.round), end_of(book.state, book.state.round)
    tau = terms_now(book.state).tau
    alone = [one for one in end.values if one.at_best >= tau]
    for one in alone or end.values:
        claim = book.by_id[one.claim]
        assert isinstance(claim, Claim), one.claim
        yield Concern(
            id=numbering.number("concern"),
            round=book.state.round,
            phase=phase,
            by="controller",
            type="question",
            text=claim.testable_as,
            between=(one.claim,),
            for_human=True,
        )


def last_look(state: State) -> Signals | None:
    """The look of the round that is open, if it was taken."""
    return state.looks[-1] if state.looks and state.looks[-1].round == state.round else None


def is_waiting(state: State) -> bool:
    """Whether the run has handed over and waits for what a person or a measurement says.

    It waits no longer when everything is answered, which opens the next round, or when no round is left for that.
    """
    seen = last_look(state)
    asked = _asked_of_a_person(state)
    if seen is None or seen.reason != "hand_over" or not state.waits or not asked:
        return False
    return _has_a_round_left(state) or not asked <= _answered(state)


def needed(state: State) -> tuple[str, ...]:
    """The questions of a hand-over that nobody has answered."""
    asked = _asked_of_a_person(state) - _answered(state)
    return tuple(i for i in state.concerns if i in asked) if is_waiting(state) else ()


def _asked_of_a_person(state: State) -> set[str]:
    return {
        identity
        for identity, one in state.concerns.items()
        if one.for_human and one.round == state.round and one.type == "question"
    }


def _answered(state: State) -> set[str]:
    return {cite.id for facts in state.decisions.values() if facts.type == "answer" for cite in facts.cites}


def _has_a_round_left(state: State) -> bool:
    return state.rounds[state.round].plan_row + 1 < len(state.opening.plan)


def closes(state: State, round_: int) -> bool:
    """Whether the round has the closing steps."""
    seen = next((one for one in state.looks if one.round == round_), None)
    return seen is not None and seen.stop and bool(seen.pool) and not is_waiting(state)


def after_round(state: State) -> AfterRound:
    """The next round, or the end with its reason, once the look and the closing are done."""
    seen = last_look(state)
    if seen is None:
        return "steps"
    if is_waiting(state):
        return "next" if _asked_of_a_person(state) <= _answered(state) else "wait"
    if not seen.stop:
        return "next"
    if not seen.pool or seen.reason is None:
        return "seats_failed"
    if "S" not in state.validated.get(state.round, ()) and has_memo_steps(state):
        return "steps"
    return "budget_calls" if seen.reason == "budget" else seen.reason if seen.reason != "go_on" else "cap"


# ---------------------------------------------------------------- S: who is asked


def has_memo_steps(state: State) -> bool:
    """Whether a memo is asked for at all."""
    return rule(state, "memo") != "off" and bool(writers(state))


def memo_writers(state: State) -> tuple[str, ...]:
    """The nearest role, and the next nearest when its memo is lost."""
    order = writers(state)[:2]
    if len(order) == 2 and f"r{state.round}.S.memo.{order[0]}" in state.given_up:
        return order[1:]
    return order[:1]


def memo_is_in(state: State, round_: int) -> bool:
    """Whether a memo was written in this round."""
    return any(step.startswith(f"r{round_}.S.memo.") for step in state.answered)


def objectors(state: State, round_: int) -> tuple[str, ...]:
    """Who objects to the memo: nobody where one role alone answered."""
    writer = rewriting.writer_of(state, round_)
    if writer is None:
        return ()
    found = objector(state, writer)
    return (found,) if found else ()


# ---------------------------------------------------------------- the decision


def owed(book: Book) -> tuple[Event, ...]:
    """What the controller writes when it is due: derived beliefs, then the decision when the closing is done."""
    state = book.state
    if state.round not in state.rounds:
        return ()
    moved = derived_beliefs(state, state.round)
    if moved:
        return moved
    return decided(book) if _closing_is_done(book) else ()


def _closing_is_done(book: Book) -> bool:
    state, round_ = book.state, book.state.round
    if not closes(state, round_) or deliberated(state, "final"):
        return False
    if not has_memo_steps(state):
        return True
    if not memo_is_in(state, round_):
        return all(state.is_done(f"r{round_}.S.memo.{role}") for role in writers(state)[:2])
    late = [f"r{round_}.S.objection.{role}" for role in objectors(state, round_)]
    if not all(state.is_done(step) for step in (*late, f"r{round_}.S.check.{VERIFIER}")):
        return False
    return not rewriting.is_due(state, round_) or _is_rewritten_and_checked(book, round_)


def _is_rewritten_and_checked(book: Book, round_: int) -> bool:
    state, again = book.state, f"~{rewriting.AGAIN}"
    if not rewriting.is_rewritten(state, round_):
        return f"r{round_}.S.memo.{rewriting.writer_of(state, round_)}{again}" in state.given_up
    return not rewriting.changed(book.state, round_) or state.is_done(f"r{round_}.S.check.{VERIFIER}{again}")


def decided(book: Book) -> tuple[Event, ...]:
    """The final decision by rule: the memo's answer, without sentences that nothing supports; or the leader."""
    state, round_ = book.state, book.state.round
    seen = last_look(state)
    assert seen is not None, "a run closes after a look"
    sentences, removed = rewriting.left(book, round_)
    common: dict[str, Any] = {"round": round_, "phase": "S", "by": "controller"}
    decision = Decision(
        **common,
        id=Numbering(book, round_).number("decision"),
        text=" ".join(one.text for one in sentences if one.field == "answer") or _in_words(state, seen),
        type="final",
        cites=_cites(book, sentences),
        made_by="rule",
        about=(seen.leader,) if seen.leader and seen.leader.startswith("O-") else (),
        dissent=tuple(
            Dissent(role=event.by, ref=str(event.id), text=event.text)
            for event in book.events
            if isinstance(event, Concern) and event.phase == "S" and event.rank == 1
        ),
        falsifiers=tuple(one.text for one in sentences if one.field == "changes_our_mind"),
        requirements=tuple(one.text for one in sentences if one.field == "requirements"),
    )
    return (removed, decision) if removed else (decision,)


def _in_words(state: State, seen: Signals) -> str:
    """The leader in the asker's words."""
    named = {option.id: option.text for option in state.options}
    if seen.leader is None or seen.leader not in named:
        return "None of the options." if state.options else "The answers stand side by side."
    return named[seen.leader]


def _cites(book: Book, sentences: Sequence[MemoSentence]) -> tuple[Cite, ...]:
    """What the remaining sentences refer to, and at least the beliefs of the pool."""
    state = book.state
    named = [parse_reference(ref).id for one in sentences for ref in one.refs]
    beliefs = [facts.id for facts in state.beliefs_at(state.round).values()]
    found: list[Cite] = []
    for identity in dict.fromkeys((*named, *beliefs)):
        kind: Any = _CITE_TYPE.get(identity.partition("-")[0])
        if kind is not None:
            relation: Any = "supported-by" if identity in named else "based-on"
            found.append(Cite(type=kind, id=identity, relation=relation))
    return tuple(found)
