"""The gates of readiness in words, and what keeps a plan from ever meeting them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detectors.parameters import read_as
from ledger.events import RunOpened, Signals
from ledger.state.book import Book
from ledger.state.state import State
from rounds.protocols import is_watched

GATES: Final[Mapping[str, tuple[str, str]]] = {
    "examined": ("every option was examined: {value}", "an option was hardly tested: {value}"),
    "settled": ("the answers are settled: {value}", "the answers are not settled: {value}"),
    "unblocked": ("no open question would change the outcome", "more rounds cannot settle this: {value}"),
    "untested": (
        "{value} of the claims are untested (limit {limit})",
        "{value} of the claims are untested (limit {limit})",
    ),
    "critic_absent_once": (
        "the critic was really {value}",
        "no honest round was held without the critic ({value})",
    ),
    "on_goal": ("the last drift check did not fail ({value})", "the last drift check did not pass ({value})"),
    "no_alarms": ("no alarm is open", "alarms are open: {value}"),
    "cautious": ("nothing speaks for a failure that has just begun", "a failure may have begun: {value}"),
    "reachable": ("the plan could become ready", "this plan cannot become ready: {value}"),
}
"""Gate → how it is said when it holds, and when it does not."""
_EARLIER: Final[Mapping[str, str]] = {
    "blocked": "unblocked",
    "pending": "untested",
    "critic_stressed": "critic_absent_once",
    "drift": "on_goal",
    "alarms": "no_alarms",
}
"""Gate of moot 0.1 → the gate that took its place; recorded looks name the former."""


def gate_words(name: str) -> tuple[str, str]:
    """Return how a gate is said when it holds, and when it does not."""
    return GATES.get(_EARLIER.get(name, name), (f"{name} {{value}}",) * 2)


ROUNDS_OFTEN_ENOUGH: Final = 6
"""With fewer rounds that deliberate most simulated healthy runs ended with their plan (docs/signals.md)."""


def what_a_plan_lacks(opening: RunOpened) -> list[str]:
    """Why a run that is opened like this can never become ready, each in a clause; nothing where it can."""
    if read_as(opening.stop.profile) != "gates" or not is_watched(opening):
        return []
    from detectors.calibrated.parameters import calibrated_parameters
    from detectors.calibrated.readiness import lacks

    return list(lacks(State(opened=opening), (), calibrated_parameters().settled))


def seldom_ready(opening: RunOpened) -> str:
    """Why a run that is opened like this can become ready and seldom does; empty where it mostly does."""
    if read_as(opening.stop.profile) != "gates" or not is_watched(opening) or what_a_plan_lacks(opening):
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
    if opened is None or read_as(opened.stop.profile) != "gates" or not is_watched(opened):
        return ""
    if state.looks and "reachable" in _failing(state.looks[-1]):
        return ""
    if what_a_plan_lacks(opened) or state.round >= max(
        (row.round for row in opened.plan if "G" in row.phases), default=0
    ):
        return ""
    from detectors.signals import signals  # who watches no such run does not pay for it

    gates = {gate.name: gate for gate in signals(book, "gates").gates}
    found = gates.get("reachable")
    if found is None or found.ok:
        return ""
    return GATES["reachable"][1].format(value=found.value or "")


def told_at_a_look(look: Signals) -> str:
    """What a look says that nobody should overlook: the plan cannot become ready, or reading cannot settle it."""
    failing = _failing(look)
    return "; ".join(
        gate_words(name)[1].format(value=failing[name])
        for name in ("reachable", "unblocked", "blocked")
        if name in failing
    )


def _failing(look: Signals) -> dict[str, str]:
    return {gate.name: gate.value or "" for gate in look.gates if not gate.ok}
