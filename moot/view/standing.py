"""Where a run stands, for people: read from the state alone, so that it takes no longer than reading the run."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from detectors.report import SignalReport
from ledger.state.state import Spend, State
from moot.view.because import alarms_first
from moot.view.costs import dollars
from moot.view.plain import WIDTH, folded, joined, listed


def status_text(
    path: Path, state: State, caveats: Sequence[str], waiting: Sequence[str], report: SignalReport | None
) -> str:
    """What `moot status` prints: caveats first. `waiting` are the open steps, `report` the signals as they read now."""
    opened = state.opening
    question = opened.question.strip().splitlines() or [""]
    leads = [f"R{round_} {event.lead}" for round_, event in sorted(state.rounds.items()) if event.lead]
    drift = [f"R{n} {one.verdict} ({one.deviation_score}/5)" for n, one in sorted(state.drift.items())]
    watched = opened.protocol == "structured"
    lines = [
        *caveats,
        f"{path}: {standing(state)}, round {state.round} of {len(opened.plan)}, phase {state.phase}"
        f"   ({opened.protocol})",
        *folded(question[0]),
        "",
        *(_row("leads", listed(leads)) if watched else ()),
        *(_row("stress", listed(_stress(state))) if watched else ()),
        *(_row("drift", listed(drift)) if watched else ()),
        *_row("calls", _spent(state.spend)),
        *(_row("stop", _stop(state, report)) if watched else ()),
        *(_row("open", ", ".join(waiting)) if waiting else ()),
        *(_row("held up", _held_up(path, state)) if state.held_up else ()),
    ]
    return joined(lines)


def _held_up(path: Path, state: State) -> str:
    place = state.held_up[0]
    return (
        f"by the screening {', '.join(state.held_up)} of what was asked: see `moot log {path}`; "
        f"`moot override {path} {place} 'why it is harmless'` lets it through"
    )


def _row(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"{label:<8}", subsequent_indent=" " * 8)


def standing(state: State) -> str:
    """running, stopped or finished; an import is none of them."""
    if state.opened is not None and state.opened.origin.type == "import":
        return "imported"
    return state.life


def _stress(state: State) -> list[str]:
    absent = {row.round: row.absent for row in state.opening.plan if row.absent}
    absent |= {round_: event.absent for round_, event in state.rounds.items() if event.absent}
    return [
        f"R{round_} without {role}{'' if round_ in state.rounds else ' (to come)'}"
        for round_, role in sorted(absent.items())
    ]


def _spent(spend: Spend) -> str:
    parts = [str(spend.calls)]
    if spend.tokens_in or spend.tokens_out:
        parts.append(f"{spend.tokens_in} tokens in, {spend.tokens_out} out")
    parts.append(dollars(spend))
    return ", ".join(parts)


def _stop(state: State, report: SignalReport | None) -> str:
    """The signals as they read now: an open alarm first, then the count and what it advises."""
    if report is None or state.opened is None:
        return "the signals cannot be read: the run's own thresholds are gone"
    not_before = state.opened.stop.not_before
    said = (
        f"R{report.round}: {report.satisfied} of {report.of} signals ({report.profile}), "
        f"{report.advice.replace('_', ' ')}"
    )
    if alarmed := alarms_first(report):
        said = f"{alarmed} {said}"
    if report.stop and report.round < not_before:
        said += f"; says stop, obeyed from round {not_before} on"
    return said
