"""A run as one HTML file that can be mailed: no script, no external address, the same content as the viewer's pages.

Each thing is shown once and linked from wherever it is named: a decision links to the claims that it cites, a claim to
the checks that moved it, a check to the sentences that it quotes. The results of a study are such a file too.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from ledger.events import Artifact, Event, Statement
from ledger.events.ids import Reference, parse_reference
from ledger.state.book import Book, grouped, sections_of
from ledger.store.blobs import hash_of
from moot.app.runs import Run
from moot.run_view import RunView
from moot.view import study
from moot.view.agreement import FROM_ANSWERS, HEADS, NOT_MEASURABLE, without_rows
from moot.view.annexes import annexes_of
from moot.view.grounds import Ground
from moot.view.story import Story
from moot.web.events import claims_page, parts_of
from moot.web.overview import heading, overview, seats_page, signals_page
from moot.web.rounds import round_shown
from moot.web.templating import ReportLinks, render
from rounds.protocols import is_watched

BRIEFS_SHOWN: Final = 2_000
CONTENTS: Final = (
    ("decided", "Final decisions"),
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


def report_html(run: Run) -> str:
    """Return the document; a very long run includes only the sources that decisions rest on."""
    view = run.view
    # The hash of the last line that the document is folded from; the run may have gone on since.
    *_, (_, _, last) = islice(run.lines(), len(view.book.events))
    document = _document(view, hash_of(last), _references(view.story))
    # Rendered twice at worst: the size is not known before.
    if len(document.encode()) > BYTES_MAX:
        decided = (decision for decision in view.story.decisions if decision.in_force)
        grounds = (ground for decision in decided for ground in decision.rests_on)
        document = _document(view, hash_of(last), (ref for ground in grounds for ref in _of_ground(ground)))
    return document


def _document(view: RunView, head: str, references: Iterable[str]) -> str:
    story, book = view.story, view.book
    checks = [check for summary in story.rounds for check in summary.checks]
    sources = sources_shown(book, references)
    listed: tuple[Any, ...] = (*story.claims, *checks, *story.decisions, *story.concerns, *sources)
    # Ids come from a ledger, so they are quoted before they become part of the HTML.
    anchors = {entry.id: quote(entry.id) for entry in listed}
    anchors |= {ref: anchor for source in sources for ref, anchor in source.anchors.items()}
    anchors |= {f"round-{summary.n}": f"round-{summary.n}" for summary in story.rounds}
    links = ReportLinks(anchors)
    return render(
        "report.html",
        **heading(view),
        policy=policy(),
        style=style(),
        links=links,
        page=overview(view),
        annexes=annexes_of(book),
        ANNEX_WORDS=ANNEX_WORDS,
        story=story,
        checks=checks,
        claims=claims_page(view, links),
        rounds=[round_shown(view, summary.n) for summary in story.rounds],
        signals=signals_page(view, links),
        seats=seats_page(view, size=BRIEFS_SHOWN),
        without=(HEADS, without_rows(book), FROM_ANSWERS, NOT_MEASURABLE),
        watched=is_watched(book.state.opening),
        sources=sources,
        CONTENTS=CONTENTS,
        ON_PAPER=ON_PAPER,
        head=head,
    )


def study_page(report: study.StudyReport) -> str:
    """Return the results of a study as a document."""
    return render(
        "study.html",
        policy=policy(),
        style=style(),
        question=report.question,
        answer=study.answer_of(report),
        planned=study.planned_text(report),
        so_far=study.progress_text(report),
        sections=study.sections_of(report),
        holds_not=report.holds_not,
        arms=report.arms,
    )


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
class SourceShown:
    """An event or a document with the passages that are referred to: the anchor, title and value of each.

    `anchors` maps references to anchors.
    """

    id: str
    by: str
    passages: list[tuple[str, str, Any]]
    anchors: dict[str, str]


def _references(story: Story) -> Iterator[str]:
    """Yield every reference that the report shows, in order."""
    for decision in story.decisions:
        for ground in decision.rests_on:
            yield from _of_ground(ground)
    for summary in story.rounds:
        for check in summary.checks:
            quotes = (*check.quotes, *(quote for stance in check.stances for quote in stance.because))
            yield from (quote.ref for quote in quotes)
    yield from (claim.raised_at_artifact for claim in story.claims if claim.raised_at_artifact)


def _of_ground(ground: Ground) -> Iterator[str]:
    yield from (quote.ref for quote in (*ground.quotes, *ground.pooled))
    for under in ground.under:
        yield from _of_ground(under)


def sources_shown(book: Book, references: Iterable[str]) -> list[SourceShown]:
    """Return the documents and events that are referred to, in the order of the ledger."""
    parsed = [parse_reference(ref) for ref in dict.fromkeys(references)]
    wanted = grouped((reference.id, reference) for reference in parsed)
    return [
        *_documents(book, wanted),
        *(
            _event(event, {reference.section for reference in wanted[event.id]})
            for event in book.events
            if isinstance(event, Artifact | Statement) and event.id in wanted
        ),
    ]


def _event(event: Artifact | Statement, sections: set[str | None]) -> SourceShown:
    identity = event.id
    passages = [
        (quote(f"{identity}.{section}", safe=""), section, value)
        for section, value in _sections(event)
        if section in sections
    ]
    anchors = {f"{identity}#{section}": anchor for anchor, section, _ in passages}
    return SourceShown(identity, event.role if isinstance(event, Artifact) else event.by, passages, anchors)


def _sections(event: Event) -> Iterator[tuple[str, Any]]:
    # Parts of an artifact keep the names of their keys; sections of a statement are plain text.
    if isinstance(event, Artifact):
        yield from ((anchor, value) for anchor, _, value in parts_of(event))
    else:
        yield from ((name, "\n".join(texts)) for name, texts in sections_of(event).items())


def _documents(book: Book, wanted: dict[str, list[Reference]]) -> Iterator[SourceShown]:
    # Only cited lines go into the mail, because documents may be long or private.
    for document in book.state.opening.context:
        content = book.blobs.read(document.sha256)
        if document.id not in wanted or content is None:
            continue
        lines = content.decode("utf-8", "replace").split("\n")
        source = SourceShown(document.id, document.name, [], {})
        for first, last in sorted({reference.lines for reference in wanted[document.id] if reference.lines}):
            anchor = quote(f"{document.id}.L{first}-L{last}", safe="")
            source.anchors[f"{document.id}#L{first}-L{last}"] = anchor
            # The short form `#L3` names a single line only, else it would clash with a range that begins there.
            if last == first:
                source.anchors[f"{document.id}#L{first}"] = anchor
            title = f"L{first}-L{last}" if last > first else f"L{first}"
            source.passages.append((anchor, title, "\n".join(lines[first - 1 : last])))
        yield source
