"""The memo of `crux`: its own checks, the objection, and the check of each sentence against what it cites.

A memo goes back to its writer once, for its unsupported sentences; what stays unsupported is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from ledger.events import Concern, DriftCheck, Event, Memo
from ledger.events.answers import MemoSentence, RemovedSentence
from ledger.events.ids import event_id, parse_reference, parse_step
from ledger.events.verifications import SentenceCheck
from ledger.plain_json import converted
from ledger.state.book import Book
from ledger.state.state import VERIFIER, State
from roles.memo.checks import MemoAnswer, MemoContext, memo_problems
from roles.memo.citing import cited_texts
from roles.memo.terms import Likelihood, likelihood_of
from roles.protocol import Step
from rounds.protocols.citations import Quotable, exactly_one
from rounds.protocols.crux.replies import MemoReply, ObjectionReply, SentencesReply
from rounds.protocols.crux.standing import option_ids, option_texts, standing_of_look
from rounds.protocols.step_table import Numbering

_DEVIATION: Final = {"PASS": 1, "PARTIAL": 3, "FAIL": 5}


# ---------------------------------------------------------------- S: the memo


def wrong_memo(known: Quotable, reply: MemoReply) -> Iterator[str]:
    """Yield what is wrong with a memo: the option that it answers with, then its sentences (`roles/memo/checks.py`)."""
    sentences = converted(reply.sentences, tuple[MemoSentence, ...], from_attributes=True)
    for problem in memo_problems(sentences, memo_context(known, reply, sentences)):
        yield str(problem)


def memo_context(known: Quotable, reply: MemoReply, sentences: Sequence[MemoSentence]) -> MemoContext:
    """Return what a memo is checked against: what its prompt showed, the asker's words, and what was computed."""
    book, opened = known.book, known.opened
    # The memo is checked against the look it was written from, or a later result would
    # make its figures wrong.
    standing = standing_of_look(known.state, known.step.name.round)
    refs = [ref for sentence in sentences for ref in sentence.refs]
    # A redacted document reads as empty; a figure that only it holds is then refused.
    contents = (book.blobs.read(document.sha256) or b"" for document in opened.context)
    leader = None if standing.leader is None else option_ids(known.state)[standing.leader]
    return MemoContext(
        answer=MemoAnswer(
            option=reply.answers,
            why_not_leader=reply.why_not_leader,
            leader=leader,
            options=option_texts(known.state),
        ),
        status=standing.status,
        question=opened.question,
        goals=tuple(goal.text for goal in opened.goals),
        options=tuple(option.text for option in known.state.options),
        documents=tuple(content.decode("utf-8", "replace") for content in contents),
        cited=cited_texts(book, refs, known.by_id),
        values=computed_values(known.state, known.step.name.round),
        likelihood=likelihood_now(known.state),
    )


def computed_values(state: State, round_: int) -> tuple[Fraction, ...]:
    """Return points, values of tests and counts, as a memo may state them."""
    standing = standing_of_look(state, round_)
    group = standing.group
    points = [Fraction(value) for forecast in standing.forecasts.values() for value in forecast]
    points += [group.points(n) for n in range(len(group.sums))] if group else []
    points += [standing.margin] if standing.margin is not None else []
    values = [crux.best for crux in standing.unsettled]
    tested = [claim for claim, facts in state.claims.items() if facts.moves]
    counts = (len(state.answered), len(standing.forecasts), len(tested), len(standing.unsettled))
    return (*points, *values, *map(Fraction, counts))


def likelihood_now(state: State) -> Likelihood | None:
    """Return how likely the leader is, by the group forecast."""
    standing = standing_of_look(state, state.round)
    if standing.group is None or standing.leader is None:
        return None
    return likelihood_of(standing.group.points(standing.leader))


def written(numbering: Numbering, step: Step, reply: MemoReply) -> tuple[Event, ...]:
    """Return the memo as an event."""
    return (numbering.event(Memo, step, reply, id=_id_of("memo", step)),)


# ---------------------------------------------------------------- S: objection and sentence check


def objected(numbering: Numbering, step: Step, reply: ObjectionReply) -> tuple[Event, ...]:
    """Return the objection as a concern; its author dissents where it has a rank."""
    rank = 1 if reply.dissents else None
    return (numbering.event(Concern, step, reply, type="concern", rank=rank),)


def to_judge(book: Book, step: Step) -> tuple[int, ...]:
    """Return the numbers of the sentences that a check judges: all of the memo, or those that a rewrite changed."""
    # Sentences that were not changed keep their verdict: judging them twice could contradict the first check.
    if step.name.repeat > 1:
        return changed(book.state, step.name.round)
    memo = book.state.memo
    return tuple(range(1, len(memo.sentences) + 1)) if memo else ()


def _id_of(kind: str, step: Step) -> str:
    """Return the id of a memo or of its check, of which a round has two at most."""
    return event_id(kind, step.name.round, repeat=step.name.repeat)


