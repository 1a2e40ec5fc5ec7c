"""A run as the decision record that teams keep (MADR 4): context, drivers, options, outcome, reasons, consequences.

Everything in the record is folded from the ledger. Where the ledger has nothing, the record says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import orjson

from ledger.events import Decision
from ledger.format.chain import Head
from ledger.interchange.markdown import code, inline, listed, paragraphs
from ledger.plain_text import shortened
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from ledger.state.decided import outcome as outcome_ids
from ledger.state.state import State
from moot.view.evidence import shown_as
from moot.view.judgements import options_of
from moot.view.outcome import Outcome, outcome_of
from moot.view.outcome_status import became_line
from moot.view.reasons import Point
from rounds.run.acceptance import current_acceptance

TITLE: Final = 80
"""Maximum characters of a heading."""


def adr(book: Book, head: Head, *, run: str = "RUN", only: str | None = None) -> str:
    """Return the run as a Markdown record in the form of MADR 4, or one decision of it where `only` names one."""
    outcome, state = outcome_of(run, book), book.state
    sections = (
        ("## Context and Problem Statement", _context(outcome, state)),
        (
            "## Decision Drivers",
            (f"* {inline(goal.text)} ({inline(goal.id)})" for goal in state.opening.goals),
        ),
        (
            "## Considered Options",
            (f"* {inline(id_)}: {inline(text)}" for id_, text in options_of(book).items()),
        ),
        ("## Decision Outcome", _chosen(outcome)),
        ("### Consequences", _consequences(outcome)),
        ("### Confirmation", _confirmation(outcome)),
        ("## More Information", _more(outcome, state, head, run)),
    )
    lines = [*_front(book, head, run, only), "", f"# {inline(shortened(outcome.answer, TITLE))}"]
    for heading, body in sections:
        body_lines = list(body)
        # MADR asks for every section, so an empty one says that nothing is recorded.
        lines += ["", heading, "", *(body_lines or ["Nothing is recorded."])]
    return "\n".join(lines) + "\n"


def _front(book: Book, head: Head, run: str, only: str | None) -> Iterator[str]:
    """Yield the front matter: status, decision makers, consulted seats, and `moot-` keys of the source."""
    state = book.state
    # An answer or a round decision is no outcome, so only final decisions name decision makers.
    deciding = [decision for decision in book.of(Decision) if decision.id in final_in_force(state)]
    makers = dict.fromkeys(_maker(decision) for decision in deciding)
    # Every role that gave a reply was consulted; the controller's own events carry no call.
    seats = dict.fromkeys(event.by for event in book.events if event.call is not None)
    yield "---"
    yield f"status: {_status(book, only)}"
    yield f"date: {book.events[-1].at[:10]}"
    yield f"decision-makers: {_yaml(makers)}"
    yield f"consulted: {_yaml(seats)}"
    # A run's name may hold a colon or a quote, which plain YAML would read as syntax.
    yield f"moot-run: {orjson.dumps(run).decode()}"
    yield f"moot-head: {head.seq} {head.hash}"
    yield f"moot-decisions: {_yaml([only] if only else outcome_ids(state))}"
    yield "---"


def _status(book: Book, only: str | None) -> str:
    """Return MADR's status: `proposed` until a person accepts or rejects the final decisions in force."""
    acceptance = current_acceptance(book)
    # An acceptance covers the final decisions in force, so an older decision stays a proposal.
    if acceptance is None or (only is not None and only not in final_in_force(book.state)):
        return "proposed"
    return "accepted" if acceptance.accepted else "rejected"


def _maker(decision: Decision) -> str:
    """Return who made a decision."""
    return (
        "the protocol's rule"
        if decision.made_by == "rule"
        else (decision.name or decision.made_by).replace("_", " ")
    )


def _yaml(names: Iterable[str]) -> str:
    """Return names as a JSON string, which is also valid YAML."""
    # JSON strings are valid YAML, so no name can break out of the front matter.
    return orjson.dumps(", ".join(names) or "nobody").decode()


def _context(outcome: Outcome, state: State) -> Iterator[str]:
    """Yield the question and the documents that came with it."""
    yield paragraphs(outcome.question)
    if state.opening.context:
        yield ""
        yield f"Given: {listed(f'{document.name} ({document.id})' for document in state.opening.context)}."


def _chosen(outcome: Outcome) -> Iterator[str]:
    """Yield the answer and its reasons, each with its evidence level and its references."""
    yield inline(outcome.answer)
    yield ""
    yield f"{inline(outcome.how_sure)}"
    if outcome.why:
        yield ""
        yield "Because:"
        yield ""
        yield from (f"* {_point(point)}" for point in outcome.why)


def _point(point: Point) -> str:
    """Return a point with its evidence level, its quote and its references."""
    class_ = f" [{shown_as(point.class_, point.times)}]" if point.class_ else ""
    quote = f" “{point.quote}”" if point.quote else ""
    where = f" ({', '.join(point.refs)})" if point.refs else ""
    return inline(f"{point.text}{class_}{quote}{where}")


def _consequences(outcome: Outcome) -> Iterator[str]:
    """Yield what follows from the decision, what speaks against it, and what it assumes."""
    yield from (f"* To do: {_point(point)}" for point in outcome.do_now)
    # The objection often repeats the first dissent, which the next line prints with its role.
    if outcome.objection is not None and not any(
        f"({dissenter.ref})" in outcome.objection for dissenter in outcome.dissent
    ):
        yield f"* Bad, because {inline(outcome.objection)}"
    yield from (
        f"* Bad, because {inline(f'{dissenter.role}: {dissenter.text} ({dissenter.ref})')}"
        for dissenter in outcome.dissent
    )
    yield from (f"* Neutral, because it takes for granted: {_point(point)}" for point in outcome.assumed)


def _confirmation(outcome: Outcome) -> Iterator[str]:
    """Yield what must be met, what would prove the decision wrong, and what is still open."""
    yield from (f"* Required: {_point(point)}" for point in outcome.requirements)
    yield from (f"* Shown wrong by: {_point(point)}" for point in outcome.changes_our_mind)
    yield from (f"* Open: {_point(point)}" for point in outcome.not_settled)
    yield from (f"* Later: {inline(became_line(became))}" for became in outcome.became)
    yield from (
        f"* For a person: {inline(asking.text)} ({code(asking.command)})" for asking in outcome.needs_you
    )


def _more(outcome: Outcome, state: State, head: Head, run: str) -> Iterator[str]:
    """Yield the protocol, the trust line, and the head that proves the record."""
    yield f"Protocol {inline(state.opening.protocol)}. {inline(outcome.trust)} {inline(outcome.looked_at)}"
    yield ""
    # The head pins the ledger, so that a reader can prove the record came from exactly this state.
    check = code(f"moot verify {run}")
    yield f"The record is the ledger of {code(run)}, event {head.seq}, head {code(head.hash)}; {check} checks it."
