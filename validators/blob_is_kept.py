"""BLB001, error: the prompt set, the documents, and every brief and reply that a call names are among the blobs.

Without them nobody can see what a seat was shown or what it really said. Source: FORMAT 6, FORMAT 7, FORMAT 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Event, RunOpened
from ledger.redaction import redacted_blobs
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule, Severity


def check(docket: Docket) -> Iterator[Breach]:
    """Hashes that no blob has; a missing prompt set is a warning, for briefs then cannot be derived again, and so is
    what was redacted on the record."""
    redacted = {sha256 for event in docket.book.state.amendments for sha256 in redacted_blobs(event)}
    there: dict[str, bool] = {}
    for event in docket.events:
        for name, sha256 in _named(event):
            if sha256 not in there:
                there[sha256] = docket.book.blobs.read(sha256) is not None
            if not there[sha256]:
                severity: Severity = "warning" if name == "prompt set" or sha256 in redacted else "error"
                what = "was redacted" if sha256 in redacted else "is missing"
                yield Breach(event.seq, f"the blob of the {name} {what} ({sha256[:12]}…)", severity)


def _named(event: Event) -> Iterator[tuple[str, str]]:
    if isinstance(event, RunOpened):
        if event.origin.type != "import":
            yield "prompt set", event.prompt_set
        yield from ((f"document {entry.id}", entry.sha256) for entry in event.context)
    if event.call is not None:
        yield f"brief of {event.step}", event.call.brief
        yield f"reply of {event.step}", event.call.reply
        for attempt in event.call.attempts:
            yield f"brief of attempt {attempt.n} at {event.step}", attempt.brief
            if attempt.reply is not None:
                yield f"reply of attempt {attempt.n} at {event.step}", attempt.reply


RULE: Final = Rule(
    code="BLB001",
    name="blob_is_kept",
    severity="error",
    summary="The prompt set, the documents, and every brief and reply of a call are among the blobs.",
    check=check,
    recorded=False,
)