def wrong_sentences(known: Quotable, reply: SentencesReply) -> Iterator[str]:
    """Yield what is wrong with the check of a memo: a verdict is missing for a sentence or a goal."""
    wanted = to_judge(known.book, known.step)
    if sorted(sentence.n for sentence in reply.sentences) != sorted(wanted):
        yield f"sentences: exactly one for each of {', '.join(map(str, wanted)) or 'none'} is wanted"
    goals = [goal.id for goal in known.opened.goals]
    yield from exactly_one((kept.goal for kept in reply.goals), goals, "goals", "goal")


def checked(numbering: Numbering, step: Step, reply: SentencesReply) -> tuple[Event, ...]:
    """Return the drift check of the round, with a verdict on every sentence."""
    served = {kept.served for kept in reply.goals}
    # One goal that is not served fails the check, whatever the others say; without goals it passes.
    verdict = "PASS" if served <= {"yes"} else "FAIL" if "no" in served else "PARTIAL"
    memo = _id_of("memo", step)
    check = numbering.event(
        DriftCheck,
        step,
        id=_id_of("drift_check", step),
        verdict=verdict,
        deviation_score=_DEVIATION[verdict],
        notes=reply.notes or "No goal is neglected.",
        anchors=reply.goals,
        sentences=tuple(
            SentenceCheck(of=f"{memo}#s{judged.n}", verdict=judged.verdict, reason=judged.reason)
            for judged in sorted(reply.sentences, key=lambda judged: judged.n)
        ),
    )
    return (check,)


# ---------------------------------------------------------------- S: rewriting


AGAIN: Final = 2
"""Repeat of a memo that was rewritten, and of its check."""


def writer_of(state: State, round_: int) -> str | None:
    """Return the role whose memo was accepted in a round."""
    # Replies that were lost are not in `answered`, so this is the second writer where the first one failed.
    for step in state.answered:
        name = parse_step(step)
        if name is not None and (name.round, name.phase, name.act) == (round_, "S", "memo"):
            return name.role
    return None


def is_due(state: State, round_: int) -> bool:
    """Return whether the writer is asked again because the check found a sentence unsupported."""
    return any(
        verdict == "not" and parse_reference(of).id == event_id("memo", round_)
        for of, verdict in state.sentences.items()
    )


def memos_of(state: State, round_: int) -> tuple[Memo | None, Memo | None]:
    """Return the memo of a round, and the same rewritten."""
    return state.memos.get(event_id("memo", round_)), state.memos.get(event_id("memo", round_, repeat=AGAIN))


def last_memo(state: State, round_: int) -> Memo | None:
    """Return the memo as its writer handed it in last."""
    first, second = memos_of(state, round_)
    return second or first


def changed(state: State, round_: int) -> tuple[int, ...]:
    """Return the numbers of the sentences that only the rewritten memo has."""
    first, second = memos_of(state, round_)
    if first is None or second is None:
        return ()
    # Sentences are compared whole: the same words with other references need a new check.
    return tuple(n for n, sentence in enumerate(second.sentences, 1) if sentence not in first.sentences)


def is_finished(state: State, round_: int) -> bool:
    """Return whether the rewrite came or was lost, and its changes were checked or that check was lost."""
    if memos_of(state, round_)[1] is None:
        # A rewrite that is neither here nor lost is still awaited.
        return f"r{round_}.S.memo.{writer_of(state, round_)}~{AGAIN}" in state.given_up
    return not changed(state, round_) or state.is_done(f"r{round_}.S.check.{VERIFIER}~{AGAIN}")


def remaining(book: Book, round_: int) -> tuple[tuple[MemoSentence, ...], Memo | None]:
    """Return the sentences that stay, and the memo without the removed ones; None where all stay.

    A sentence that came back word for word under the same refusal goes, whatever the lost second check would have said.
    """
    first, second = memos_of(book.state, round_)
    if first is None:
        return (), None
    last = second or first
    # Sentence of a memo (`M-1#s2`) → the reason why its citations do not support it.
    refused = {
        sentence.of: sentence.reason
        for check in book.of(DriftCheck)
        for sentence in check.sentences
        if sentence.verdict == "not"
    }
    why = [_refusal(sentence, n, first, last, refused) for n, sentence in enumerate(last.sentences, 1)]
    pairs = list(zip(last.sentences, why, strict=True))
    kept = tuple(sentence for sentence, reason in pairs if reason is None)
    removed = tuple(
        RemovedSentence(text=sentence.text, why=reason) for sentence, reason in pairs if reason is not None
    )
    if not removed:
        return kept, None
    # Both earlier memos stay on the ledger, so this third one has a fixed number that no step can take.
    without = Numbering(book, round_).computed(
        Memo,
        "S",
        id=event_id("memo", round_, repeat=3),
        answers=last.answers,
        why_not_leader=last.why_not_leader,
        sentences=kept,
        removed=removed,
    )
    return kept, without


def _refusal(
    sentence: MemoSentence, n: int, first: Memo, last: Memo, refused: Mapping[str, str]
) -> str | None:
    """Return why a sentence goes: its last check found it unsupported."""
    # An unchanged sentence was judged in the first check only, under the number that it had there.
    of = f"{last.id}#s{n}"
    if last is not first and sentence in first.sentences:
        of = f"{first.id}#s{first.sentences.index(sentence) + 1}"
    return refused.get(of)
