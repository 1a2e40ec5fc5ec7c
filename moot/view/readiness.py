"""The gates of readiness in words, and what keeps a plan from ever meeting them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ledger.events import RunOpened, Signals
from ledger.state.book import Book
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
    "cautious": ("nothing speaks for a failure that has just begun", "a failure may have begun: {value}"),
    "judges": ("repeated verdicts agree ({value})", "verdicts are unreliable ({value})"),
}
"""Gate → how it is said when it holds, and when it does not."""


ROUNDS_OFTEN_ENOUGH: Final = 6
"""With fewer rounds that deliberate most simulated healthy runs ended with their plan (docs/signals.md)."""


def what_a_plan_lacks(opening: RunOpened) -> list[str]:
    """Why a run that is opened like this can never become ready, each in a clause; nothing where it can."""
    if opening.stop.profile != "calibrated" or not is_watched(opening):
        return []
    from detectors.calibrated.gates import thresholds_of_readiness
    from detectors.calibrated.parameters import calibrated_parameters
    from detectors.calibrated.readiness import lacks

    return list(lacks(State(opened=opening), (), thresholds_of_readiness(calibrated_parameters())[1]))


def seldom_ready(opening: RunOpened) -> str:
    """Why a run that is opened like this can become ready and seldom does; empty where it mostly does."""
    if opening.stop.profile != "calibrated" or not is_watched(opening) or what_a_plan_lacks(opening):
        return ""
    held = sum("G" in row.phases for row in opening.plan)
    if held >= ROUNDS_OFTEN_ENOUGH:
        return ""
    return f"{held} rounds leave little time to test every option; about every other healthy run ends unready"


def out_of_reach(book: Book) -> str:
    """Why the rest of a run's plan cannot bring what readiness needs, though rounds are left; empty where it can, where
    the run decides by something else, and in its last round. What was so from the beginning was said there, and what
    the last look found by the look."""
    state = book.state
    opened = state.opened
    if opened is None or opened.stop.profile != "calibrated" or not is_watched(opened):
        return ""
    if state.looks and "reachable" in _failing(state.looks[-1]):
        return ""
    if what_a_plan_lacks(opened) or state.round >= max(
        (row.round for row in opened.plan if "G" in row.phases), default=0
    ):
        return ""
    from detectors.signals import signals  # who watches no such run does not pay for it

    gates = {gate.name: gate for gate in signals(book, "calibrated").gates}
    found = gates.get("reachable")
    if found is None or found.ok or not found.decides:
        return ""
    return GATES["reachable"][1].format(value=found.value or "")


def told_at_a_look(look: Signals) -> str:
    """What a look says that nobody should overlook: the plan cannot become ready, or reading cannot settle it."""
    failing = _failing(look)
    return "; ".join(
        GATES[name][1].format(value=failing[name]) for name in ("reachable", "blocked") if name in failing
    )


def _failing(look: Signals) -> dict[str, str]:
    return {gate.name: gate.value or "" for gate in look.gates if not gate.ok}
