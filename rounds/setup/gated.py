"""A deliberation file at the gate: its route, and the decision that records it (AD-2)."""

from __future__ import annotations

from collections.abc import Mapping

from ledger.events import Decision, Event
from ledger.events.decisions import Cite
from ledger.state.book import Book
from rounds.setup.deliberation import Deliberation
from rounds.setup.gate import Asked, GateResult, gate

ROUTE, REASONS = "gate_route", "gate_reasons"
"""Keys of `run_opened.rules` under which the gate's result stands."""


def asked_of(deliberation: Deliberation) -> Asked:
    """What the gate reads of a file."""
    subject, row = deliberation.deliberation, deliberation.gate
    return Asked(
        text=subject.question,
        options=subject.options,
        triggers=row.triggers if row else (),
        compete=row.compete if row else False,
        single=row.single if row else False,
    )


def routed(deliberation: Deliberation) -> tuple[Deliberation, Mapping[str, str]]:
    """The deliberation with the protocol that the gate gives, and what the opening records of it.

    A file without a [gate] table is its own decision, and so is one that names its protocol, plans rounds or casts
    roles. Raises `GateRefused`.
    """
    subject = deliberation.deliberation
    planned = (subject.plan, deliberation.round, deliberation.predict, subject.no_stress, deliberation.cast)
    if deliberation.gate is None or "protocol" in subject.model_fields_set or any(planned):
        return deliberation, {}
    found = gate(asked_of(deliberation))
    chosen = subject.model_copy(update={"protocol": found.route})
    return deliberation.model_copy(update={"deliberation": chosen}), {
        ROUTE: found.route,
        REASONS: _in_words(found),
    }


def _in_words(found: GateResult) -> str:
    return "; ".join(f"{reason.name} {reason.points:+d} ({reason.detail})" for reason in found.reasons)


def gate_decision(book: Book, screening: int) -> tuple[Event, ...]:
    """The decision that the opening's route makes; it rests on the screening of the question at `screening`."""
    opened = book.state.opened
    if opened is None or ROUTE not in opened.rules:
        return ()
    return (
        Decision(
            id="D-0-1",
            round=0,
            phase="open",
            by="controller",
            text=f"Routed to {opened.rules[ROUTE]}: {opened.rules[REASONS]}.",
            type="gate",
            cites=(Cite(type="verification", id=f"@{screening}", relation="based-on"),),
            made_by="rule",
        ),
    )
