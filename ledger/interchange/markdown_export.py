"""A run as one readable transcript: what was asked, what was said, tested and decided in each round, how it ended.

Texts stand in block quotes and are escaped (`markdown.py`): no words pass for the transcript's own structure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import RoundOpened, RunOpened
from ledger.interchange.markdown import inline
from ledger.interchange.report import Exported
from ledger.interchange.transcript_entries import entry
from ledger.state.book import Book

PHASES: Final = {
    "A": "opening",
    "B": "proposal",
    "C": "supplements",
    "D": "artifacts",
    "E": "cross-validation",
    "F": "review",
    "G": "assessment",
    "H": "drift check",
    "S": "synthesis",
}
"""Names of the phases of the structured protocol; others are shown by their id."""


def export_markdown(book: Book) -> Exported:
    """`transcript.md`."""
    return Exported({"transcript.md": ("\n\n".join(_blocks(book)) + "\n").encode()})


def _blocks(book: Book) -> Iterator[str]:
    place: tuple[int, str] = (-1, "")
    for event in book.events:
        if isinstance(event, RunOpened):
            yield from _opening(event)
            continue
        if isinstance(event, RoundOpened):
            yield _round(event)
            place = (event.round, event.phase)
            continue
        if (event.round, event.phase) != place:
            place = (event.round, event.phase)
            named = f": {PHASES[event.phase]}" if event.phase in PHASES else ""
            yield f"### {inline(event.phase)}{named}"
        yield entry(event, book)
    yield from _ending(book)


def _opening(event: RunOpened) -> Iterator[str]:
    yield f"# {inline(event.question) or 'A deliberation without a recorded question'}"
    source = f", imported from {inline(event.origin.tool or '')}" if event.origin.type == "import" else ""
    yield f"Protocol {inline(event.protocol)} {event.protocol_version}{source}."
    for title, entries in (("Goals", event.goals), ("Options", event.options)):
        if entries:
            listed = "\n".join(f"- {inline(one.id)}: {inline(one.text)}" for one in entries)
            yield f"**{title}**\n\n{listed}"
    if event.context:
        yield "**Documents**\n\n" + "\n".join(
            f"- {inline(one.id)}: {inline(one.name)}" for one in event.context
        )


def _round(event: RoundOpened) -> str:
    facts = [
        f"Lead: {inline(event.lead)}." if event.lead else "",
        f"Absent: {inline(event.absent)}." if event.absent else "",
    ]
    focus = inline(event.focus)
    lines = [f"## Round {event.round}", " ".join(filter(None, facts)), f"Focus: {focus}" if focus else ""]
    return "\n\n".join(filter(None, lines))


def _ending(book: Book) -> Iterator[str]:
    """Where every claim stands, by status."""
    yield "## How the claims stand"
    lines = [f"- {inline(identity)}: {inline(facts.status)}" for identity, facts in book.state.claims.items()]
    yield "\n".join(lines) or "No claim was raised."
