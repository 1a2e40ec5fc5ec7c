"""What every verdict is read with: what was waived, how many seats really answered, who could read more than the brief."""

from __future__ import annotations

from collections import Counter

from ledger.events import Event
from ledger.state import State


def caveats(state: State, events: tuple[Event, ...] = ()) -> list[str]:
    """Lines to print before a verdict, the gravest first; none when there is nothing to say (FORMAT 9, DESIGN 4)."""
    lines: list[str] = []
    opened = state.opened
    if opened is not None:
        lines += [f"WAIVED {waiver.what}: {waiver.why}" for waiver in opened.waived]
    quorum = state.quorum
    if quorum.actual < quorum.declared:
        lost = quorum.declared - quorum.actual
        lines.append(f"DEGRADED: {quorum.actual} of {quorum.declared} steps were answered, {lost} given up")
    return lines + _isolation(events)


def _isolation(events: tuple[Event, ...]) -> list[str]:
    calls = [event.call for event in events if event.call is not None]
    if not calls:
        return []
    kinds = Counter(call.isolation for call in calls)
    parts = [f"{kinds[kind]} {kind}" for kind in ("enforced", "trusted") if kinds[kind]]
    continued = sum(call.context.mode == "continued" for call in calls)
    if continued:
        parts.append(f"{continued} in a continued context")
    recorded = sum(call.simulated == "recorded" for call in calls)
    if recorded:
        parts.append(f"{recorded} recorded")
    return [f"isolation of {len(calls)} replies: {', '.join(parts)}"]
