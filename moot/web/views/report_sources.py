"""What a report quotes from: the sections that something refers to, in full, so that each quote has its place there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from ledger.events import Artifact, Event, Statement
from ledger.events.ids import Reference, parse_reference
from ledger.state.anchors import sections_of
from moot.view.grounds import Ground, Quote
from moot.view.story import Story
from moot.web.followed import Followed
from moot.web.views.events import parts_of


@dataclass(frozen=True, slots=True)
class Passage:
    """A section, or lines of a document."""

    anchor: str
    title: str
    value: Any


@dataclass(frozen=True, slots=True)
class SourceShown:
    """An event or a document with the passages that are referred to; `anchors` is reference → anchor."""

    id: str
    by: str
    kind: str
    passages: tuple[Passage, ...]
    anchors: dict[str, str]


def references_of(story: Story) -> tuple[str, ...]:
    """Every reference that the report shows, in order, once."""
    return tuple(dict.fromkeys(_references(story)))


def decisive_references(story: Story) -> tuple[str, ...]:
    """Those that a decision in force rests on."""
    grounds = (ground for one in story.decisions if one.in_force for ground in one.rests_on)
    return tuple(dict.fromkeys(ref for ground in grounds for ref in _of_ground(ground)))


def _references(story: Story) -> Iterator[str]:
    for decision in story.decisions:
        for ground in decision.rests_on:
            yield from _of_ground(ground)
    for told in story.rounds:
        for check in told.checks:
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
    """The events and documents that are referred to, in the order of the ledger."""
    wanted: dict[str, list[Reference]] = {}
    for ref in references:
        reference = parse_reference(ref)
        wanted.setdefault(reference.id, []).append(reference)
    events = [
        event for event in run.book().events if isinstance(event, Artifact | Statement) and event.id in wanted
    ]
    shown = [_event(event, wanted[event.id or ""]) for event in events]
    return (*_documents(run, wanted), *shown)


def _event(event: Event, references: list[Reference]) -> SourceShown:
    identity = event.id or ""
    sections = dict.fromkeys(one.section for one in references if one.section)
    passages = [one for one in _passages(event, identity) if one.title in sections]
    return SourceShown(
        id=identity,
        by=event.role if isinstance(event, Artifact) else event.by,
        kind=event.kind,
        passages=tuple(passages),
        anchors={f"{identity}#{one.title}": one.anchor for one in passages},
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
    opened = run.state.opened
    for document in opened.context if opened else ():
        content = run.blobs.read(document.sha256)
        if document.id not in wanted or content is None:
            continue
        lines = content.decode("utf-8", "replace").split("\n")
        ranges = dict.fromkeys(one.lines for one in wanted[document.id] if one.lines)
        passages = [
            Passage(
                _anchor(document.id, f"L{first}-L{last}"),
                f"L{first}-L{last}" if last > first else f"L{first}",
                "\n".join(lines[first - 1 : last]),
            )
            for first, last in sorted(ranges)
        ]
        anchors = {
            form: one.anchor
            for one, (first, last) in zip(passages, sorted(ranges), strict=True)
            for form in (f"{document.id}#L{first}-L{last}", f"{document.id}#L{first}")
            if last == first or form.endswith(f"-L{last}")
        }
        yield SourceShown(document.id, document.name, "document", tuple(passages), anchors)
