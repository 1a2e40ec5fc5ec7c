"""Who holds what on a verification: sealed positions and their flips, as of an event (FORMAT 2)."""

from __future__ import annotations

from typing import NamedTuple

from validators.reading.docket import Docket


class Stance(NamedTuple):
    """A role's last stance, and the position or flip that says it."""

    role: str
    stance: str
    ref: str


def last_stances(verification: str, than: int, docket: Docket) -> dict[str, Stance]:
    """Role → last stance on a verification before seq `than`."""
    state = docket.book.state
    stances: dict[str, Stance] = {}
    owners: dict[str, str] = {}
    for identity, position in state.positions.items():
        if position.on == verification and position.seq < than:
            owners[identity] = position.role
            stances[position.role] = Stance(position.role, position.stance, identity)
    for identity, flip in state.flips.items():
        if flip.seq < than and owners.get(flip.of) == flip.role:
            stances[flip.role] = Stance(flip.role, flip.to, identity)
    return stances
