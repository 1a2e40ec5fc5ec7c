"""Pages of things on the ledger: an event with its sections, a decision with its picture, claims on a timeline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from markupsafe import Markup

from ledger.events import Artifact, Claim, Decision, Event, Statement, Verification
from ledger.events.ids import parse_reference
from ledger.state.book import grouped, rows_of
from ledger.state.decided import Conditions, conditions_of, outcome
from moot.run_view import RunView
from moot.view import marks
from moot.view.claims import DecisionView, tell_claim, tell_decision
from moot.view.events import words_of
from moot.view.grounds import Ground, ground_standing, sources_of
from moot.view.marks import mark_of
from moot.view.round import tell_check
from moot.view.show import ENVELOPE, naming
from moot.web.drawing import Node, axis, graph, lane
from moot.web.templating import Links, SiteLinks, paged

CLAIMS_PAGE: Final = 150
BACK_MAX: Final = 60
NODES_MAX: Final = 160
BODIES: Final[Mapping[str, Mapping[str, str | tuple[str, ...]]]] = {
    "identity_invariant_check": {
        "invariant": ("invariant", "why_it_matters"),
        "invariant-evidence": "evidence",
        "invariant-failure": ("failure_scenario", "mechanism"),
        "verdict": ("verdict", "condition", "confidence"),
    },
    "operator_walkthrough": {
        "goal": ("session_goal", "starting_context", "persona"),
        "step-": "steps",
        "friction-": "friction",
        "verdict": "verdict",
    },
    "adversarial_test_case": {
        "hypothesis": ("target", "hypothesis", "why_this_target"),
        "preconditions": "preconditions",
        "attack-": "attack",
        "expected": "expected",
        "verdict": ("verdict", "verdict_reason", "confidence"),
        "assumption": "assumption",
    },
}
"""Type of an artifact → the anchors of `ledger.state.book` with the keys that each shows.

