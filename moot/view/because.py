"""Why a run stops, or does not: the gates or signals of a report as one sentence, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detectors.report import Gate, SignalReport
from ledger.state.state import State
from moot.view import words

WATCHED: Final = " watched"
"""How the gate `alarms` names a failure mode that is no alarm yet and stands in the way all the same."""
NO_CLAIM: Final = "no claim yet"
"""What a gate says of a share of nothing."""
WINDOW: Final = 3
_GATES: Final[Mapping[str, tuple[str, str]]] = {
    "rounds": ("{value} rounds were held", "only {value} rounds were held, {limit} are asked for"),
    "pending": (
        "{value} of the claims are untested (limit {limit})",
        "{value} of the claims are untested (limit {limit})",
    ),
    "critic_stressed": (
        "the critic was really {value}",
        "no honest round was run without the critic ({value})",
    ),
    "drift": ("the last drift check did not fail ({value})", "the last drift check failed"),
    "yield": (
        "{window} brought {value} of all claims (limit {limit})",
        "{window} brought {value} of all claims (limit {limit})",
    ),
    "alarms": ("no alarm is open", "alarms are open ({value})"),
    "judges": ("repeated verdicts agree ({value})", "verdicts are unreliable ({value})"),
}
"""Gate → how it is said when it holds, and when it does not."""


def because(report: SignalReport) -> str:
    """`Not ready because 45.0% of the claims are untested (limit 30%), FM-5 is alarmed and unanswered.`"""
    if report.gates:
        rounds = next((int(gate.value or 0) for gate in report.gates if gate.name == "rounds"), 0)
        told = dict.fromkeys(_told(gate, rounds) for gate in report.gates if gate.ok == report.ready)
        return f"{'Ready' if report.ready else 'Not ready'} because {', '.join(told)}."
    holding = [signal.id for signal in report.signals if signal.satisfied]
    missing = [signal.id for signal in report.signals if not signal.satisfied]
    verdict = "Says stop" if report.stop else "Says go on"
    lacking = f"; {', '.join(missing)} {'does' if len(missing) == 1 else 'do'} not" if missing else ""
    held = f"{report.satisfied} of {report.of} signals hold ({', '.join(holding) or 'none'})"
    first = alarms_first(report) if report.stop else ""
    return f"{first}{' ' if first else ''}{verdict} because {held}{lacking}."


def alarms_first(report: SignalReport) -> str:
    """`FM-1 is alarmed and unanswered.`: said before any advice; nothing where no alarm is open."""
    open_ones = [alarm.id for alarm in report.alarms if alarm.is_open]
    if not open_ones:
        return ""
    return f"{', '.join(open_ones)} {'is' if len(open_ones) == 1 else 'are'} alarmed and unanswered."


def ended(state: State) -> str:
    """How the run ended, or that it has not."""
    closing = state.closing
    if closing is None:
        return "The run has not stopped."
    return f"The run {closing.state} because {words.CLOSINGS.get(closing.reason, closing.reason)}."


def _told(gate: Gate, rounds: int) -> str:
    value = gate.value or ""
    if value == NO_CLAIM:
        return "no claim was raised yet"
    holds, fails = _GATES.get(gate.name, (f"{gate.name} {{value}}",) * 2)
    if gate.name == "alarms" and value.endswith(WATCHED) and "," not in value:
        fails = "{value}, which is no all-clear"
    window = (
        "the last 3 rounds"
        if rounds >= WINDOW
        else "the first round"
        if rounds == 1
        else "the first 2 rounds"
    )
    limit = (gate.limit or "").lstrip("≤≥")
    return (holds if gate.ok else fails).format(value=value, limit=limit, window=window)
