"""Events due at the opening: screenings before any role is asked, and the gate's decision (S4-22, S4-29, AD-2).

The rule `screening` of the opening names the version of the rules; screenings by another version are taken as given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from ledger.events import Event, Screening
from ledger.events.verifications import ScreeningIssue
from ledger.state.book import Book, strings
from rounds import screening
from rounds.screening import DOCUMENT_MAX, IMPORT_MAX, QUESTION_MAX, RULES_VERSION
from rounds.setup.gate import gate_decision


def screenings_due(book: Book) -> tuple[Event, ...]:
    """Return one screening of the question, one of goals and options, one per document; nothing when they exist."""
    opened = book.state.opening
    if opened.rules.get("screening") != RULES_VERSION or book.state.screened:
        return ()
    screenings: list[Event] = [screened("question", opened.question.encode(), QUESTION_MAX)]
    # Without goals the question is the goal, and one text must not be scored twice.
    beside = [entry.text for entry in (*opened.goals, *opened.options) if entry.text != opened.question]
    if beside:
        screenings.append(screened("question", "\n".join(beside).encode(), DOCUMENT_MAX))
    for document in opened.context:
        # A blob that was redacted is screened as empty, which cannot hold the run up again.
        content = book.blobs.read(document.sha256) or b""
        screenings.append(screened("context", content, DOCUMENT_MAX))
    # The gate's decision cites the screening of the question, which is always event 1.
    return (*screenings, *gate_decision(book, 1))


def import_screened(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return one screening of all texts of an import; no role is asked in an import, so it holds nothing up."""
    # Strings without a space are ids, hashes and enum values, and are skipped.
    texts = [text for event in events for text in strings(msgspec.to_builtins(event)) if " " in text]
    return (screened("import", "\n".join(texts).encode(), IMPORT_MAX, by="import"),)


def screened(of: Any, content: bytes, length_max: int, by: str = "controller") -> Screening:
    """Return the event of one screening."""
    result = screening.screen(content.decode("utf-8", "replace"), length_max)
    return Screening(
        round=0,
        phase="open",
        by=by,
        of=of,
        sha256=hashlib.sha256(content).hexdigest(),
        score=result.score,
        action=result.action,
        issues=tuple(
            ScreeningIssue(kind=issue.kind, points=issue.points, detail=issue.detail)
            for issue in result.issues
        ),
        rules=RULES_VERSION,
    )
