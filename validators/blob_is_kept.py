"""BLB001, error: the prompt set, the run's own parameters, the documents, every brief and reply are among the blobs.

Without them nobody can see what a seat was shown or what it really said. Source: FORMAT 6, FORMAT 7, FORMAT 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.named_blobs import named_blobs
from ledger.redaction import redacted_blobs
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule, Severity


def check(docket: Docket) -> Iterator[Breach]:
    """Hashes that no blob has; a missing prompt set is a warning, for briefs then cannot be derived again, and so is
    what was redacted on the record."""
    redacted = {sha256 for event in docket.book.state.amendments for sha256 in redacted_blobs(event)}
    there: dict[str, bool] = {}
    for event in docket.events:
        for kind, what, sha256 in named_blobs(event):
            if sha256 not in there:
                there[sha256] = docket.book.blobs.read(sha256) is not None
            if not there[sha256]:
                severity: Severity = "warning" if kind == "prompt set" or sha256 in redacted else "error"
                why = "was redacted" if sha256 in redacted else "is missing"
                yield Breach(event.seq, f"the blob of {what} {why} ({sha256[:12]}…)", severity)


RULE: Final = Rule(
    code="BLB001",
    name="blob_is_kept",
    severity="error",
    summary="The prompt set, the run's own parameters, the documents, every brief and every reply are among the blobs.",
    check=check,
    recorded=False,
)
