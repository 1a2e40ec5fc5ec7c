"""Sightings: how many ways to be wrong the roles found, sealed from each other, and how many nobody found."""

from __future__ import annotations

from detectors.beliefs.course import RoundEnd
from detectors.beliefs.pool import leader_of
from detectors.beliefs.unseen import Unseen, unseen_of
from ledger.state.state import State
from rounds.protocols.crux.standing import (
    ITS_OWN,
    SEALED,
    belief,
    end_of,
    is_open_ended,
    option_ids,
    points_of,
)
from rounds.protocols.plans import AUTHORS


def unseen(state: State) -> Unseen | None:
    """Ways in which the leader may be wrong: how many were found, and by how many roles; None without an agenda."""
    if state.agenda is None:
        return None
    end, options = end_of(state, state.round), option_ids(state)
    lists = [role for role in AUTHORS if _leads(state, role, end, options)]
    found = [
        [role for role in lists if any(f"-{role}#defeater-" in ref for ref in merged.from_)]
        for merged in state.agenda.merged
        if merged.into.startswith("N-")
    ]
    return unseen_of(found, len(lists))


def _leads(state: State, role: str, end: RoundEnd, options: tuple[str, ...]) -> bool:
    """Whether a role's first favourite is the leader: only then its list is of ways in which the leader is wrong."""
    n = ITS_OWN if is_open_ended(state) else SEALED
    facts = belief(state, 1, role, n)
    return facts is not None and leader_of(points_of(facts.points, options)) == end.leader