One key shows its value, several show a table. After an anchor that ends with `-` the entries of a list are numbered.
"""

Part = tuple[str, str, Any]
"""A section or a field: its anchor, its title, and a JSON value."""


def event_page(view: RunView, event: Event, links: Links) -> dict[str, Any]:
    """Return everything about an event. `back` are the later events that name it."""
    book, sources = view.book, sources_of(view.book)
    parts = list(parts_of(event))
    fields: dict[str, Any] = msgspec.to_builtins(event)
    # Parts show these with their anchors; as fields they would appear a second time.
    hidden = ENVELOPE | {"body", "sections", "findings"} if parts else ENVELOPE
    kept = {
        key: value for key, value in fields.items() if key not in hidden and value not in (None, [], {}, "")
    }
    if isinstance(event, Decision):
        # Conditions stand under readable names.
        kept = {key: value for key, value in kept.items() if key not in Conditions._fields}
        kept |= grouped(conditions_of(event, book.state).introduced())
    decision = tell_decision(book, event, sources.sections) if isinstance(event, Decision) else None
    # An event without an id cannot be cited, and of two events with the same id only the first can.
    back = naming(book, event.seq, event.id) if event.id and book.by_id.get(event.id) is event else []
    return {
        "card": words_of(event, book),
        "event": event,
        "parts": parts,
        "fields": kept,
        "check": tell_check(sources.round_of(book, event.round), event, sources.sections)
        if isinstance(event, Verification)
        else None,
        "claim": tell_claim(book, event) if isinstance(event, Claim) else None,
        "decision": decision,
        "picture": picture(decision, links) if decision else None,
        "back": [words_of(later, book) for later in back[:BACK_MAX]],
        "back_more": max(0, len(back) - BACK_MAX),
    }


def parts_of(event: Event) -> Iterator[Part]:
    """Yield the sections of a statement or an artifact, under the anchors by which evidence names them (FORMAT 3)."""
    match event:
        case Statement():
            count = 0
            for section in event.sections:
                yield section.name, section.name, None
                # Paragraphs are counted over all sections of a statement, as evidence counts them.
                for paragraph in (text for text in section.text.split("\n\n") if text.strip()):
                    count += 1
                    yield f"p{count}", "", paragraph
        case Artifact():
            for i, trace in enumerate(rows_of(event.body, "traces"), 1):
                yield f"trace-{i}", f"trace {i}", {key: trace[key] for key in trace if key != "steps"}
                for j, step in enumerate(rows_of(trace, "steps"), 1):
                    yield f"trace-{i}-step-{j}", f"step {j}", step
            for anchor, keys in BODIES.get(event.type, {}).items():
                yield from _body(event.body, anchor, keys)
            for k, finding in enumerate(event.findings, 1):
                yield f"finding-{k}", f"finding {k}", finding.text
        case _:
            return


def _body(body: Mapping[str, Any], anchor: str, keys: str | tuple[str, ...]) -> Iterator[Part]:
    title = anchor.removeprefix("invariant-").replace("-", " ")
    if not isinstance(keys, str):
        yield anchor, title, {key: body[key] for key in keys if body.get(key) is not None}
    elif anchor.endswith("-"):
        for n, row in enumerate(rows_of(body, keys), 1):
            yield f"{anchor}{n}", f"{title}{n}", row
    else:
        yield anchor, title, body.get(keys)


def decisions(view: RunView) -> list[DecisionView]:
    """Return all decisions of a run: those in force first, then overturned final ones, then the latest."""
    book = view.book
    first = {identity: place for place, identity in enumerate(outcome(book.state))}

    def order(decision: DecisionView) -> tuple[int, bool, int]:
        return first.get(decision.id, len(first)), decision.type != "final", -decision.seq

    sections = sources_of(book).sections
    return sorted((tell_decision(book, event, sections, 1) for event in book.of(Decision)), key=order)


def picture(decision: DecisionView, links: Links) -> Markup:
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
        alt = f"{ground.id}: {ground_standing(ground)}"
        yield parent, Node(ground.id, place, ground.id, *_look(ground), links.event(ground.id), alt)
        quotes = (*ground.quotes, *ground.pooled)
        for source, cited in grouped((parse_reference(quote.ref).id, quote) for quote in quotes).items():
            refs = [quote.ref for quote in cited]
            many = f" ×{len(refs)}" if len(refs) > 1 else ""
            tone = "bad" if any(quote.holds is False for quote in cited) else "plain"
            alt = f"{source}{many}: {', '.join(refs)}"
            yield ground.id, Node(f"source {source}", 3, source, "❝", tone, links.ref(refs[0]), alt)
        # A cited decision has a page and a graph of its own; following it here could also run in a circle.
        if ground.kind != "decision":
            yield from _walk(ground.id, ground.under, column + 1, links)


def _look(ground: Ground) -> tuple[str, str]:
    """Return shape and tone of a ground."""
    tables = {"claim": marks.STATUSES, "verification": marks.RESULTS, "drift check": marks.DRIFT}
    if ground.kind in tables:
        mark = mark_of(tables[ground.kind], ground.standing)
        return mark.shape, mark.tone
    return ("◼", "open") if ground.kind == "decision" else ("◆", "plain")


def claims_page(
    view: RunView,
    links: Links,
    *,
    status: str = "",
    role: str = "",
    text: str = "",
    page: int = 1,
) -> dict[str, Any]:
    """Return the claims with a status, of a role and with all words of a text, each with its line; empty matches all.

    `counts` are of all claims. A report has all claims on one page, and their lines are pictures without links.
    """
    named = isinstance(links, SiteLinks)
    book, state = view.book, view.book.state
    claims, sought = book.of(Claim), text.casefold().split()
    stands = {event.seq: state.claims[event.id].status for event in claims}

    def matches(event: Claim) -> bool:
        # The id is searched too, so that a person can paste it into the search field.
        words = f"{event.id} {event.text} {event.testable_as}".casefold()
        fits = status in ("", stands[event.seq]) and role in ("", event.raised_by)
        return fits and all(word in words for word in sought)

    matching = [event for event in claims if matches(event)]
    # Only the claims of this page get a line: drawing thousands would take seconds.
    page, pages, rows = paged(matching, page, CLAIMS_PAGE if named else max(1, len(matching)))
    # An import may have claims and no rounds; the axis needs at least one.
    rounds = max([1, *state.rounds])
    numbers = Counter[str](stands.values())
    return {
        "lanes": [
            (claim, lane(claim, rounds, links, named=named))
            for claim in (tell_claim(book, event) for event in rows)
        ],
        "axis": axis(rounds, [row.round for row in state.rounds.values() if row.absent]),
        # In the fixed order of the statuses, so that the filter chips never change places.
        "choices": [
            (name, f"{name.replace('_', ' ')} ({numbers[name]})") for name in marks.STATUSES if numbers[name]
        ],
        "roles": list(dict.fromkeys(event.raised_by for event in claims)),
        "wanted": {"status": status, "role": role, "q": text},
        "found": len(matching),
        "page": page,
        "pages": pages,
    }
