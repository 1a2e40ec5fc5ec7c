"""The memo of `crux` and what holds it to its sources: its own checks, the objection, the check of each sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, cast

from detectors.beliefs.stop import STATUS
from ledger.events import Concern, DriftCheck, Event, Memo
from ledger.events.answers import MemoSentence, OutcomeStatus
from ledger.events.ids import parse_reference
from ledger.events.verifications import Anchor, SentenceCheck
from ledger.state.anchors import contains_quote, passages
from ledger.state.state import State
from roles.protocol import Step
from rounds.protocols.crux.closing import last_look
from rounds.protocols.crux.replies import MemoReply, ObjectionReply, SentencesReply
from rounds.protocols.crux.standing import carried, end_of
from rounds.protocols.quotable import Quotable, exactly_one
from rounds.protocols.step_table import Numbering, by

SENTENCE_WORDS_MAX: Final = 30
MEMO_WORDS_MAX: Final = 350
OBJECTION_WORDS_MAX: Final = 50
JUDGMENTS_MAX: Final = 4
_REST_ON_SOMETHING: Final = ("answer", "why")
_ID: Final = re.compile(r"\b(?:[ACDEHKMNSV]-\d|B-\d|r\d\.)[\w.~#-]*")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_DEVIATION: Final = {"PASS": 1, "PARTIAL": 3, "FAIL": 5}


# ---------------------------------------------------------------- S: the memo


def wrong_memo(known: Quotable, reply: MemoReply) -> Iterator[str]:
    """What is wrong with a memo: what rests on nothing, quotes and numbers that stand nowhere, what is too long."""
    fields = [one.field for one in reply.sentences]
    if "answer" not in fields:
        yield "sentences: the memo has an answer"
    if sum(one.judgment for one in reply.sentences) > JUDGMENTS_MAX:
        yield f"sentences: at most {JUDGMENTS_MAX} are judgments"
    total = sum(len(one.text.split()) for one in reply.sentences)
    if total > MEMO_WORDS_MAX:
        yield f"sentences: {total} words; {MEMO_WORDS_MAX} at most"
    for n, one in enumerate(reply.sentences):
        where = f"sentences[{n}]"
        if len(one.text.split()) > SENTENCE_WORDS_MAX:
            yield f"{where}.text: {len(one.text.split())} words; {SENTENCE_WORDS_MAX} at most"
        if found := _ID.search(one.text):
            yield f"{where}.text: {found[0]!r} is an id; put it into refs and say it in words"
        if not one.refs and (one.field in _REST_ON_SOMETHING or not one.judgment):
            yield f"{where}.refs: name what it rests on" + (
                "" if one.field in _REST_ON_SOMETHING else ", or mark it as a judgment"
            )
        for k, ref in enumerate(one.refs):
            yield from known.reference_problems(ref, f"{where}.refs[{k}]")
        yield from _quote_problems(known, one.refs, one.quote, where)
        yield from _number_problems(known, one.refs, one.text, one.judgment, where)


def _texts(known: Quotable, refs: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for ref in refs:
        found += passages(parse_reference(ref), known.by_id, known.opened, known.book.blobs) or ()
    return tuple(found)


def _quote_problems(known: Quotable, refs: Sequence[str], quote: str | None, where: str) -> Iterator[str]:
    if quote is not None and not contains_quote(_texts(known, refs), quote):
        yield f"{where}.quote: it does not stand word for word in what the sentence cites"


def _number_problems(
    known: Quotable, refs: Sequence[str], text: str, judgment: bool, where: str
) -> Iterator[str]:
    """A number stands in the cited text, in the question, or among the numbers that were computed."""
    wanted = [_plain(found) for found in _NUMBER.findall(text)]
    if not wanted:
        return
    if judgment:
        yield f"{where}.text: a judgment holds no number"
        return
    opened = known.opened
    said = (*_texts(known, refs), opened.question, *(one.text for one in (*opened.goals, *opened.options)))
    there = {_plain(found) for one in said for found in _NUMBER.findall(one)} | computed_numbers(known.state)
    for number in wanted:
        if number not in there:
            yield f"{where}.text: {number} stands neither in what the sentence cites nor among the computed values"


def _plain(number: str) -> str:
    """A number without thousands separators and needless zeros."""
    whole = re.sub(r",(?=\d{3}\b)", "", number).rstrip(".,").replace(",", ".")
    return whole.rstrip("0").rstrip(".") if "." in whole else whole


def computed_numbers(state: State) -> set[str]:
    """Pool, ranges over roles and bounds of likelihood, as a memo may say them."""
    end = end_of(state, state.round)
    found = {"1", "5", "20", "45", "55", "80", "95", "99", "100"}
    for points in (end.pool or (), *end.roles.values()):
        for value in points:
            found |= {str(round(float(value))), _plain(f"{float(value):.2f}"), _plain(f"{float(value):.1f}")}
    for one in end.values:
        found |= {str(round(float(one.at_best))), _plain(f"{float(one.at_best):.2f}")}
    done = len(state.answered)
    return found | {str(done), str(len(end.roles)), str(len(state.rounds) - 1)}


def written(numbering: Numbering, step: Step, reply: MemoReply) -> tuple[Event, ...]:
    """The memo."""
    return (
        Memo(
            **by(step),
            id=f"M-{step.name.round}",
            status=status_of(numbering.book.state, reply),
            sentences=tuple(
                MemoSentence(
                    field=one.field, text=one.text, refs=one.refs, quote=one.quote, judgment=one.judgment
                )
                for one in reply.sentences
            ),
        ),
    )


def status_of(state: State, reply: MemoReply) -> OutcomeStatus:
    """What the answer asks of its reader; never written by a seat.

    What is to be decided has a tripwire where it says what would change it, where a reply was lost, and where one role
    carries it alone.
    """
    seen = last_look(state)
    if seen is None or seen.reason is None:
        return "running"
    status = cast("OutcomeStatus", STATUS[seen.reason])
    watched = any(one.field in ("changes_our_mind", "requirements") for one in reply.sentences)
    if status == "decide" and (watched or state.given_up or any(carried(state, state.round).values())):
        return "decide_with_tripwire"
    return status


# ---------------------------------------------------------------- S: objection and sentence check


def wrong_objection(known: Quotable, reply: ObjectionReply) -> Iterator[str]:
    """What is wrong with an objection: its length."""
    del known
    if len(reply.text.split()) > OBJECTION_WORDS_MAX:
        yield f"text: {len(reply.text.split())} words; {OBJECTION_WORDS_MAX} at most"


def objected(numbering: Numbering, step: Step, reply: ObjectionReply) -> tuple[Event, ...]:
    """The objection as a concern; whoever dissents gives it a weight."""
    return (
        Concern(
            **by(step),
            id=numbering.number("concern"),
            type="concern",
            text=reply.text,
            rank=1 if reply.dissents else None,
        ),
    )


def wrong_sentences(known: Quotable, reply: SentencesReply) -> Iterator[str]:
    """What is wrong with the check of a memo: one verdict for each sentence, one answer for each goal."""
    memo = known.state.memo
    wanted = [str(n) for n in range(1, len(memo.sentences) + 1)] if memo else []
    if sorted(str(one.n) for one in reply.sentences) != sorted(wanted):
        yield f"sentences: exactly one for each of 1 to {len(wanted)} is wanted"
    goals = [goal.id for goal in known.opened.goals]
    yield from exactly_one((one.goal for one in reply.goals), goals, "goals", "goal")


def checked(_: Numbering, step: Step, reply: SentencesReply) -> tuple[Event, ...]:
    """The drift check of the round, with a verdict on every sentence."""
    served = {one.served for one in reply.goals}
    verdict: Literal["PASS", "FAIL", "PARTIAL"] = "FAIL" if "no" in served else "PARTIAL"
    verdict = "PASS" if served <= {"yes"} else verdict
    round_ = step.name.round
    return (
        DriftCheck(
            **by(step),
            id=f"H-{round_}",
            verdict=verdict,
            deviation_score=_DEVIATION[verdict],
            notes=reply.notes,
            anchors=tuple(Anchor(goal=one.goal, served=one.served) for one in reply.goals),
            sentences=tuple(
                SentenceCheck(of=f"M-{round_}#s{one.n}", verdict=one.verdict, reason=one.reason)
                for one in sorted(reply.sentences, key=lambda one: one.n)
            ),
        ),
    )
