"""The gates of readiness in words, and plans that can never meet them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ledger.events import RunOpened, Signals
from ledger.state.book import Book
from ledger.state.state import State
from rounds.protocols import is_watched

_BLOCKED: Final = "more rounds cannot settle this: {value}"
_AT_A_LOOK: Final[Mapping[str, str]] = {
    "reachable": "this plan cannot become ready: {value}",
    "unblocked": _BLOCKED,
    "blocked": _BLOCKED,
}
"""Gate → what a look reports where the gate fails; `blocked` is a name of moot 0.1."""


# This number comes from simulated runs, as docs/signals.md explains.
ROUNDS_OFTEN_ENOUGH: Final = 6
"""With fewer deliberating rounds, most simulated healthy runs ended with their plan (docs/signals.md)."""


def what_a_plan_lacks(opening: RunOpened) -> list[str]:
    """Return why a run with this opening can never become ready, one clause each; empty where it can."""
    if not _is_gated(opening):
        return []
    from detectors.stopping.parameters import gate_parameters
    from detectors.stopping.readiness import lacks

    # A state with nothing but the opening shows what no course of events can repair.
    return list(lacks(State(opened=opening), (), gate_parameters().settled))


def seldom_ready(opening: RunOpened) -> str:
    """Return why a run with this opening seldom becomes ready; empty where it mostly does."""
    if not _is_gated(opening) or what_a_plan_lacks(opening):
        return ""
    held = sum("G" in row.phases for row in opening.plan)
    if held >= ROUNDS_OFTEN_ENOUGH:
        return ""
    return f"{held} rounds leave little time to test every option; about every other healthy run ends unready"


def out_of_reach(book: Book) -> str:
    """Return why the rest of a run's plan cannot make it ready, though rounds are left; empty where it can.

    Also empty in its last round, in runs that decide by other criteria, and where the opening or the last look
    has reported it already.
    """
    state = book.state
    opened = state.opened
    if opened is None or not _is_gated(opened):
        return ""
    # The look said so already, and a second notice would look like a second problem.
    if state.looks and "reachable" in _failing(state.looks[-1]):
        return ""
    # A defect of the plan was reported at the start, and in the last round nothing can be changed.
    if what_a_plan_lacks(opened) or state.round >= max(
        (row.round for row in opened.plan if "G" in row.phases), default=0
    ):
        return ""
    from detectors.signals import signals  # who watches no such run does not pay for it

    gates = {gate.name: gate for gate in signals(book, "gates").gates}
    notice = gates.get("reachable")
    return notice.text if notice is not None and not notice.ok else ""


def told_at_a_look(look: Signals) -> str:
    """Return the warnings of a look: the plan cannot become ready, or reading cannot settle the question."""
    failing = _failing(look)
    return "; ".join(
        words.format(value=failing[name]) for name, words in _AT_A_LOOK.items() if name in failing
    )


def _is_gated(opening: RunOpened) -> bool:
    """Return whether the run looks at gates."""
    # The other stop profiles count signals or test values and know no gates.
    return is_watched(opening) and opening.stop.profile == "gates"


def _failing(look: Signals) -> dict[str, str]:
    return {gate.name: gate.value or "" for gate in look.gates if not gate.ok}
