"""Redactions as the ledger records them: bytes removed on purpose, under an amendment with the reason (FORMAT 2, 8).

The record is an `amendment` with `what: redaction` and a change `blobs/<sha256>` from the hash to null. A blob that
is
missing without one is damage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ledger.events import Amendment, Event
from ledger.events.grammar import HASH
from ledger.events.run import Change
from ledger.state.state import State

PLACE: Final = "blobs/"
ORIGINAL: Final = "original"
"""In a redacted copy, the change that leads from the old head to the blob with the hashes of the old lines."""
LINE: Final = re.compile(r"@(0|[1-9][0-9]{0,15})(\.origin)?")


def redacted_blobs(event: Event) -> Iterator[str]:
    """Yield hashes of the blobs that an event says are removed on purpose."""
    # Only a person redacts. A seat that could record this would be able to excuse missing evidence.
    if isinstance(event, Amendment) and event.what == "redaction" and event.by == "human":
        for change in event.change:
            sha256 = change.path.removeprefix(PLACE)
            if change.path != sha256 and change.from_ == sha256 and change.to is None and HASH.fits(sha256):
                yield sha256


def seq_of(path: str) -> int | None:
    """Return the event that a change of a redacted copy is about: `@17`, or `@0.origin` where no words changed."""
    match = LINE.fullmatch(path)
    return int(match[1]) if match else None


def reworded(event: Event) -> Iterator[int]:
    """Yield the events in which words were replaced, as a redacted copy lists them."""
    if isinstance(event, Amendment) and event.what == "redaction":
        for change in event.change:
            match = LINE.fullmatch(change.path)
            if match is not None and match[2] is None:
                yield int(match[1])


def record_of_original(event: Event) -> str | None:
    """Return the hash of the blob that lists the lines of a redacted copy's original, if the event names one."""
    if isinstance(event, Amendment) and event.what == "redaction":
        for change in event.change:
            if change.path == ORIGINAL and isinstance(change.to, str) and HASH.fits(change.to):
                return change.to
    return None


def amendment(
    state: State,
    blobs: Sequence[str],
    reason: str,
    others: Sequence[Change] = (),
    *,
    person: str | None = None,
) -> Amendment:
    """Return the event that says which blobs were removed, what else was changed, and by whom if that is known."""
    gone = tuple(Change(path=f"{PLACE}{sha256}", from_=sha256, to=None) for sha256 in blobs)
    return Amendment(
        round=state.round,
        phase="close" if state.finished else state.phase,
        by="human",
        what="redaction",
        change=(*others, *gone),
        cause="human",
        reason=reason,
        name=person,
    )
