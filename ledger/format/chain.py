"""Hash chain: every line names the hash of the line before it, in one order over the three streams (FORMAT 1).

line 0  {"prev":"000…0","seq":0,"rest":1,…}
line 1  {"prev":"<sha256 of line 0>","seq":1,"rest":0,…}      head = (1, <sha256 of line 1>)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from ledger.events import Event
from ledger.events.values import GENESIS
from ledger.format.canonical import NotCanonical, decode, encode, line_hash


class Head(msgspec.Struct, frozen=True):
    """Last event of a ledger: its number and the hash of its line, which is the next line's `prev`."""

    seq: int
    hash: str


BEGINNING: Final = Head(-1, GENESIS)
"""The head of a ledger without events."""


class Sealed(msgspec.Struct, frozen=True):
    """One commit: events as they will be read again, their lines without line feed, the head they lead to."""

    events: tuple[Event, ...]
    lines: tuple[bytes, ...]
    head: Head


def seal(drafts: Sequence[Event], *, prev: str, seq: int, at: str) -> Sealed:
    """Return the commit that `drafts` make after the line with hash `prev`. The first event gets number `seq`.

    A draft that already has an `at` keeps it. Every line is decoded again before it is returned, so a line that no
    reader
    would accept is never written: raises `NotCanonical` then.
    """
    events: list[Event] = []
    lines: list[bytes] = []
    for index, draft in enumerate(drafts):
        rest = len(drafts) - 1 - index
        # `rest` counts down to 0, so a reader that meets a torn file knows how many events of the commit are
        # missing.
        event = msgspec.structs.replace(draft, prev=prev, seq=seq + index, rest=rest, at=draft.at or at)
        line = _encoded(event)
        prev = line_hash(line)
        # The decoded event is kept, not the draft: callers see exactly what every later reader will see.
        events.append(decode(line))
        lines.append(line)
    return Sealed(tuple(events), tuple(lines), Head(seq + len(drafts) - 1, prev))


def _encoded(event: Event) -> bytes:
    try:
        return encode(event)
    except (UnicodeEncodeError, OverflowError) as error:  # a lone surrogate, an integer beyond 64 bits
        raise NotCanonical(f"{event.kind} cannot be written: {error}") from None
