"""The stop checks for people: a verdict, one line per deciding gate, one line per open alarm.

The terminal, the web page, `--json` and MCP show the same lines. A run that cannot stop yet names the subject of
its next round.
"""

from __future__ import annotations

from typing import Final

import msgspec

from detectors.report import AlarmReading, SignalReport
from ledger.plain_text import counted
from ledger.state.state import State
from moot.view import words
from moot.view.stopping import gate_told
from rounds.protocols.schedule import active_focus, next_row

ABOUT: Final = {
    "examined": "the options that are hardly tested",
    "settled": "what could still change the answer",
    "untested": "the claims that no check tested",
    "critic_absent_once": "what is missing without the critic",
    "on_goal": "the goals",
    "no_alarms": "the open alarms",
    "cautious": "what may be going wrong",
    "unblocked": "what the open questions leave undecided",
}
"""Failing gate → subject of the next round where its plan names no focus."""
HOLDS: Final = {
    "examined": "each living option is named by at least 3 tested claims",
    "settled": "the last two rounds have the same leader, it lost at most 10 points and leads by at least 10",
    "unblocked": "no open question decides and no decision waits for something outside the run",
    "untested": "at most 30% of the claims are untested",
    "critic_absent_once": "one round was held without the critic",
    "on_goal": "the last drift check is not FAIL and names no neglected goal",
    "no_alarms": "no failure mode is alarmed",
    "cautious": "no failure mode seems to be starting",
    "reachable": "the rest of the plan can still become ready; a notice that decides nothing",
}
"""Gate → condition under which it holds."""
NAMED_MAX: Final = 3


def worded(report: SignalReport, state: State) -> SignalReport:
    """Return the report with its headline."""
    return msgspec.structs.replace(report, headline=_headline(report, state))


def _headline(report: SignalReport, state: State) -> str:
    failing = [gate for gate in report.gates if gate.decides and not gate.ok]
    held = f"{report.satisfied} of {report.of} signals hold" if not report.gates else "every gate holds"
    match report.verdict:
        case "stop":
            return f"STOP: {held}"
        # Naming the questions lets a person act, whereas the gate only states a count.
        case "wait" if report.waits_for:
            return f"WAIT: answer {_listed(report.waits_for)} first"
        case "wait":
            return f"WAIT: {gate_told(failing[0])}"
        case "ended":
            lacking = f"{counted(len(failing), 'gate')} failed" if report.gates else held
            return f"ENDED, not ready: {lacking}"
        case "go_on":
            return f"GO ON: {_next(report, state)}"


def _listed(ids: list[str]) -> str:
    more = f" and {len(ids) - NAMED_MAX} more" if len(ids) > NAMED_MAX else ""
    return ", ".join(ids[:NAMED_MAX]) + more


def _next(report: SignalReport, state: State) -> str:
    """Return what comes next: the focus of the next round, else the first thing that is missing."""
    row = next_row(state)
    if row is None:
        failing = sum(gate.decides and not gate.ok for gate in report.gates)
        return f"no round is left in this plan, and {counted(failing, 'gate')} fail{'s' * (failing == 1)}"
    # An open alarm may have set another focus than the plan.
    focus = active_focus(state) or row.focus
    if focus:
        return f"next round: {focus[0].lower()}{focus[1:]}"
    if row.absent:
        return f"next round is about what is missing without the {row.absent}"
    missing = [gate.name for gate in report.gates if gate.decides and not gate.ok]
    about = ABOUT[missing[0]] if missing else "the question"
    return f"next round is about {about}"


def alarm_told(alarm: AlarmReading) -> str:
    """Say an alarm in one line: its name and code, since when, and what was counted."""
    since = f" since R{alarm.onset_round}" if alarm.onset_round is not None else ""
    return f"{words.failure(alarm.id)}{since}: {alarm.detail}"
