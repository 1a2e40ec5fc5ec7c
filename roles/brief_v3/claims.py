"""Claims as a round finds them, as it raises them, and what has moved since (laws 6 and 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from ledger.decided import quoted
from ledger.events import Claim
from ledger.lifecycle import OPEN, status_after
from ledger.state import ClaimFacts
from roles import quoting
from roles.brief_v1 import this_round
from roles.brief_v1.scene import Scene
from roles.protocol import Sight
from roles.quoting import Quoted

TESTED: Final = ("may_move", "pending")
"""Extents of those who test claims, or say what a test will show."""


class Before(NamedTuple):
    """What the steps of a round found: earlier claims with their facts then, and the ids that decisions then cited."""

    claims: Mapping[str, ClaimFacts]
    cited: frozenset[str]


def found(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """Earlier claims as they stood when the round opened; in the synthesis as they stand."""
    before, tests = _before(scene), sight.extent in TESTED
    wanted = _wanted(before, sight)
    placed = scene.step.name.phase == "S"
    return tuple(
        scene.quoted_claim(event, facts, whole=tests or facts.status in OPEN, placed=placed)
        for event in scene.ordered(event for event in scene.of(Claim) if event.id in wanted)
        for facts in (before.claims[str(event.id)],)
    )


def _wanted(before: Before, sight: Sight) -> set[str]:
    match sight.extent:
        case "every":
            return set(before.claims)
        case "pending":
            return {identity for identity, facts in before.claims.items() if facts.status == "pending"}
        case "open_or_cited" | "may_move":
            final = "superseded" if sight.extent == "may_move" else None
            return {
                identity
                for identity, facts in before.claims.items()
                if (facts.status in OPEN or identity in before.cited) and facts.status != final
            }
        case _:
            raise AssertionError(f"old claims have no extent {sight.extent}")


def raised(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """The round's claims as they were raised."""
    assert sight.extent == "all", sight
    events = this_round.turned(scene, scene.ordered(scene.of(Claim, scene.round)))
    return tuple(_raised(scene, event) for event in events)


def _raised(scene: Scene, event: Claim) -> Quoted:
    known, key = scene.shared.quotes, (event.seq, -1)
    if key not in known:
        known[key] = quoting.raised(event)
    return known[key]


def is_late(scene: Scene, quoted: Quoted) -> bool:
    """Whether a claim of the round was raised when its verdicts were known."""
    return scene.book.by_id[quoted.name].phase == "F" and scene.step.name.phase != "S"


def moved(scene: Scene, shown: Iterable[Quoted]) -> tuple[Quoted, ...]:
    """Those of the claims that are shown whose status is not the one that they are shown with."""
    if scene.step.name.phase == "S":
        return ()
    before, claims = _before(scene).claims, scene.state.claims
    names = {quoted.name for quoted in shown}
    known = {name: len(before[name].moves) if name in before else 0 for name in names}
    events = (event for event in scene.of(Claim) if event.id in names)
    changed = (event for event in events if len(claims[str(event.id)].moves) > known[str(event.id)])
    return tuple(quoting.standing(event, scene.state) for event in scene.ordered(changed))


def _before(scene: Scene) -> Before:
    """What stood when the round opened; the synthesis looks at what stands."""
    if scene.step.name.phase == "S":
        return Before(scene.state.claims, frozenset(scene.cited_by_decisions()))
    known, key = scene.shared.rounds, ("before", scene.round)
    if key not in known:
        opened = scene.state.rounds[scene.round]
        known[key] = _at(scene, opened.seq + opened.rest)
    before: Before = known[key]
    return before


def _at(scene: Scene, seq: int) -> Before:
    """The claims, and what decisions cited, right behind event `seq`."""
    claims = {
        identity: _facts_at(facts, seq) for identity, facts in scene.state.claims.items() if facts.seq <= seq
    }
    in_force = (scene.state.decisions[identity] for identity in quoted(scene.state, seq))
    return Before(claims, frozenset(cite.id for facts in in_force for cite in facts.cites))


def _facts_at(facts: ClaimFacts, seq: int) -> ClaimFacts:
    """A copy, for facts grow."""
    moves = [move for move in facts.moves if move.seq <= seq]
    return msgspec.structs.replace(facts, moves=moves, status=status_after(moves))
