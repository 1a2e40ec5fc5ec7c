"""Quote claims: with their current status, or with the status at the start of the round, followed by changes since.

1. With the status at the start of the round (or when raised in it), the column is the same for every step of the round.
   Later claims and changes follow the verdicts, with their current status.
2. In that mode, earlier claims keep their tests, but not the place where they were raised or the goal they serve.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final, NamedTuple

import msgspec

from ledger.events import Claim, Verification
from ledger.state.book import once
from ledger.state.decided import quoted
from ledger.state.lifecycle import OPEN, standing_after
from ledger.state.state import ClaimFacts
from roles.asof import round_found
from roles.brief import quote
from roles.brief.context import BriefContext
from roles.brief.quote import Quotations, Quoted
from roles.protocol import Column, Sight

TESTED: Final = ("may_move", "pending")
"""Extents for roles that test claims or predict the result of a test."""


class KnownClaims(NamedTuple):
    """Earlier claims with their facts, and the ids that decisions cite, at the start of the round or now."""

    claims: Mapping[str, ClaimFacts]
    cited: frozenset[str]


def earlier(context: BriefContext, sight: Sight) -> Quotations:
    """Quote earlier claims; settled ones that are only cited are quoted without their tests."""
    known, tests = _known(context), sight.extent in TESTED
    wanted = _wanted(known, sight)
    placed = context.reading.claims == "as_they_stand"
    return tuple(
        context.quoted_claim(event, facts, whole=tests or facts.status in OPEN, placed=placed)
        for event in context.ordered([event for event in context.of(Claim) if event.id in wanted])
        for facts in (known.claims[event.id],)
    )


def _wanted(known: KnownClaims, sight: Sight) -> set[str]:
    match sight.extent:
        case "every":
            return set(known.claims)
        case "pending":
            return {identity for identity, facts in known.claims.items() if facts.status == "pending"}
        case "open_or_cited" | "may_move":
            # A superseded claim can no longer move, but a decision may still cite it.
            final = "superseded" if sight.extent == "may_move" else None
            return {
                identity
                for identity, facts in known.claims.items()
                if (facts.status in OPEN or identity in known.cited) and facts.status != final
            }
        case _:
            raise AssertionError(f"old claims have no extent {sight.extent}")


def _known(context: BriefContext) -> KnownClaims:
    if context.reading.claims == "as_found":
        seq = round_found(context.state, context.round)
        return once(context.of_run, ("found", seq), lambda: _known_at(context, seq))
    claims, synthesis = context.state.claims, context.step.name.phase == "S"
    # The synthesis resolves claims of every round, its own included.
    before = {
        identity: facts for identity, facts in claims.items() if synthesis or facts.round < context.round
    }
    return KnownClaims(before, frozenset(context.cited_by_decisions() | _moved_by_shown_verdicts(context)))


def _moved_by_shown_verdicts(context: BriefContext) -> set[str]:
    """Return the claims that the round's verdicts moved, if the step sees all verdicts."""
    # A step that sees a verdict in full must be able to cite the claims in it.
    sight = context.view.get(Column.VERDICTS)
    if sight is None or sight.extent != "all":
        return set()
    checks = context.of(Verification, context.round)
    return {change.claim_id for check in checks for change in check.claim_status_changes}


def _known_at(context: BriefContext, seq: int) -> KnownClaims:
    """Return the claims and the citations of decisions at the opening of the round, the same for all groups."""
    claims = {
        identity: _facts_at(facts, seq)
        for identity, facts in context.state.claims.items()
        if facts.seq <= seq
    }
    in_force = (context.state.decisions[identity] for identity in quoted(context.state, seq))
    return KnownClaims(claims, frozenset(cite.id for facts in in_force for cite in facts.cites))


def _facts_at(facts: ClaimFacts, seq: int) -> ClaimFacts:
    # A copy, because facts grow while the ledger is read.
    moves = [move for move in facts.moves if move.seq <= seq]
    return msgspec.structs.replace(facts, moves=moves, standing=standing_after(moves))


def of_round(context: BriefContext, sight: Sight) -> Quotations:
    """Quote the round's claims as they were raised, or with their current status."""
    assert sight.extent == "all", sight
    events = context.turned(context.ordered(context.of(Claim, context.round)))
    if context.reading.claims == "as_they_stand":
        return tuple(context.quoted_claim(event, context.state.claims[event.id]) for event in events)
    return tuple(
        once(context.of_run, ("raised", event.seq), partial(quote.raised, event)) for event in events
    )


def is_late(context: BriefContext, claim: Quoted) -> bool:
    """Return whether a claim of the round was raised after its verdicts were known."""
    return context.reading.claims == "as_found" and context.book.by_id[claim.name].phase == "F"


def raised_late(context: BriefContext, _sight: Sight) -> Quotations:
    """Quote the round's claims that were raised after its verdicts were known."""
    view = context.view.get(Column.CLAIMS)
    return tuple(claim for claim in of_round(context, view) if is_late(context, claim)) if view else ()


def moved(context: BriefContext, _sight: Sight) -> Quotations:
    """Quote the current status of shown claims that have moved since the status they are shown with."""
    before, now = _known(context).claims, context.state.claims
    moves_shown = {name: len(before[name].moves) if name in before else 0 for name in shown_names(context)}
    events = (event for event in context.of(Claim) if event.id in moves_shown)
    changed = [event for event in events if len(now[event.id].moves) > moves_shown[event.id]]
    return tuple(quote.standing(event, context.state) for event in context.ordered(changed))


def shown_names(context: BriefContext) -> set[str]:
    """Return the ids of the shown claims."""
    sight, seen = context.view.get(Column.OLD_CLAIMS), Column.CLAIMS in context.view
    names = _wanted(_known(context), sight) if sight else set[str]()
    return names | {event.id for event in context.of(Claim, context.round) if seen}
