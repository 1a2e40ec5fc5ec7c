"""What a State holds, by round: so that one round can be counted again without reading the others.

`shelve` makes it of a whole State, `Shelf.take` keeps it up to date event by event; both come to the same.
"""

from __future__ import annotations

import msgspec

from ledger.events import Artifact, Claim, Decision, Event, Flip, Position, Verification
from ledger.ids import round_of
from ledger.state import State


class Held(msgspec.Struct):
    """Ids of what belongs to one round; `touched` are claims that its checks moved."""

    checks: list[str] = msgspec.field(default_factory=list[str])
    positions: list[str] = msgspec.field(default_factory=list[str])
    flips: list[str] = msgspec.field(default_factory=list[str])
    claims: list[str] = msgspec.field(default_factory=list[str])
    decisions: list[str] = msgspec.field(default_factory=list[str])
    artifacts: list[str] = msgspec.field(default_factory=list[str])
    touched: set[str] = msgspec.field(default_factory=set[str])


class Shelf(msgspec.Struct):
    """The rounds, and for everything that a decision cites the first round in which one did."""

    rounds: dict[int, Held] = msgspec.field(default_factory=dict[int, Held])
    cited: dict[str, int] = msgspec.field(default_factory=dict[str, int])

    def round(self, number: int) -> Held:
        """What a round holds."""
        found = self.rounds.get(number)
        if found is None:
            found = self.rounds[number] = Held()
        return found

    def cite(self, identity: str, round_: int) -> None:
        """A decision of this round cites `identity`."""
        self.cited[identity] = min(round_, self.cited.get(identity, round_))

    def take(self, event: Event) -> bool:
        """Put one event on the shelf; whether it belongs there."""
        held, identity = self.round(event.round), event.id or ""
        match event:
            case Verification():
                if event.phase != "S" and event.repeats is None:
                    held.checks.append(identity)
                held.touched.update(change.claim_id for change in event.claim_status_changes)
            case Position():
                held.positions.append(identity)
            case Flip():
                held.flips.append(identity)
            case Claim():
                held.claims.append(identity)
            case Decision():
                held.decisions.append(identity)
                for cite in event.cites:
                    self.cite(cite.id, event.round)
            case Artifact():
                held.artifacts.append(identity)
            case _:
                return False
        return True


def shelve(state: State) -> Shelf:
    """The shelf of a whole State."""
    shelf = Shelf()
    for identity, check in state.checks.items():
        if check.phase != "S" and check.repeats is None:
            shelf.round(check.round).checks.append(identity)
    for identity, position in state.positions.items():
        shelf.round(position.round).positions.append(identity)
    for identity, flip in state.flips.items():
        shelf.round(flip.round).flips.append(identity)
    for identity, claim in state.claims.items():
        shelf.round(claim.round).claims.append(identity)
        for move in claim.moves:
            if move.by in state.checks:  # another claim that replaces this one is no test of it
                shelf.round(move.place.round).touched.add(identity)
    for identity, decision in state.decisions.items():
        shelf.round(decision.round).decisions.append(identity)
        for cite in decision.cites:
            shelf.cite(cite.id, decision.round)
    for identity in state.listed:
        shelf.round(round_of(identity) or 0).artifacts.append(identity)
    return shelf
