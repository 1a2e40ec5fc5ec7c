"""The memo of `crux`: its own checks, the objection, and the check of each sentence against what it cites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final, Literal

from ledger.events import Concern, DriftCheck, Event, Memo
from ledger.events.answers import MemoSentence
from ledger.events.verifications import Anchor, SentenceCheck
from ledger.state.book import Book
from ledger.state.state import State
from roles.memo.checks import MemoAnswer, MemoContext, memo_problems
from roles.memo.citing import cited_texts
from roles.memo.likelihood import Likelihood, likelihood_of
from roles.protocol import Step
from rounds.protocols.crux import rewriting
from rounds.protocols.crux.answers import words_problem
from rounds.protocols.crux.closing import standing_of_look
from rounds.protocols.crux.replies import MemoReply, ObjectionReply, SentencesReply
from rounds.protocols.crux.standing import option_ids, option_texts
from rounds.protocols.quotable import Quotable, exactly_one
from rounds.protocols.step_table import Numbering, by

OBJECTION_WORDS_MAX: Final = 50
_DEVIATION: Final = {"PASS": 1, "PARTIAL": 3, "FAIL": 5}


# ---------------------------------------------------------------- S: the memo


def wrong_memo(known: Quotable, reply: MemoReply) -> Iterator[str]:
    """Yield what is wrong with a memo: the option that it answers with, then its sentences (`roles/memo/checks.py`)."""
    sentences = sentences_of(reply)
    for problem in memo_problems(sentences, memo_context(known, reply, sentences)):
        yield str(problem)


def sentences_of(reply: MemoReply) -> tuple[MemoSentence, ...]:
    """Return the sentences as events keep them."""
    return tuple(
        MemoSentence(
            field=draft.field, text=draft.text, refs=draft.refs, quote=draft.quote, judgment=draft.judgment
        )
        for draft in reply.sentences
    )


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


def written(_: Numbering, step: Step, reply: MemoReply) -> tuple[Event, ...]:
    """Return the memo as an event."""
    return (
        Memo(
            **by(step),
            id=_numbered("M", step),
            answers=reply.answers,
            why_not_leader=reply.why_not_leader,
            sentences=sentences_of(reply),
        ),
    )


# ---------------------------------------------------------------- S: objection and sentence check


def wrong_objection(known: Quotable, reply: ObjectionReply) -> Iterator[str]:
    """Yield what is wrong with an objection: its length."""
    del known
    yield from words_problem(reply.text, OBJECTION_WORDS_MAX, "text")


def objected(numbering: Numbering, step: Step, reply: ObjectionReply) -> tuple[Event, ...]:
    """Return the objection as a concern; its author dissents where it has a rank."""
    return (
        Concern(
            **by(step),
            id=numbering.number("concern"),
            type="concern",
            text=reply.text,
            rank=1 if reply.dissents else None,
        ),
    )


def to_judge(book: Book, step: Step) -> tuple[int, ...]:
    """Return the numbers of the sentences that a check judges: all of the memo, or those that a rewrite changed."""
    # Sentences that were not changed keep their verdict: judging them twice could contradict the first check.
    if step.name.repeat > 1:
        return rewriting.changed(book.state, step.name.round)
    memo = book.state.memo
    return tuple(range(1, len(memo.sentences) + 1)) if memo else ()


def _numbered(letter: str, step: Step) -> str:
    """Return the id of a memo or of its check, with a suffix for the second one."""
    again = f"~{step.name.repeat}" if step.name.repeat > 1 else ""
    return f"{letter}-{step.name.round}{again}"


def wrong_sentences(known: Quotable, reply: SentencesReply) -> Iterator[str]:
    """Yield what is wrong with the check of a memo: a verdict is missing for a sentence or a goal."""
    wanted = to_judge(known.book, known.step)
    if sorted(sentence.n for sentence in reply.sentences) != sorted(wanted):
        yield f"sentences: exactly one for each of {', '.join(map(str, wanted)) or 'none'} is wanted"
    goals = [goal.id for goal in known.opened.goals]
    yield from exactly_one((kept.goal for kept in reply.goals), goals, "goals", "goal")


def checked(_: Numbering, step: Step, reply: SentencesReply) -> tuple[Event, ...]:
    """Return the drift check of the round, with a verdict on every sentence."""
    served = {kept.served for kept in reply.goals}
    # One goal that is not served fails the check, whatever the others say; without goals it passes.
    verdict: Literal["PASS", "FAIL", "PARTIAL"] = "FAIL" if "no" in served else "PARTIAL"
    verdict = "PASS" if served <= {"yes"} else verdict
    return (
        DriftCheck(
            **by(step),
            id=_numbered("H", step),
            verdict=verdict,
            deviation_score=_DEVIATION[verdict],
            notes=reply.notes or "No goal is neglected.",
            anchors=tuple(Anchor(goal=kept.goal, served=kept.served) for kept in reply.goals),
            sentences=tuple(
                SentenceCheck(
                    of=f"{_numbered('M', step)}#s{sentence.n}",
                    verdict=sentence.verdict,
                    reason=sentence.reason,
                )
                for sentence in sorted(reply.sentences, key=lambda sentence: sentence.n)
            ),
        ),
    )
