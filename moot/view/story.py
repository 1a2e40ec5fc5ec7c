"""The story of a run: everything that views show, as values; one pure fold from a book for terminal, page and web.

Texts are as the ledger has them. A view must escape them, with `visible` or its own means.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ledger.events import (
    Amendment,
    Claim,
    Concern,
    Decision,
    RunClosed,
    RunOpened,
    Statement,
)
from ledger.state.book import Book
from ledger.state.decided import final_in_force, outcome
from ledger.state.state import Spend
from moot.view.claims import ClaimTold, DecisionTold, tell_claim, tell_decision
from moot.view.grounds import sources_of
from moot.view.labels import Label, labels_told
from moot.view.round import (
    ConcernTold,
    RoundTold,
    tell_concerns,
    tell_round,
)
from moot.view.seats import SeatTold, seats_told


class Review(msgspec.Struct, frozen=True):
    """A role's retrospective: its summary, and for each failure mode on its checklist whether the role saw it."""

    role: str
    summary: str
    modes: Mapping[str, str]


class Story(msgspec.Struct, frozen=True):
    """A run for display, with everything in the order of the deliberation.

    `outcome` are the final decisions in force, an override in the place of what it overturned; while none
    `is_final`, the other decisions in force.
    """

    opening: RunOpened
    labels: tuple[Label, ...]
    seats: tuple[SeatTold, ...]
    rounds: tuple[RoundTold, ...]
    claims: tuple[ClaimTold, ...]
    decisions: tuple[DecisionTold, ...]
    outcome: tuple[DecisionTold, ...]
    is_final: bool
    concerns: tuple[ConcernTold, ...]
    reviews: tuple[Review, ...]
    notes: tuple[Amendment, ...]
    closing: RunClosed | None
    spend: Spend
    began: str
    last: str

    @property
    def other_decisions(self) -> tuple[DecisionTold, ...]:
        """Return the decisions outside the outcome: round decisions, overturned ones, a person's answers."""
        final = {decision.seq for decision in self.outcome}
        return tuple(decision for decision in self.decisions if decision.seq not in final)


def tell(book: Book) -> Story:
    """Return the whole story of a run that has been opened."""
    state = book.state
    sources = sources_of(book)
    rounds = tuple(tell_round(book, n, sources) for n in sorted(state.rounds))
    # Decisions are built with their rounds already; building them again would double the work.
    in_rounds = {decision.seq: decision for round_ in rounds for decision in round_.decisions}
    decisions = tuple(
        in_rounds.get(event.seq) or tell_decision(book, event, sources.sections)
        for event in book.of(Decision)
    )
    by_id = {decision.id: decision for decision in decisions}
    return Story(
        opening=state.opening,
        labels=labels_told(book),
        seats=seats_told(book),
        rounds=rounds,
        claims=tuple(tell_claim(book, event) for event in book.of(Claim)),
        decisions=decisions,
        outcome=tuple(by_id[identity] for identity in outcome(state)),
        is_final=bool(final_in_force(state)),
        concerns=tell_concerns(book.of(Concern), sources.closers),
        reviews=tuple(
            Review(event.by, _summary(event), {tick.mode: tick.seen for tick in event.checklist})
            for event in book.of(Statement)
            if event.type == "retrospective"
        ),
        notes=tuple(note for note in state.amendments if note.by == "human"),
        closing=state.closing,
        spend=state.spend,
        began=book.events[0].at,
        last=book.events[-1].at,
    )


def _summary(event: Statement) -> str:
    """Return the summary of a retrospective; empty without one."""
    return next((section.text for section in event.sections if section.name == "summary"), "")
