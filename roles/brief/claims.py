"""Claims in a brief: as they stand, or as the round found and raised them, and then what has moved since.

1. As the round found or raised them they are the same for every step of the round: what was raised or has moved since
   stands behind the verdicts, with its status now.
2. Then earlier claims are told with their tests; where they were raised and what they serve is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from ledger.events import Claim, Verification
from ledger.state.decided import quoted
from ledger.state.lifecycle import OPEN, standing_after
from ledger.state.state import ClaimFacts
from roles.asof import round_found
from roles.brief import quote
from roles.brief.context import BriefContext, once
from roles.brief.quote import Quoted
from roles.protocol import Column, Sight

TESTED: Final = ("may_move", "pending")
"""Extents of those who test claims, or say what a test will show."""


class KnownClaims(NamedTuple):
    """Earlier claims with their facts, and the ids that decisions cite: as the round found them, or as they stand."""

    claims: Mapping[str, ClaimFacts]
    cited: frozenset[str]


def earlier(context: BriefContext, sight: Sight) -> tuple[Quoted, ...]:
    """Earlier claims; those that are settled and only cited are quoted in short."""
    known, tests = _known(context), sight.extent in TESTED
    wanted = _wanted(known, sight)
    placed = context.reading.claims == "as_they_stand"
    return tuple(
        context.quoted_claim(event, facts, whole=tests or facts.status in OPEN, placed=placed)
        for event in context.ordered([event for event in context.of(Claim) if event.id in wanted])
        for facts in (known.claims[str(event.id)],)
    )


def _wanted(known: KnownClaims, sight: Sight) -> set[str]:
    match sight.extent:
        case "every":
            return set(known.claims)
        case "pending":
            return {identity for identity, facts in known.claims.items() if facts.status == "pending"}
        case "open_or_cited" | "may_move":
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
        return once(context.of_run, ("found", seq), lambda: _found(context, seq))
    claims, synthesis = context.state.claims, context.step.name.phase == "S"
    before = {
        identity: facts for identity, facts in claims.items() if synthesis or facts.round < context.round
    }
    return KnownClaims(before, frozenset(context.cited_by_decisions() | _moved_by_shown_verdicts(context)))


def _moved_by_shown_verdicts(context: BriefContext) -> set[str]:
    """Claims that the round's verdicts moved: whoever sees those verdicts whole must be able to cite them."""
    shown = context.view.get(Column.VERDICTS)
    if shown is None or shown.extent != "all":
        return set()
    checks = context.of(Verification, context.round)
    return {change.claim_id for check in checks for change in check.claim_status_changes}


def _found(context: BriefContext, seq: int) -> KnownClaims:
    """The claims, and what decisions cited, right behind the opening of the round: the same for all its groups."""
    claims = {
        identity: _facts_at(facts, seq)
        for identity, facts in context.state.claims.items()
        if facts.seq <= seq
    }
    in_force = (context.state.decisions[identity] for identity in quoted(context.state, seq))
    return KnownClaims(claims, frozenset(cite.id for facts in in_force for cite in facts.cites))


def _facts_at(facts: ClaimFacts, seq: int) -> ClaimFacts:
    """A copy, for facts grow."""
    moves = [move for move in facts.moves if move.seq <= seq]
    return msgspec.structs.replace(facts, moves=moves, standing=standing_after(moves))


def of_round(context: BriefContext, sight: Sight) -> tuple[Quoted, ...]:
    """The round's claims, as they were raised or as they stand."""
    assert sight.extent == "all", sight
    events = context.turned(context.ordered(context.of(Claim, context.round)))
    if context.reading.claims == "as_they_stand":
        return tuple(context.quoted_claim(event, context.state.claims[str(event.id)]) for event in events)
    return tuple(_raised(context, event) for event in events)


def _raised(context: BriefContext, event: Claim) -> Quoted:
    return once(context.of_run, ("raised", event.seq), lambda: quote.raised(event))


def is_late(context: BriefContext, claim: Quoted) -> bool:
    """Whether a claim of the round was raised when its verdicts were known."""
    return context.reading.claims == "as_found" and context.book.by_id[claim.name].phase == "F"


def late(context: BriefContext, sight: Sight) -> tuple[Quoted, ...]:
    """The round's claims that were raised when its verdicts were known."""
    del sight
    shown = context.view.get(Column.CLAIMS)
    return tuple(claim for claim in of_round(context, shown) if is_late(context, claim)) if shown else ()


def moved(context: BriefContext, sight: Sight) -> tuple[Quoted, ...]:
    """Those of the claims that are shown whose status is not the one that they are shown with."""
    del sight
    before, now = _known(context).claims, context.state.claims
    told = {name: len(before[name].moves) if name in before else 0 for name in shown_names(context)}
    events = (event for event in context.of(Claim) if event.id in told)
    changed = [event for event in events if len(now[str(event.id)].moves) > told[str(event.id)]]
    return tuple(quote.standing(event, context.state) for event in context.ordered(changed))


def shown_names(context: BriefContext) -> set[str]:
    """Ids of the claims that are shown."""
    sight, seen = context.view.get(Column.OLD_CLAIMS), Column.CLAIMS in context.view
    names = _wanted(_known(context), sight) if sight else set[str]()
    return names | {str(event.id) for event in context.of(Claim, context.round) if seen}
