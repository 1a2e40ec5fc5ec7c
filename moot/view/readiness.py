"""The gates of readiness in words, and what keeps a plan from ever meeting them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ledger.events import RunOpened, Signals
from ledger.state.state import State
from rounds.protocols import is_watched

GATES: Final[Mapping[str, tuple[str, str]]] = {
    "examined": ("every option was examined ({value})", "an option was not examined ({value})"),
    "settled": ("the answers are settled ({value})", "the answers are not settled ({value})"),
    "blocked": ("nothing waits for a run or a person", "reading cannot settle it: {value}"),
    "reachable": ("the plan could become ready", "this plan cannot become ready: {value}"),
    "rounds": ("{value} rounds were held", "only {value} rounds were held, {limit} are asked for"),
    "pending": (
        "{value} of the claims are untested (limit {limit})",
        "{value} of the claims are untested (limit {limit})",
    ),
    "critic_stressed": (
        "the critic was really {value}",
        "no honest round was run without the critic ({value})",
    ),
    "drift": ("the last drift check did not fail ({value})", "the last drift check did not pass ({value})"),
    "yield": (
        "{window} brought {value} of all claims (limit {limit})",
        "{window} brought {value} of all claims (limit {limit})",
    ),
    "alarms": ("no alarm is open", "alarms are open: {value}"),
    "judges": ("repeated verdicts agree ({value})", "verdicts are unreliable ({value})"),
}
"""Gate → how it is said when it holds, and when it does not."""


def what_a_plan_lacks(opening: RunOpened) -> list[str]:
    """Why a run that is opened like this can never become ready, each in a clause; nothing where it can."""
    if opening.stop.profile != "calibrated" or not is_watched(opening):
        return []
    from detectors.calibrated.gates import thresholds_of_readiness
    from detectors.calibrated.parameters import calibrated_parameters
    from detectors.calibrated.readiness import lacks

    return list(lacks(State(opened=opening), (), thresholds_of_readiness(calibrated_parameters())[1]))


def told_at_a_look(look: Signals) -> str:
    """What a look says that nobody should overlook: the plan cannot become ready, or reading cannot settle it."""
    failing = {gate.name: gate.value or "" for gate in look.gates if not gate.ok}
    return "; ".join(
        GATES[name][1].format(value=failing[name]) for name in ("reachable", "blocked") if name in failing
    )
