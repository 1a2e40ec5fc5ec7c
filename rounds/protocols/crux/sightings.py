"""Sightings: how many ways to be wrong the roles named, sealed from each other, and how many stay unnamed."""

from __future__ import annotations

from detectors.forecasts.arithmetic import leader_of
from detectors.forecasts.standing import ForecastStanding, ForecastTable, Unseen, unseen_of
from ledger.events.ids import kind_of
from ledger.state.state import State
from rounds.protocols.crux.standing import standing_at, table_at
from rounds.protocols.plans import AUTHORS


def unseen(state: State) -> Unseen | None:
    """Return how many ways the leader may be wrong were named, and by how many roles; None without an agenda."""
    if state.agenda is None:
        return None
    table, standing = table_at(state), standing_at(state)
    # The estimate compares lists about one thing, so a role that prefers another option is left out.
    lists = [role for role in AUTHORS if _preferred_leader(role, table, standing)]
    sightings = [
        [role for role in lists if any(f"-{role}#defeater-" in ref for ref in merged.from_)]
        for merged in state.agenda.merged
        if kind_of(merged.into) == "concern"
    ]
    return unseen_of(sightings, len(lists))


def _preferred_leader(role: str, table: ForecastTable, standing: ForecastStanding) -> bool:
    """Return whether a role's sealed forecast has the same leader; only then its list is about that leader."""
    forecast = table.forecasts.get(role)
    return forecast is not None and leader_of(forecast) == standing.leader
