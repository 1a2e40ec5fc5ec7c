"""A decision down to quoted sentences: the graph of its grounds, every step a link, and the same as a list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from ledger.events import Decision
from ledger.events.ids import parse_reference
from ledger.state.decided import outcome
from moot.view import marks
from moot.view.decisions import DecisionTold, tell_decision
from moot.view.grounds import Ground, ground_standing
from moot.view.marks import mark_of
from moot.web.drawing import Node, graph
from moot.web.followed import Followed
from moot.web.links import Links

NODES_MAX: Final = 160


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """A decision with its picture."""

    decision: DecisionTold
    picture: Markup
    narratives: tuple[str, ...]
    agreement: tuple[str, ...]
    contested: tuple[str, ...]


def decision_page(run: Followed, event: Decision, links: Links) -> DecisionPage:
    """Return everything under a decision."""
    summary = tell_decision(run.book(), event, run.sources.sections)
    zones = event.zones
    return DecisionPage(
        decision=summary,
        picture=picture(summary, links),
        narratives=event.narratives,
        agreement=zones.agreement if zones else (),
        contested=zones.contested if zones else (),
    )


def picture(decision: DecisionTold, links: Links) -> Markup:
    """Return the evidence graph, in which a thing that is cited twice is one node."""
    nodes: dict[str, Node] = {
        decision.id: Node(decision.id, 0, decision.id, "◼", "open", links.event(decision.id), decision.id)
    }
    # A dict as an ordered set: a quote that is cited twice is one arrow.
    edges: dict[tuple[str, str], None] = {}
    for parent, child in _walk(decision.id, decision.rests_on, 1, links):
        # Beyond the limit only edges between nodes that are drawn already are added: more could not be read, or
        # mailed.
        if child.key in nodes or len(nodes) < NODES_MAX:
            nodes.setdefault(child.key, child)
            edges[(parent, child.key)] = None
    alt = f"what {decision.id} rests on, from the decision to the sources of its quotes"
    return graph(list(nodes.values()), edges, alt)


def _walk(parent: str, grounds: tuple[Ground, ...], column: int, links: Links) -> Iterator[tuple[str, Node]]:
    for ground in grounds:
        # Checks share a column wherever they are cited, so that arrows run from left to right.
        place = 2 if ground.kind == "verification" else min(column, 2)
        shape, tone = _look(ground)
        alt = f"{ground.id}: {ground_standing(ground)}"
        yield parent, Node(ground.id, place, ground.id, shape, tone, links.event(ground.id), alt)
        sources: dict[str, list[str]] = {}
        for quote in (*ground.quotes, *ground.pooled):
            sources.setdefault(parse_reference(quote.ref).id, []).append(quote.ref)
        for source, refs in sources.items():
            many = f" ×{len(refs)}" if len(refs) > 1 else ""
            broken = any(
                quote.holds is False for quote in (*ground.quotes, *ground.pooled) if quote.ref in refs
            )
            tone = "bad" if broken else "plain"
            alt = f"{source}{many}: {', '.join(refs)}"
            yield ground.id, Node(f"source {source}", 3, source, "❝", tone, links.ref(refs[0]), alt)
        # A cited decision has a page and a graph of its own; following it here could also run in a circle.
        if ground.kind != "decision":
            yield from _walk(ground.id, ground.under, column + 1, links)


def _look(ground: Ground) -> tuple[str, str]:
    """Return shape and tone of a ground."""
    table = {"claim": marks.STATUSES, "verification": marks.RESULTS, "drift check": marks.DRIFT}.get(
        ground.kind
    )
    if table is None:
        return ("◼", "open") if ground.kind == "decision" else ("◆", "plain")
    mark = mark_of(table, ground.standing)
    return mark.shape, mark.tone


def decisions(run: Followed) -> tuple[DecisionTold, ...]:
    """Return all decisions of a run: those in force first, then overturned final ones, then the latest."""
    book = run.book()
    first = {identity: place for place, identity in enumerate(outcome(run.state))}
    summaries = [tell_decision(book, event, run.sources.sections, 1) for event in book.of(Decision)]
    return tuple(
        sorted(
            summaries,
            key=lambda decision: (
                first.get(decision.id, len(first)),
                decision.type != "final",
                -decision.seq,
            ),
        )
    )
