"""What stood when a group opened: claim statuses and last stances, independent of the order of arrival (FORMAT 2)."""

from __future__ import annotations

from ledger.events.values import Status
from ledger.state.lifecycle import Place, place_of_check, status_after
from ledger.state.state import State
from roles.protocol import Step


def opening_of(step: Step) -> Place:
    """The place before which everything had happened when the step's group opened."""
    check = int(step.task[-1]) if step.task.startswith("E.check") else 0
    return Place(step.name.round, step.name.phase, place_of_check(0, step.name.phase, check, 0).group, 0, 0)


def status_at_opening(state: State, claim_id: str, step: Step) -> Status:
    """A claim's status when the step's group opened: moves of siblings do not count."""
    opening = opening_of(step)
    return status_after([move for move in state.claims[claim_id].moves if move.place < opening])


def last_stances(state: State, verification_id: str) -> dict[str, tuple[str, str]]:
    """Role → (last stance, position or flip id) on a verification, in role order."""
    stances: dict[str, tuple[str, str]] = {}
    for identity, position in state.positions.items():
        if position.on == verification_id:
            stances[position.role] = (position.stance, identity)
    for identity, flip in state.flips.items():
        sealed = state.positions.get(flip.of)
        if sealed is not None and sealed.on == verification_id:
            stances[flip.role] = (flip.to, identity)
    order = {role: n for n, role in enumerate(state.roles)}
    return dict(sorted(stances.items(), key=lambda pair: order.get(pair[0], len(order))))
