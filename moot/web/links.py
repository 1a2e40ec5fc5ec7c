"""Where things are: every event, section, line of a document, round and brief has an address of its own.

A ledger's text never becomes a part of an address unless it names something that is there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from ledger.events.ids import Reference, parse_reference
from moot.web.followed import Followed

WORDS_IN_ADDRESS: Final = 120
"""Characters of a quote that an address carries, for the browser to mark them."""


@dataclass(frozen=True, slots=True)
class SiteLinks:
    """Addresses of the viewer. `known` are the ids that are on the ledger."""

    base: str
    known: Collection[str]
    documents: Collection[str]

    def event(self, identity: str) -> str | None:
        """`/run/NAME/event/C-3-4`, or `@<seq>`; None when it is not there."""
        if identity in self.known or identity.startswith("@"):
            return f"{self.base}/event/{quote(identity, safe='@')}"
        return None

    def ref(self, ref: str, words: str | None = None) -> str | None:
        """An event's section or a document's lines; Chromium marks the words themselves."""
        reference = parse_reference(ref)
        mark = f":~:text={quote(_one_line(words), safe='')}" if words else ""
        if reference.id in self.documents:
            line = f"L{reference.lines[0]}" if reference.lines else ""
            anchor = f"#{line}{mark}" if line or mark else ""
            return f"{self.base}/document/{quote(reference.id)}{anchor}"
        address = self.event(reference.id)
        if address is None:
            return None
        section = anchor_of(reference)
        return f"{address}#{section}{mark}" if section or mark else address

    def round(self, number: int) -> str | None:
        """`/run/NAME/rounds/3`."""
        return f"{self.base}/rounds/{number}"

    def brief(self, step: str) -> str | None:
        """`/run/NAME/brief/r3.D.critic`."""
        return f"{self.base}/brief/{quote(step)}"

    def page(self, name: str, **query: object) -> str | None:
        """`/run/NAME/claims?status=pending`."""
        path = f"{self.base}/{name}" if name else self.base
        return f"{path}?{urlencode(query)}" if query else path


def links_of(name: str, run: Followed) -> SiteLinks:
    """The addresses of a run's things."""
    documents = frozenset(document.id for document in run.opened.context)
    return SiteLinks(address_of(name), run.book().by_id, documents)


def address_of(name: str) -> str:
    """`/run/NAME`."""
    return f"/run/{quote(name, safe='')}"


@dataclass(frozen=True, slots=True)
class ReportLinks:
    """Addresses inside one document. `anchors` is what has a place there: id or reference → anchor."""

    anchors: Mapping[str, str]

    def event(self, identity: str) -> str | None:
        """`#C-3-4`, when the document tells of it."""
        anchor = self.anchors.get(identity)
        return f"#{anchor}" if anchor else None

    def ref(self, ref: str, words: str | None = None) -> str | None:  # noqa: ARG002  (the document has no finer place)
        """The section that the document quotes."""
        reference = parse_reference(ref)
        return self.event(ref) or self.event(reference.id)

    def round(self, number: int) -> str | None:
        """`#round-3`."""
        return self.event(f"round-{number}")

    def brief(self, step: str) -> str | None:  # noqa: ARG002  (briefs stay in the run)
        """Nowhere: a report holds no briefs."""
        return None

    def page(self, name: str, **query: object) -> str | None:  # noqa: ARG002  (all on one page)
        """`#claims`."""
        return f"#{name or 'top'}"


Links = SiteLinks | ReportLinks
"""Addresses of a run's things; None where there is no page for them."""


def anchor_of(reference: Reference) -> str:
    """The place of a section inside an event's page; the prefix keeps a role's words apart from the page's own ids."""
    return f"at-{quote(reference.section, safe='')}" if reference.section else ""


def _one_line(words: str) -> str:
    return " ".join(words.split())[:WORDS_IN_ADDRESS]
