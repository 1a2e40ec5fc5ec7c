"""The stop checks for people: verdict, gates, alarms, why a run stopped, and what its plan still allows.

The terminal, the web page, `--json` and MCP show the same lines. A run that cannot stop yet names the subject of
its next round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from ledger.events import RunOpened, Signals
from ledger.events.run import PlanRow
from ledger.plain_text import counted, shortened, some
from ledger.state.book import Book
from ledger.state.state import State
from moot.view import marks, words
from moot.view.marks import mark_of
from roles.protocol import next_lead
from rounds.protocols import is_watched
from rounds.protocols.schedule import (
    active_focus,
    authors,
    deliberation_is_validated,
    next_row,
    plan_row,
    stop_is_obeyed,
)

if TYPE_CHECKING:
    from detectors.parameters import GateParameters
    from detectors.report import AlarmReading, GateReading, SignalReport

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
HEADLINES: Final[Mapping[str, str]] = {
    "STOP": "The stop checks hold, or going on cannot change the answer: the run can end.",
    "WAIT": "A person has to answer before the run can be called ready.",
    "ENDED": "The run has ended, and its stop checks did not all hold.",
    "GO ON": "The stop checks do not hold yet. The line says what the next round is about.",
}
"""Word that the headline begins with → its meaning."""
NAMED_MAX: Final = 3


def conditions_of_gates(parameters: GateParameters) -> Mapping[str, str]:
    """Return gate → the condition under which it holds, with the thresholds of `parameters`."""
    settled = parameters.settled
    return {
        "examined": f"each living option is named by at least {parameters.examined.tests_at_least} tested claims",
        "settled": f"the last {settled.rounds_with_same_leader} rounds have the same leader, it lost at most "
        f"{settled.points_lost_at_most} points and leads by at least {settled.margin_at_least}",
        "unblocked": "no open question decides and no decision waits for something outside the run",
        "untested": f"at most {parameters.untested['share_at_most']:.0%} of the claims are untested",
        "critic_absent_once": "one round was held without the critic",
        "on_goal": "the last drift check is not FAIL and names no neglected goal",
        "no_alarms": "no failure mode is alarmed",
        "cautious": "no failure mode seems to be starting",
        "reachable": "the rest of the plan can still become ready; a notice that decides nothing",
    }


def worded(report: SignalReport, state: State) -> SignalReport:
    """Return the report with its headline."""
    return msgspec.structs.replace(report, headline=_headline(report, state))


def _headline(report: SignalReport, state: State) -> str:
    """Return the verdict in one line."""
    failing, held = report.failing, "every gate holds"
    if not report.gates:
        held = f"{report.satisfied} of {report.of} signals hold"
    match report.verdict:
        case "stop":
            return f"STOP: {held}"
        # Naming the questions lets a person act, whereas the gate only states a count.
        case "wait" if report.waits_for:
            return f"WAIT: answer {some(report.waits_for, NAMED_MAX)} first"
        case "wait":
            return f"WAIT: {gate_sentence(failing[0])}"
        case "ended":
            lacking = f"{counted(len(failing), 'gate')} failed" if report.gates else held
            return f"ENDED, not ready: {lacking}"
        case "go_on":
            return f"GO ON: {_next(report, state)}"


def _next(report: SignalReport, state: State) -> str:
    """Return what comes next: the focus of the next round, else the first thing that is missing."""
    row, failing = next_row(state), report.failing
    if row is None:
        fail = "fails" if len(failing) == 1 else "fail"
        return f"no round is left in this plan, and {counted(len(failing), 'gate')} {fail}"
    # An open alarm may have set another focus than the plan.
    if focus := active_focus(state) or row.focus:
        return f"next round: {focus[0].lower()}{focus[1:]}"
    about = ABOUT[failing[0].name] if failing else "the question"
    return f"next round is about {f'what is missing without the {row.absent}' if row.absent else about}"


def alarm_line(alarm: AlarmReading) -> str:
    """Say an alarm in one line: its name and code, since when, and what was counted."""
    since = f" since R{alarm.onset_round}" if alarm.onset_round is not None else ""
    return f"{words.failure(alarm.id)}{since}: {alarm.detail}"


def because(report: SignalReport) -> str:
    """Return one sentence: `Not ready because 45.0% of the claims are untested (limit 30%), alarms are open: …`."""
    if report.deciding:
        sentences = dict.fromkeys(gate_sentence(gate) for gate in report.deciding if gate.ok == report.ready)
        # A run also stops where what is missing cannot be had by going on.
        if report.stop and not report.ready:
            return f"Stops, not ready: {', '.join(sentences)}."
        return f"{'Ready' if report.ready else 'Not ready'} because {', '.join(sentences)}.{no_all_clear(report)}"
    holding = [signal.id for signal in report.signals if signal.satisfied]
    missing = [signal.id for signal in report.signals if not signal.satisfied]
    lacking = f"; {', '.join(missing)} {'does' if len(missing) == 1 else 'do'} not" if missing else ""
    held = f"{report.satisfied} of {report.of} signals hold ({', '.join(holding) or 'none'})"
    first = f"{alarms_first(report)} ".lstrip() if report.stop else ""
    return f"{first}Says {'stop' if report.stop else 'go on'} because {held}{lacking}."


def no_all_clear(report: SignalReport) -> str:
    """Return the caveat to READY when a failure mode could not be measured; empty otherwise."""
    # A detector without enough data is silent, and silence is not the same as clear.
    blind = ", ".join(alarm.id for alarm in report.alarms if alarm.verdict == "INSUFFICIENT")
    return f" This is no all-clear: {blind} could not be measured." if report.ready and blind else ""


def gates_held(report: SignalReport) -> str:
    """Return how many of the deciding gates hold, or of the signals in runs without gates."""
    if not report.deciding:
        return f"{report.satisfied} of {report.of} signals"
    return f"{len(report.deciding) - len(report.failing)} of {len(report.deciding)} gates"


def alarms_first(report: SignalReport) -> str:
    """Return `one role dominates (FM-4): alarmed and unanswered.`; empty where no alarm is open."""
    modes = "; ".join(words.failure(alarm.id) for alarm in report.alarms if alarm.is_open)
    return f"{modes}: alarmed and unanswered." if modes else ""


def ended(state: State) -> str:
    """Return how the run ended, or that it has not."""
    if state.closing is None:
        return "The run has not stopped."
    return f"The run {state.closing.state} because {words.why_closed(state.closing.reason)}."


def gate_sentence(gate: GateReading) -> str:
    """Say what a gate found, with the names of failure modes next to their codes."""
    return words.failures_in(gate.text or gate.value or gate.name)


def why_it_stopped(state: State) -> str:
    """Return one sentence on why a run stopped, or that it has not; also for an import."""
    if state.opening.origin.type == "import":
        return (
            f"{len(state.rounds)} rounds were played elsewhere; whether and why they ended is not recorded."
        )
    opened, planned, closing = len(state.rounds), len(state.opening.plan), state.closing
    # A plan is an upper bound: `crux` plans rounds for answers that may never come.
    of_plan = f"{planned} planned" if opened == planned else f"at most {planned}"
    played = f"{opened} of {of_plan} rounds"
    if closing is None:
        return f"The run has not stopped: {played} were opened."
    looked = ""
    if state.looks and (look := state.looks[-1]).of:
        held = f"found {look.satisfied} of {look.of} signals"
        looked = f" The last look, in round {look.round}, {held}: {mark_of(marks.ADVICE, look.advice).plain}."
    return f"{ended(state)[:-1]}, after {played}; {state.quorum.text}.{looked}"


def next_round(state: State) -> list[str]:
    """Return lines on the next round, or a line that no round follows."""
    opened = state.opening
    if state.finished:
        return ["nothing: the run is finished"]
    if state.is_import:
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
    """Return what a planned round is for."""
    # Past leads decide the next one: the role with the fewest leads goes first (SD-52).
    leads = [event.lead for event in state.rounds.values()]
    parts = [f"R{row.round}, lead {next_lead(authors(state), leads, row.absent)}"]
    if row.absent:
        parts.append(f"stress: what is missing without {row.absent}")
    if row.drift:
        parts.append("a drift check against the goals")
    if "G" not in row.phases and "S" in row.phases:
        parts.append("synthesis alone: pending claims are resolved, final decisions made")
    if "G" in row.phases and row.round % state.opening.stop.check_every == 0:
        parts.append("a look at the signals at its end")
    if row.focus:
        parts.append(f"focus: {shortened(row.focus, 120)}")
    return "; ".join(parts)


_AT_A_LOOK: Final[Mapping[str, str]] = {
    "reachable": "this plan cannot become ready: {value}",
    "unblocked": "more rounds cannot settle this: {value}",
}
"""Gate → what a look reports where the gate fails."""
# This number comes from simulated runs, as docs/signals.md explains.
ROUNDS_OFTEN_ENOUGH: Final = 6
"""With fewer deliberating rounds, most simulated healthy runs ended with their plan (docs/signals.md)."""


def what_a_plan_lacks(opening: RunOpened) -> list[str]:
    """Return why a run with this opening can never become ready, one clause each; empty where it can."""
    if not _is_gated(opening):
        return []
    from detectors.parameters import gate_parameters
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
    if not _is_gated(state.opening):
        return ""
    # The look said so already, and a second notice would look like a second problem.
    if state.looks and "reachable" in _failing(state.looks[-1]):
        return ""
    # A defect of the plan was reported at the start, and in the last round nothing can be changed.
    if what_a_plan_lacks(state.opening) or state.round >= max(
        (row.round for row in state.opening.plan if "G" in row.phases), default=0
    ):
        return ""
    from detectors.signals import signals  # who watches no such run does not pay for it

    gates = {gate.name: gate for gate in signals(book, "gates").gates}
    notice = gates.get("reachable")
    return notice.text if notice is not None and not notice.ok else ""


def look_warnings(look: Signals) -> str:
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
    """Return the failing gates of a look, with their values."""
    return {gate.name: gate.value or "" for gate in look.gates if not gate.ok}
