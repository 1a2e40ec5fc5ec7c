"""Rewriting: a memo goes back to its writer once, for the sentences that nothing supports; then those are taken out.

The second check is of the changed sentences alone. What is still unsupported then, or was left as it stood, goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from detectors.beliefs.parameters import crux_parameters
from ledger.events import DriftCheck, Memo
from ledger.events.answers import MemoSentence, RemovedSentence
from ledger.events.ids import parse_step
from ledger.state.book import Book
from ledger.state.state import State

AGAIN: Final = 2
"""The repeat of a memo that was rewritten, and of the check of it."""
REPLIES: Final = 2


def writer_of(state: State, round_: int) -> str | None:
    """The role whose memo was accepted in a round."""
    for step in state.answered:
        name = parse_step(step)
        if name is not None and (name.round, name.phase, name.act) == (round_, "S", "memo"):
            return name.role
    return None


def is_due(state: State, round_: int) -> bool:
    """Whether the writer is asked again: a sentence is not supported, and two more replies are allowed."""
    refused = any(
        verdict == "not" and of.startswith(f"M-{round_}#") for of, verdict in state.sentences.items()
    )
    return refused and _has_room(state)


def _has_room(state: State) -> bool:
    asked = [step for step in (*state.answered, *state.given_up) if ".S." not in step or "~" not in step]
    return len(asked) + REPLIES <= crux_parameters().stop.replies_at_most


def is_rewritten(state: State, round_: int) -> bool:
    """Whether the second memo is there."""
    return memos_of(state, round_)[1] is not None


def memos_of(state: State, round_: int) -> tuple[Memo | None, Memo | None]:
    """The memo of a round, and the same rewritten."""
    return state.memos.get(f"M-{round_}"), state.memos.get(f"M-{round_}~{AGAIN}")


def changed(state: State, round_: int) -> tuple[int, ...]:
    """The numbers of the sentences that the rewritten memo has and the first one had not."""
    first, second = memos_of(state, round_)
    if first is None or second is None:
        return ()
    return tuple(n for n, one in enumerate(second.sentences, 1) if one not in first.sentences)


def is_to_be_checked(state: State, round_: int) -> bool:
    """Whether the rewritten memo has sentences that nobody has held to what they cite."""
    return is_due(state, round_) and bool(changed(state, round_))


def left(book: Book, round_: int) -> tuple[tuple[MemoSentence, ...], Memo | None]:
    """The sentences that stay, and the memo without those that nothing supports, None where all stay."""
    first, second = memos_of(book.state, round_)
    if first is None:
        return (), None
    last = second or first
    wrong = [_refusal(book, one, n, first, last) for n, one in enumerate(last.sentences, 1)]
    kept = tuple(one for one, why in zip(last.sentences, wrong, strict=True) if why is None)
    removed = tuple(
        RemovedSentence(text=one.text, why=why)
        for one, why in zip(last.sentences, wrong, strict=True)
        if why is not None
    )
    if not removed:
        return kept, None
    without = Memo(
        round=round_,
        phase="S",
        by="controller",
        id=f"M-{round_}~3",
        status=last.status,
        sentences=kept,
        removed=removed,
    )
    return kept, without


def _refusal(book: Book, sentence: MemoSentence, n: int, first: Memo, last: Memo) -> str | None:
    """Why a sentence goes: its last check said that nothing supports it."""
    of = f"{last.id}#s{n}"
    if last is not first and sentence in first.sentences:
        of = f"{first.id}#s{first.sentences.index(sentence) + 1}"
    checks: Sequence[DriftCheck] = book.of(DriftCheck)
    judged = (one for check in checks for one in check.sentences if one.of == of and one.verdict == "not")
    return next((one.reason for one in judged), None)
