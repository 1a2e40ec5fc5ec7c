"""A run as one HTML file that can be mailed: no script, no external address, the same content as the viewer's pages.

Each thing is shown once and linked from wherever it is named: a decision links to the claims that it cites, a claim to
the checks that moved it, a check to the sentences that it quotes.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from ledger.events import Artifact, Event, Statement
from ledger.events.ids import Reference, parse_reference
from ledger.state.anchors import sections_of
from moot.view.agreement import FROM_ANSWERS, HEADS, NOT_MEASURABLE, without_rows
from moot.view.annexes import annexes_of
from moot.view.costs import spent_beyond
from moot.view.grounds import Ground, Quote
from moot.view.outcome import outcome_of
from moot.view.round import CheckTold
from moot.view.story import Story, tell
from moot.web.followed import Followed
from moot.web.links import ReportLinks
from moot.web.templating import render
from moot.web.views.claims import claims_page
from moot.web.views.event import parts_of
from moot.web.views.overview import overview
from moot.web.views.rounds import round_page
from moot.web.views.seats import seats_page
from moot.web.views.signals import signals_page
from rounds.protocols import is_watched

ALL: Final = 1_000_000
BRIEFS_SHOWN: Final = 2_000
CONTENTS: Final = (
    ("decided", "Decided"),
    ("signals", "Stop signals"),
    ("rounds", "Rounds"),
    ("claims", "Claims"),
    ("checks", "Checks, with the sentences they quote"),
    ("earlier", "Other decisions"),
    ("concerns", "Concerns and open questions"),
    ("reviews", "Retrospective"),
    ("seats", "What each role saw, and what it cost"),
    ("sources", "Sources of the quotes"),
    ("verify", "How to check this"),
)
"""Sections of the report: anchor and title."""
ON_PAPER: Final = 8
"""Most decisions that are printed; `report.css` hides the others."""
ANNEX_WORDS: Final = 400
"""Most words of an annex that is printed."""
BYTES_MAX: Final = 1_350_000
"""Size that mail servers accept, with room for the third that the encoding of mail adds."""


def report_html(run: Followed) -> str:
    """Return the document; a very long run includes only the sources that decisions rest on."""
    story = tell(run.book())
    document = _document(run, story, references_of(story))
    # Rendered twice at worst: the size is not known before.
    if len(document.encode()) > BYTES_MAX:
        document = _document(run, story, decisive_references(story))
    return document


def _document(run: Followed, story: Story, references: tuple[str, ...]) -> str:
    checks = tuple(check for summary in story.rounds for check in summary.checks)
    sources = sources_shown(run, references)
    links = ReportLinks(_anchors(story, checks, sources))
    return render(
        "report.html",
        policy=policy(),
        style=style(),
        links=links,
        page=overview(run),
        outcome=outcome_of(str(run.path), run.book(), spent_beyond(run.path)),
        annexes=annexes_of(run.book()),
        ANNEX_WORDS=ANNEX_WORDS,
        story=story,
        checks=checks,
        claims=claims_page(run, links, size=ALL, named=False),
        rounds=tuple(round_page(run, summary.n) for summary in story.rounds),
        signals=signals_page(run, links),
        seats=seats_page(run, size=BRIEFS_SHOWN),
        without=(HEADS, without_rows(run.book()), FROM_ANSWERS, NOT_MEASURABLE),
        watched=is_watched(run.state.opening),
        sources=sources,
        CONTENTS=CONTENTS,
        ON_PAPER=ON_PAPER,
        head=(run.seq, run.head_hash),
        opened=run.state.opening,
    )


def _anchors(story: Story, checks: tuple[CheckTold, ...], sources: tuple[SourceShown, ...]) -> dict[str, str]:
    """Return the anchor of everything in the document, by id or reference."""
    ids = [claim.id for claim in story.claims]
    ids += [check.id for check in checks]
    ids += [decision.id for decision in story.decisions]
    ids += [concern.id for concern in story.concerns]
    # Ids come from a ledger, so they are quoted before they become part of the HTML.
    anchors = {identity: quote(identity) for identity in ids}
    for source in sources:
        anchors[source.id] = quote(source.id)
        anchors |= source.anchors
    return anchors | {f"round-{summary.n}": f"round-{summary.n}" for summary in story.rounds}


@cache
def style() -> Markup:
    """Return the viewer's style sheet, with additions for paper."""
    folder = files("moot.web").joinpath("static")
    return Markup(
        folder.joinpath("style.css").read_text("utf-8") + folder.joinpath("report.css").read_text("utf-8")
    )


