"""Rewriting: a memo goes back to its writer once, for its unsupported sentences; what stays unsupported is removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ledger.events import DriftCheck, Memo
from ledger.events.answers import MemoSentence, RemovedSentence
from ledger.events.ids import event_id, parse_reference, parse_step
from ledger.state.book import Book
from ledger.state.state import VERIFIER, State

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


def is_to_be_checked(state: State, round_: int) -> bool:
    """Return whether the rewritten memo has sentences without a check."""
    return is_due(state, round_) and bool(changed(state, round_))


def is_finished(state: State, round_: int) -> bool:
    """Return whether the rewrite came or was lost, and its changes were checked or that check was lost."""
    if memos_of(state, round_)[1] is None:
        # A rewrite that is neither here nor lost is still awaited.
        return f"r{round_}.S.memo.{writer_of(state, round_)}~{AGAIN}" in state.given_up
    return not changed(state, round_) or state.is_done(f"r{round_}.S.check.{VERIFIER}~{AGAIN}")


def left(book: Book, round_: int) -> tuple[tuple[MemoSentence, ...], Memo | None]:
    """Return the sentences that stay, and the memo without the removed ones; None where all stay.

    A sentence that came back word for word under the same refusal goes, whatever the lost second check would have said.
    """
    first, second = memos_of(book.state, round_)
    if first is None:
        return (), None
    last = second or first
    refused = _refused(book)
    why = [_refusal(sentence, n, first, last, refused) for n, sentence in enumerate(last.sentences, 1)]
    pairs = list(zip(last.sentences, why, strict=True))
    kept = tuple(sentence for sentence, reason in pairs if reason is None)
    removed = tuple(
        RemovedSentence(text=sentence.text, why=reason) for sentence, reason in pairs if reason is not None
    )
    if not removed:
        return kept, None
    # Both earlier memos stay on the ledger, so this third one has a fixed number that no step can take.
    without = Memo(
        round=round_,
        phase="S",
        by="controller",
        id=event_id("memo", round_, repeat=3),
        answers=last.answers,
        why_not_leader=last.why_not_leader,
        sentences=kept,
        removed=removed,
    )
    return kept, without


def _refused(book: Book) -> dict[str, str]:
    """Map each refused sentence of a memo, `M-1#s2`, to the reason why its citations do not support it."""
    return {
        sentence.of: sentence.reason
        for check in book.of(DriftCheck)
        for sentence in check.sentences
        if sentence.verdict == "not"
    }


def _refusal(
    sentence: MemoSentence, n: int, first: Memo, last: Memo, refused: Mapping[str, str]
) -> str | None:
    """Return why a sentence goes: its last check found it unsupported."""
    # An unchanged sentence was judged in the first check only, under the number that it had there.
    of = f"{last.id}#s{n}"
    if last is not first and sentence in first.sentences:
        of = f"{first.id}#s{first.sentences.index(sentence) + 1}"
    return refused.get(of)
