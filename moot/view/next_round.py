"""What the next round is for, read from the plan: who leads, who is absent, what is looked at."""

from __future__ import annotations

from ledger.events.decisions import PlanRow
from ledger.plain_text import shortened
from ledger.state.state import State
from roles.rotation import next_lead
from rounds.run.schedule import authors, deliberation_is_validated, plan_row, stop_is_obeyed


def next_round(state: State) -> list[str]:
    """Lines for people; one that says so when nothing comes."""
    opened = state.opened
    if opened is None or state.finished:
        return ["nothing: the run is finished" if state.finished else "nothing: no run is open"]
    if opened.origin.type == "import":
        return ["nothing: the run was made by another system"]
    if state.round not in state.rounds:
        return [_row(state, opened.plan[0])] if opened.plan else ["nothing: the plan is empty"]
    lines: list[str] = []
    if not deliberation_is_validated(state, state.round) and "G" in plan_row(state, state.round).phases:
        lines.append(f"R{state.round} is under way (phase {state.phase})")
    after = state.rounds[state.round].plan_row + 1
    if stop_is_obeyed(state, state.round) or after >= len(opened.plan):
        lines.append(
            "synthesis: pending claims are resolved, every role looks back, the lead decides for good"
        )
    else:
        lines.append(_row(state, opened.plan[after]))
    return lines


def _row(state: State, row: PlanRow) -> str:
    leads = [event.lead for event in state.rounds.values()]
    parts = [f"R{row.round}, lead {next_lead(authors(state), leads, row.absent)}"]
    if row.absent:
        parts.append(f"stress: what is missing without {row.absent}")
    if row.drift:
        parts.append("a drift check against the goals")
    if "G" not in row.phases and "S" in row.phases:
        parts.append("synthesis alone: pending claims are resolved, final decisions made")
    if _has_look(state, row):
        parts.append("a look at the signals at its end")
    if row.focus:
        parts.append(f"focus: {shortened(row.focus, 120)}")
    return "; ".join(parts)


def _has_look(state: State, row: PlanRow) -> bool:
    return "G" in row.phases and row.round % state.opening.stop.check_every == 0
