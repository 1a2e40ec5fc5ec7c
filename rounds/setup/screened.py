"""What is due at the opening: screenings before anybody is asked, and the gate's decision (S4-22, S4-29, AD-2).

The rule `screening` of the opening says by which version of the rules; screenings by another one are taken as given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from ledger.events import Event, Screening
from ledger.events.verifications import ScreeningIssue
from ledger.state.anchors import strings
from ledger.state.book import Book
from rounds import screening
from rounds.screening import DOCUMENT_MAX, IMPORT_MAX, QUESTION_MAX, RULES_VERSION
from rounds.setup.gate import gate_decision


def screenings_due(book: Book) -> tuple[Event, ...]:
    """One screening of the question, one of goals and options, one of each document; nothing when they stand."""
    opened = book.state.opened
    if opened is None or opened.rules.get("screening") != RULES_VERSION or book.state.screened:
        return ()
    found: list[Event] = [screened("question", opened.question.encode(), QUESTION_MAX)]
    beside = [entry.text for entry in (*opened.goals, *opened.options) if entry.text != opened.question]
    if beside:
        found.append(screened("question", "\n".join(beside).encode(), DOCUMENT_MAX))
    for document in opened.context:
        content = book.blobs.read(document.sha256) or b""
        found.append(screened("context", content, DOCUMENT_MAX))
    return (*found, *gate_decision(book, 1))


def import_screened(events: Sequence[Event]) -> tuple[Event, ...]:
    """One screening of all texts of an import; nobody is asked in one, so it holds nothing up, and is shown."""
    texts = [text for event in events for text in strings(msgspec.to_builtins(event)) if " " in text]
    return (screened("import", "\n".join(texts).encode(), IMPORT_MAX, by="import"),)


def screened(of: Any, content: bytes, length_max: int, by: str = "controller") -> Screening:
    """The event of one screening."""
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
