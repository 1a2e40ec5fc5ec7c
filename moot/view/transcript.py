"""Transcript of a run in Markdown: one entry per event, in the words that every screen has for it.

Texts are in block quotes and are escaped (`markdown.py`), so no words pass for the document's own structure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from ledger.events import (
    Artifact,
    Decision,
    Event,
    Position,
    Signals,
    Statement,
    Validation,
    Verification,
)
from ledger.interchange.markdown import inline, listed, quoted
from ledger.state.book import Book, grouped, sections_of
from ledger.state.decided import conditions_of
from moot.view.events import EventWords, words_of

_TEXTS: Final[Mapping[str, Mapping[str, str]]] = {
    "claim": {"text": "", "testable_as": "Testable as:"},
    "argument": {"claim": "", "reasoning": "", "evidence": ""},
    "concern": {"text": "", "risk": "Risk:", "fix": "Fix:"},
    "challenge": {"claim": "", "text": ""},
    "disposition": {"reason": "", "revision": "Revision:", "question": "Question for a person:"},
}
"""Kind → its fields with a text, each with the words before it; other kinds have one text at most."""


def entry(event: Event, book: Book) -> str:
    """Return the Markdown of one event: a line that says what it is, then its words; `book` knows what became of it."""
    wording = words_of(event, book)
    headline = " ".join(inline(part) for part in (wording.word, wording.head) if part)
    simulated = " (recorded)" if event.call is not None and event.call.simulated else ""
    body = () if wording.sealed else (*_texts(wording), *_lists(event, book))
    return "\n\n".join(filter(None, (f"**{inline(wording.ref)}** {headline}{simulated}", *body)))


def _texts(wording: EventWords) -> Iterator[str]:
    """Yield the texts of an event as block quotations, each with the words that introduce it."""
    event = wording.event
    match event:
        case Statement():
            yield from (_introduced(f"*{inline(part.name)}*", part.text) for part in event.sections)
        case Artifact():
            for name, texts in sections_of(event).items():
                yield _introduced(f"*{inline(name)}*", *texts)
        case _ if event.kind in _TEXTS:
            for field, words in _TEXTS[event.kind].items():
                if text := getattr(event, field):
                    yield _introduced(words, text)
        case _ if wording.text:
            yield quoted(wording.text)
        case _:
            pass


def _introduced(words: str, *texts: str) -> str:
    return "\n\n".join(filter(None, (words, *map(quoted, texts))))


def _lists(event: Event, book: Book) -> Iterator[str]:
    """Yield what an event has beside its texts: evidence, findings, conditions, dissent."""
    match event:
        case Position(confidence=int() as confidence):
            yield f"Confidence {confidence}."
        case Verification():
            yield _items(
                inline(piece.ref) + (f": “{inline(piece.quote)}”" if piece.quote else "")
                for piece in event.evidence_refs
            )
            yield _items(
                inline(f"{move.claim_id}: {move.from_} → {move.to} ({move.bearing})")
                for move in event.claim_status_changes
            )
        case Signals():
            yield f"Held: {listed(signal.id for signal in event.signals if signal.satisfied) or 'none'}."
        case Validation():
            yield _items(
                inline(f"{finding.code} ({finding.severity}): {finding.message}")
                for finding in event.findings
            )
        case Decision():
            rests = listed(f"{cite.relation} {cite.id}" for cite in event.cites) or "nothing"
            yield f"It rests on: {rests}."
            for words, conditions in grouped(conditions_of(event, book.state).introduced()).items():
                yield f"{words[0].upper()}{words[1:]}:\n\n{_items(map(inline, conditions))}"
            for dissent in event.dissent:
                yield _introduced(f"Against it, {inline(dissent.role)}:", dissent.text)
        case _:
            pass


def _items(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)
