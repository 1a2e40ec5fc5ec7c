"""Claims as a round finds them, as it raises them, and what has moved since (laws 6 and 8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from ledger.book import Book, book
from ledger.events import Claim
from ledger.lifecycle import OPEN
from roles import quoting
from roles.brief_v1 import this_round
from roles.brief_v1.scene import Scene
from roles.protocol import Sight
from roles.quoting import Quoted

TESTED: Final = ("may_move", "pending")
"""Extents of those who test claims, or say what a test will show."""


def found(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """Earlier claims as they stood when the round opened; in the synthesis as they stand."""
    before = _at_round(scene)
    wanted = _wanted(before, sight)
    events = before.ordered(event for event in before.of(Claim) if event.id in wanted)
    return tuple(_quoted(before, sight, event) for event in events)


def _quoted(before: Scene, sight: Sight, event: Claim) -> Quoted:
    facts = before.state.claims[str(event.id)]
    whole = sight.extent in TESTED or facts.status in OPEN
    if before.step.name.phase == "S":
        return before.quoted_claim(event, facts, whole=whole)
    return quoting.claim(event, before.state, whole=whole, placed=False)


def _wanted(before: Scene, sight: Sight) -> set[str]:
    claims = before.state.claims
    match sight.extent:
        case "every":
            return set(claims)
        case "pending":
            return {identity for identity, facts in claims.items() if facts.status == "pending"}
        case "open_or_cited" | "may_move":
            cited = before.cited_by_decisions()
            final = "superseded" if sight.extent == "may_move" else None
            return {
                identity
                for identity, facts in claims.items()
                if (facts.status in OPEN or identity in cited) and facts.status != final
            }
        case _:
            raise AssertionError(f"old claims have no extent {sight.extent}")


def raised(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """The round's claims as they were raised."""
    assert sight.extent == "all", sight
    events = this_round.turned(scene, scene.ordered(scene.of(Claim, scene.round)))
    return tuple(quoting.raised(event) for event in events)


def is_late(scene: Scene, quoted: Quoted) -> bool:
    """Whether a claim of the round was raised when its verdicts were known."""
    return scene.book.by_id[quoted.name].phase == "F" and scene.step.name.phase != "S"


def moved(scene: Scene, shown: Iterable[Quoted]) -> tuple[Quoted, ...]:
    """Those of the claims that are shown whose status is not the one that they are shown with."""
    if scene.step.name.phase == "S":
        return ()
    before, claims = _at_round(scene).state.claims, scene.state.claims
    names = {quoted.name for quoted in shown}
    known = {name: len(before[name].moves) if name in before else 0 for name in names}
    events = (event for event in scene.of(Claim) if event.id in names)
    changed = (event for event in events if len(claims[str(event.id)].moves) > known[str(event.id)])
    return tuple(quoting.standing(event, scene.state) for event in scene.ordered(changed))


def _at_round(scene: Scene) -> Scene:
    """The scene as it was when the round opened; the synthesis looks at what stands."""
    if scene.step.name.phase == "S":
        return scene
    return msgspec.structs.replace(scene, book=_opening(scene))


def _opening(scene: Scene) -> Book:
    known, key = scene.shared.rounds, ("opening", scene.round)
    if key not in known:
        opened = scene.state.rounds[scene.round]
        known[key] = book(scene.book.events[: opened.seq + opened.rest + 1], scene.book.blobs)
    opening: Book = known[key]
    return opening