@cache
def policy() -> str:
    """Return what a browser allows the document: its own style, by its hash, and nothing else."""
    # The hash allows exactly this style: text from a ledger can bring in no other.
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class Passage:
    """A section, or lines of a document."""

    anchor: str
    title: str
    value: Any


@dataclass(frozen=True, slots=True)
class SourceShown:
    """An event or a document with the passages that are referred to; `anchors` maps references to anchors."""

    id: str
    by: str
    kind: str
    passages: tuple[Passage, ...]
    anchors: dict[str, str]


def references_of(story: Story) -> tuple[str, ...]:
    """Return every reference that the report shows, in order, once."""
    return tuple(dict.fromkeys(_references(story)))


def decisive_references(story: Story) -> tuple[str, ...]:
    """Return the references that decisions in force rest on."""
    grounds = (ground for decision in story.decisions if decision.in_force for ground in decision.rests_on)
    return tuple(dict.fromkeys(ref for ground in grounds for ref in _of_ground(ground)))


def _references(story: Story) -> Iterator[str]:
    for decision in story.decisions:
        for ground in decision.rests_on:
            yield from _of_ground(ground)
    for summary in story.rounds:
        for check in summary.checks:
            yield from (quote.ref for quote in check.quotes)
            for stance in check.stances:
                yield from (quote.ref for quote in stance.because)
    for claim in story.claims:
        if claim.source:
            yield claim.source


def _of_ground(ground: Ground) -> Iterator[str]:
    quotes: tuple[Quote, ...] = (*ground.quotes, *ground.pooled)
    yield from (quote.ref for quote in quotes)
    for under in ground.under:
        yield from _of_ground(under)


def sources_shown(run: Followed, references: Iterable[str]) -> tuple[SourceShown, ...]:
    """Return the events and documents that are referred to, in the order of the ledger."""
    wanted: dict[str, list[Reference]] = {}
    for ref in references:
        reference = parse_reference(ref)
        wanted.setdefault(reference.id, []).append(reference)
    events = [
        event for event in run.book().events if isinstance(event, Artifact | Statement) and event.id in wanted
    ]
    sources = [_event(event, wanted[event.id]) for event in events]
    return (*_documents(run, wanted), *sources)


def _event(event: Artifact | Statement, references: list[Reference]) -> SourceShown:
    identity = event.id
    sections = dict.fromkeys(reference.section for reference in references if reference.section)
    passages = [passage for passage in _passages(event, identity) if passage.title in sections]
    return SourceShown(
        id=identity,
        by=event.role if isinstance(event, Artifact) else event.by,
        kind=event.kind,
        passages=tuple(passages),
        anchors={f"{identity}#{passage.title}": passage.anchor for passage in passages},
    )


def _passages(event: Event, identity: str) -> Iterator[Passage]:
    if isinstance(event, Artifact):
        for part in parts_of(event):
            yield Passage(_anchor(identity, part.anchor), part.anchor, part.value)
        return
    for name, texts in sections_of(event).items():
        yield Passage(_anchor(identity, name), name, "\n".join(texts))


def _anchor(identity: str, section: str) -> str:
    return quote(f"{identity}.{section}", safe="")


def _documents(run: Followed, wanted: dict[str, list[Reference]]) -> Iterator[SourceShown]:
    # Only cited lines go into the mail, because documents may be long or private.
    for document in run.state.opening.context:
        content = run.blobs.read(document.sha256)
        if document.id not in wanted or content is None:
            continue
        lines = content.decode("utf-8", "replace").split("\n")
        ranges = dict.fromkeys(reference.lines for reference in wanted[document.id] if reference.lines)
        passages = [
            Passage(
                _anchor(document.id, f"L{first}-L{last}"),
                f"L{first}-L{last}" if last > first else f"L{first}",
                "\n".join(lines[first - 1 : last]),
            )
            for first, last in sorted(ranges)
        ]
        anchors = {
            form: passage.anchor
            for passage, (first, last) in zip(passages, sorted(ranges), strict=True)
            for form in (f"{document.id}#L{first}-L{last}", f"{document.id}#L{first}")
            # The short form `#L3` names a single line only, else it would clash with a range that begins there.
            if last == first or form.endswith(f"-L{last}")
        }
        yield SourceShown(document.id, document.name, "document", tuple(passages), anchors)
