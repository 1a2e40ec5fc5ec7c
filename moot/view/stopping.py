"""Why a run stops or goes on: its gates as a sentence, how it ended, what the next round is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detectors.report import GateReading, SignalReport
from ledger.events import RunClosed, Signals
from ledger.events.run import PlanRow
from ledger.events.values import Quorum
from ledger.plain_text import shortened
from ledger.state.state import State
from moot.view import marks, words
from moot.view.marks import mark_of
from roles.rotation import next_lead
from rounds.protocols.schedule import authors, deliberation_is_validated, plan_row, stop_is_obeyed

if TYPE_CHECKING:
    from moot.view.story import Story


def because(report: SignalReport) -> str:
    """Return one sentence: `Not ready because 45.0% of the claims are untested (limit 30%), alarms are open: …`."""
    deciding = [gate for gate in report.gates if gate.decides]
    if deciding:
        sentences = dict.fromkeys(gate_told(gate) for gate in deciding if gate.ok == report.ready)
        # A run also stops where what is missing cannot be had by going on.
        if report.stop and not report.ready:
            return f"Stops, not ready: {', '.join(sentences)}."
        return f"{'Ready' if report.ready else 'Not ready'} because {', '.join(sentences)}.{no_all_clear(report)}"
    holding = [signal.id for signal in report.signals if signal.satisfied]
    missing = [signal.id for signal in report.signals if not signal.satisfied]
    verdict = "Says stop" if report.stop else "Says go on"
    lacking = f"; {', '.join(missing)} {'does' if len(missing) == 1 else 'do'} not" if missing else ""
    held = f"{report.satisfied} of {report.of} signals hold ({', '.join(holding) or 'none'})"
    first = alarms_first(report) if report.stop else ""
    return f"{first}{' ' if first else ''}{verdict} because {held}{lacking}."


def no_all_clear(report: SignalReport) -> str:
    """Return the caveat to READY when a failure mode could not be measured; empty otherwise."""
    # A detector without enough data is silent, and silence is not the same as clear.
    blind = [alarm.id for alarm in report.alarms if alarm.verdict == "INSUFFICIENT"]
    return (
        f" This is no all-clear: {', '.join(blind)} could not be measured." if report.ready and blind else ""
    )


def held_told(report: SignalReport) -> str:
    """Return how many of the deciding gates hold, or of the signals in runs without gates."""
    deciding = [gate for gate in report.gates if gate.decides]
    if deciding:
        return f"{sum(gate.ok for gate in deciding)} of {len(deciding)} gates"
    return f"{report.satisfied} of {report.of} signals"


def alarms_first(report: SignalReport) -> str:
    """Return `one role dominates (FM-4): alarmed and unanswered.`; empty where no alarm is open."""
    open_ones = [words.failure(alarm.id) for alarm in report.alarms if alarm.is_open]
    if not open_ones:
        return ""
    return f"{'; '.join(open_ones)}: alarmed and unanswered."


def ended(state: State) -> str:
    """Return how the run ended, or that it has not."""
    closing = state.closing
    if closing is None:
        return "The run has not stopped."
    return f"The run {closing.state} because {words.why_closed(closing.reason)}."


def gate_told(gate: GateReading) -> str:
    """Say what a gate found, with the names of failure modes next to their codes."""
    return words.failures_in(gate.text or gate.value or gate.name)


def why_it_stopped(story: Story) -> str:
    """Return one sentence on why the run of a story stopped."""
    look = next((round_.look for round_ in reversed(story.rounds) if round_.look), None)
    return stopped_because(story.closing, look, story.quorum, len(story.rounds), len(story.plan))


def why_of(state: State) -> str:
    """Return one sentence on why a run stopped, from its state; also for an import."""
    if state.opening.origin.type == "import":
        return played_elsewhere(len(state.rounds))
    look = state.looks[-1] if state.looks else None
    return stopped_because(state.closing, look, state.quorum, len(state.rounds), len(state.opening.plan))


def played_elsewhere(rounds: int) -> str:
    """Return what an import can say of its end."""
    return f"{rounds} rounds were played elsewhere; whether and why they ended is not recorded."


def stopped_because(
    closing: RunClosed | None, look: Signals | None, quorum: Quorum, opened: int, planned: int
) -> str:
    """Return the sentence from its parts.

    `look` is the last one; `opened` and `planned` are numbers of rounds.
    """
    # A plan is an upper bound: `crux` plans rounds for answers that may never come.
    played = (
        f"{opened} of {planned} planned rounds"
        if opened == planned
        else f"{opened} of at most {planned} rounds"
    )
    if closing is None:
        return f"The run has not stopped: {played} were opened."
    why = words.why_closed(closing.reason)
    looked = ""
    if look is not None and look.of:
        advice = mark_of(marks.ADVICE, look.advice).plain
        looked = (
            f" The last look, in round {look.round}, found {look.satisfied} of {look.of} signals: {advice}."
        )
    answered = f"{quorum.actual} of {quorum.declared} steps were answered"
    return f"The run {closing.state} because {why}, after {played}; {answered}.{looked}"


def next_round(state: State) -> list[str]:
    """Return lines on the next round, or a line that no round follows."""
    opened = state.opened
    if opened is None or state.finished:
        return ["nothing: the run is finished" if state.finished else "nothing: no run is open"]
    if opened.origin.type == "import":
        return ["nothing: the run was made by another system"]
    # Before the first round opens, the plan is all there is.
    if state.round not in state.rounds:
        return [_planned_round(state, opened.plan[0])] if opened.plan else ["nothing: the plan is empty"]
    lines: list[str] = []
    if not deliberation_is_validated(state, state.round) and "G" in plan_row(state, state.round).phases:
        lines.append(f"R{state.round} is under way (phase {state.phase})")
    # Round numbers and plan rows may differ, so the row of the last round counts.
    after = state.rounds[state.round].plan_row + 1
    if stop_is_obeyed(state, state.round) or after >= len(opened.plan):
        lines.append(
            "synthesis: pending claims are resolved, every role looks back, the lead decides for good"
        )
    else:
        lines.append(_planned_round(state, opened.plan[after]))
    return lines


def _planned_round(state: State, row: PlanRow) -> str:
    # Past leads decide the next one: the role with the fewest leads goes first (SD-52).
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
