"""Addresses: every event, section, line of a document, round and prompt has its own.

Text of a ledger never becomes part of an address unless it names something on the ledger.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from ledger.events.ids import parse_reference
from ledger.state.book import Book

WORDS_IN_ADDRESS: Final = 120
"""Most characters of a quote in an address, for the browser to highlight."""


@dataclass(frozen=True, slots=True)
class SiteLinks:
    """Addresses in the viewer. `known` holds the ids on the ledger."""

    base: str
    known: Collection[str]
    documents: Collection[str]

    def event(self, identity: str) -> str | None:
        """Return `/run/NAME/event/C-3-4`, or `@<seq>`; None when the event does not exist."""
        # A text that looks like an id but is not on the ledger must not become a link.
        if identity in self.known or identity.startswith("@"):
            return f"{self.base}/event/{quote(identity, safe='@')}"
        return None

    def ref(self, ref: str, words: str | None = None) -> str | None:
        """Return the address of an event's section or a document's lines; Chromium highlights `words` there."""
        reference = parse_reference(ref)
        # A text fragment: browsers without it still jump to the section.
        quoted = quote(" ".join((words or "").split())[:WORDS_IN_ADDRESS], safe="")
        mark = f":~:text={quoted}" if words else ""
        if reference.id in self.documents:
            line = f"L{reference.lines[0]}" if reference.lines else ""
            anchor = f"#{line}{mark}" if line or mark else ""
            return f"{self.base}/document/{quote(reference.id)}{anchor}"
        address = self.event(reference.id)
        if address is None:
            return None
        # The prefix keeps anchors of sections apart from the page's own ids.
        section = f"at-{quote(reference.section, safe='')}" if reference.section else ""
        return f"{address}#{section}{mark}" if section or mark else address

    def round(self, number: int) -> str | None:
        """Return an address such as `/run/NAME/rounds/3`."""
        return f"{self.base}/rounds/{number}"

    def brief(self, step: str) -> str | None:
        """Return an address such as `/run/NAME/brief/r3.D.critic`."""
        return f"{self.base}/brief/{quote(step)}"

    def page(self, name: str, **query: object) -> str | None:
        """Return an address such as `/run/NAME/claims?status=pending`."""
        path = f"{self.base}/{name}" if name else self.base
        return f"{path}?{urlencode(query)}" if query else path


def links_of(name: str, book: Book) -> SiteLinks:
    """Return the addresses within a run."""
    documents = frozenset(document.id for document in book.state.opening.context)
    return SiteLinks(address_of(name), book.by_id, documents)


def address_of(name: str) -> str:
    """Return `/run/NAME`."""
    # Slashes are quoted too: a directory's name must stay one part of the path.
    return f"/run/{quote(name, safe='')}"


@dataclass(frozen=True, slots=True)
class ReportLinks:
    """Addresses inside one document. `anchors` maps an id or reference in it to its anchor."""

    anchors: Mapping[str, str]

    def event(self, identity: str) -> str | None:
        """Return an anchor such as `#C-3-4`; None when the event is not in the document."""
        anchor = self.anchors.get(identity)
        return f"#{anchor}" if anchor else None

    def ref(self, ref: str, words: str | None = None) -> str | None:  # noqa: ARG002  (the document has no finer place)
        """Return the anchor of the section that the document quotes."""
        reference = parse_reference(ref)
        return self.event(ref) or self.event(reference.id)

    def round(self, number: int) -> str | None:
        """Return an anchor such as `#round-3`."""
        return self.event(f"round-{number}")

    def brief(self, step: str) -> str | None:  # noqa: ARG002  (briefs stay in the run)
        """Return None: a report holds no prompts."""
        return None

    def page(self, name: str, **query: object) -> str | None:  # noqa: ARG002  (all on one page)
        """Return an anchor such as `#claims`."""
        return f"#{name or 'top'}"


Links = SiteLinks | ReportLinks
"""Addresses of a run's things; None where there is no page for them."""
