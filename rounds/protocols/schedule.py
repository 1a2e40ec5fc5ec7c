"""Contents of a round, by plan and state: active roles, applicable checks, when looks and S are due."""

from __future__ import annotations

from typing import Final

from ledger.events.run import PlanRow
from ledger.events.verifications import CHECK_NEEDS
from ledger.state.decided import has_precedent
from ledger.state.state import State

CLAIM_CAP: Final = "D.proposed_claims.max"
"""Path of an amendment that caps the claims of an artifact."""
CLAIMS_MAX: Final = 4
"""Claims that an artifact may propose while nothing caps them (FORMAT 2)."""


def claim_cap(state: State) -> int:
    """Return how many claims an artifact may propose now: fewer while an alarm that caps them is open (SD-82)."""
    raised = {alarm.seq for alarm in state.open_alarms()}
    caps = [
        change.to
        for event in state.amendments
        # A cap ends with the alarm that caused it; a cap that a person set has no alarm and stays.
        if event.what == "reply_rule" and (not isinstance(event.cause, int) or event.cause in raised)
        for change in event.change
        if change.path == CLAIM_CAP and isinstance(change.to, int)
    ]
    return min(caps, default=CLAIMS_MAX)


def plan_row(state: State, round_: int) -> PlanRow:
    """Return the plan's row of an opened round."""
    return state.opening.plan[state.rounds[round_].plan_row]


def authors(state: State) -> tuple[str, ...]:
    """Return the roles that write artifacts, in protocol order."""
    return tuple(role for role in state.roles if role != "verifier")


def active_roles(state: State, round_: int) -> tuple[str, ...]:
    """Return the authors that take part in phases A–H of a round."""
    absent = state.rounds[round_].absent
    return tuple(role for role in authors(state) if role != absent)


def possible_checks(state: State, absent: str | None) -> tuple[int, ...]:
    """Return the checks that a round can make without `absent`; check 4 needs an earlier decision (SD-32, SD-36)."""
    return tuple(
        check
        for check, roles in CHECK_NEEDS.items()
        if absent not in roles and (check != 4 or has_precedent(state))
    )


def lost_artifacts(state: State, round_: int) -> frozenset[str]:
    """Return the roles whose artifact of this round was given up."""
    # The usual case first: this is asked for every step of every prompt.
    if not state.given_up:
        return frozenset()
    return frozenset(role for role in authors(state) if f"r{round_}.D.{role}" in state.given_up)


def applicable_checks(state: State, round_: int) -> tuple[int, ...]:
    """Return the checks that are asked in a round: the applicable ones whose artifacts exist."""
    lost = lost_artifacts(state, round_)
    return tuple(
        check for check in state.rounds[round_].applicable if not lost.intersection(CHECK_NEEDS[check])
    )


def look_is_due(state: State, round_: int) -> bool:
    """Return whether a look at the signals is due: every `check_every` rounds and after the last G (FORMAT 9)."""
    if "G" not in plan_row(state, round_).phases:
        return False
    later = state.opening.plan[state.rounds[round_].plan_row + 1 :]
    return round_ % state.opening.stop.check_every == 0 or not any("G" in row.phases for row in later)


def stop_is_obeyed(state: State, round_: int) -> bool:
    """Return whether this round's look says stop and counts."""
    if not state.looks or state.looks[-1].round != round_:
        return False
    # Earlier looks are recorded and not obeyed: the plan's stress rounds must have been held first.
    return state.looks[-1].stop and round_ >= state.opening.stop.not_before


def synthesis_is_due(state: State, round_: int) -> bool:
    """Return whether S belongs to this round: a round of S alone, an obeyed stop, or the end of the plan."""
    row = plan_row(state, round_)
    if "G" not in row.phases:
        return "S" in row.phases
    # The synthesis rests on a validated deliberation, so it waits while the validation is held up.
    if not deliberation_is_validated(state, round_):
        return False
    used_up = state.rounds[round_].plan_row + 1 >= len(state.opening.plan)
    return "S" in row.phases or used_up or stop_is_obeyed(state, round_)


def deliberation_is_validated(state: State, round_: int) -> bool:
    """Return whether phases A–H of a round are validated; an imported round has no phases and needs none."""
    return not plan_row(state, round_).phases or any(
        phase != "S" for phase in state.validated.get(round_, ())
    )


def active_focus(state: State) -> str | None:
    """Return the focus that an open alarm gave the next rounds; None where none did."""
    # Newest first: a later alarm may have set another focus, and a closed alarm gives its own up.
    closed = {alarm.closes for alarm in state.alarms if alarm.action == "closed"}
    for amendment in reversed(state.amendments):
        if amendment.what == "focus" and amendment.cause not in closed:
            for change in amendment.change:
                if isinstance(change.to, str):
                    return change.to
    return None


def next_row(state: State) -> PlanRow | None:
    """Return the next row of the plan that deliberates; None where none is left, or the run is not ours."""
    if state.is_import:
        return None
    after = state.rounds[state.round].plan_row + 1 if state.round in state.rounds else 0
    limit = state.limits.rounds
    rows = state.opening.plan[:limit]
    return next((row for row in rows[after:] if "G" in row.phases), None)
