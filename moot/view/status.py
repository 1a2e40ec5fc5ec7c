"""The status of a run for people and for machines, and runs in a list: what each was asked, what it answers."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from detectors.report import SignalReport
from ledger.compare.diff import Cost
from ledger.events import Decision
from ledger.plain_text import counted, one_line, shortened
from ledger.result import Result
from ledger.state.amendments import Life
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from ledger.state.state import State
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot.view.labels import beside_outcome, hold_text, rules_checked_text
from moot.view.outcome import Outcome, outcome_of
from moot.view.questions import SHOWN
from moot.view.seats import WHOLE, costs_of, dollars, tokens_text, unrecorded_text
from moot.view.stop_checks import alarms_first, gates_held, no_all_clear
from moot.view.text import WIDTH, joined, listed
from moot.view.words import round_in
from roles.outcome_status import OutcomeStatus
from roles.protocol import UNLAWFUL, open_steps
from rounds.protocols import is_watched, protocol_of
from rounds.run.outcome import RunQuorum, quorum_of

if TYPE_CHECKING:
    from rounds.run.budget import Amounts


class Lead(Result, frozen=True):
    """Who leads a round; null in an import that does not say."""

    round: int
    lead: str | None


class StressRound(Result, frozen=True):
    """A round with an absent role, planned or past."""

    round: int
    absent: str
    done: bool


class DriftCheckStatus(Result, frozen=True):
    """A drift check that was made."""

    id: str
    round: int
    verdict: str
    deviation_score: int


class SpendPart(Cost, frozen=True):
    """What the calls of one role in one phase cost; `usd` covers those whose cost is known, null where none is."""

    role: str
    phase: str


class SpendBeyond(Result, frozen=True):
    """What attempts used that no event shows, at most: lost and refused ones of steps that were given up or killed.

    `usd` is null where calls were made and nothing is known of what they cost.
    """

    calls: int
    tokens: int
    usd: str | None


class StopStatus(Result, frozen=True):
    """The signals as they read now, as `moot signals` has them: after event `through`.

    `alarms` are open failure modes. `obeyed`: it says stop, and the round is late enough to end the run.
    """

    profile: str
    round: int
    through: int
    satisfied: int
    of: int
    stop: bool
    advice: str
    alarms: list[str]
    not_before: int
    obeyed: bool


class Status(Result, frozen=True):
    """`state`: running, stopped (resumable) or finished; with `finished`, `phase` is close."""

    run: str
    protocol: str
    question: str
    state: Life
    round: int
    phase: str
    rounds_planned: int
    leads: list[Lead]
    stress: list[StressRound]
    drift: list[DriftCheckStatus]
    quorum: RunQuorum
    spend: Cost
    stop: StopStatus | None
    finished: bool
    spend_parts: list[SpendPart]
    spend_beyond: SpendBeyond
    outcome: Outcome


def _usd(unrecorded: Amounts) -> str | None:
    """Return dollars with six decimals; None where the cost of calls is unknown."""
    # Reservations keep no mark of what is unknown, so calls without a dollar have an unknown cost.
    unknown = unrecorded.calls and not unrecorded.micro_usd
    return None if unknown else f"{Decimal(unrecorded.micro_usd) / 1_000_000:.6f}"


def status_of(
    run: str, book: Book, report: SignalReport | None, outcome: Outcome, unrecorded: Amounts | None
) -> Status:
    """Return the status of a run; `report` are its signals at the head, None for runs without signals."""
    state, opened, costs = book.state, book.state.opening, costs_of(book)
    return Status.from_parts(
        state,
        opened,
        run=run,
        state=state.life,
        rounds_planned=len(opened.plan),
        leads=[Lead(round=round_, lead=event.lead) for round_, event in sorted(state.rounds.items())],
        stress=[
            # A round without a validation also counts as done once a later one began.
            StressRound(round=round_, absent=role, done=round_ in state.validated or round_ < state.round)
            for round_, role in _absences(state).items()
        ],
        drift=[
            DriftCheckStatus.from_parts(facts, round=round_) for round_, facts in sorted(state.drift.items())
        ],
        quorum=quorum_of(state),
        stop=_stop(state, report),
        spend_parts=[
            SpendPart.from_parts(spend, role=role, phase=phase)
            for (role, phase), spend in sorted(costs.cells.items())
            # The sums over all phases and over all roles stand in the same table.
            if WHOLE not in (role, phase)
        ],
        spend_beyond=SpendBeyond(0, 0, "0.000000")
        if unrecorded is None
        else SpendBeyond.from_parts(unrecorded, usd=_usd(unrecorded)),
        outcome=outcome,
    )


def _absences(state: State) -> dict[int, str]:
    """Return the absent role by round, planned or recorded by an import without a plan."""
    absent = {row.round: row.absent for row in state.opening.plan if row.absent}
    # What really happened in a round wins over what its plan said.
    absent |= {round_: event.absent for round_, event in state.rounds.items() if event.absent}
    return dict(sorted(absent.items()))


def _stop(state: State, report: SignalReport | None) -> StopStatus | None:
    if report is None:
        return None
    not_before = state.opening.stop.not_before
    return StopStatus.from_parts(
        report,
        through=report.at,
        alarms=[alarm.id for alarm in report.alarms if alarm.is_open],
        not_before=not_before,
        # An early "stop" is advice only: the plan sets the first round in which it ends the run.
        obeyed=report.stop and report.round >= not_before,
    )


def status_text(
    run: str, state: State, report: SignalReport | None, unrecorded: Amounts | None = None
) -> str:
    """Return what `moot status` prints under the outcome, waivers first; `report` are the signals at the head."""
    opened = state.opening
    leads = [f"R{round_} {event.lead}" for round_, event in sorted(state.rounds.items()) if event.lead]
    drift = [f"R{n} {check.verdict} ({check.deviation_score}/5)" for n, check in sorted(state.drift.items())]
    stress = [
        f"R{round_} without {role}{'' if round_ in state.rounds else ' (to come)'}"
        for round_, role in _absences(state).items()
    ]
    spend = [
        str(state.spend.calls),
        tokens_text(state.spend),
        dollars(state.spend),
        unrecorded_text(unrecorded),
    ]
    waiting = [] if state.finished else [step.id for step in open_steps(protocol_of(opened), state)]
    rows = (
        ("leads", listed(leads)),
        ("stress", listed(stress)),
        ("drift", listed(drift)),
        ("calls", ", ".join(part for part in spend if part)),
        ("rules", rules_checked_text(state)),
        ("stop", _stop_text(state, report) if is_watched(opened) else ""),
        ("open", ", ".join(waiting)),
        ("held up", hold_text(run, state)),
    )
    return joined(
        [
            *beside_outcome(state),
            f"{run}: {standing(state)}, {round_in(opened.protocol, state.round, len(opened.plan))},"
            f" phase {state.phase}   ({opened.protocol})",
            "",
            *(
                line
                for label, text in rows
                for line in wrap(text, WIDTH, initial_indent=f"{label:<8}", subsequent_indent=" " * 8)
            ),
        ]
    )


def standing(state: State) -> str:
    """Return running, stopped or finished; `imported` for an import."""
    return "imported" if state.is_import else state.life


def _stop_text(state: State, report: SignalReport | None) -> str:
    """Return the signals as they read now: an open alarm first, then the count and the advice."""
    if report is None:
        return "the signals cannot be read: the run's own thresholds are gone"
    not_before = state.opening.stop.not_before
    text = f"R{report.round}: {gates_held(report)} hold ({report.profile}), {report.advice.replace('_', ' ')}"
    text += "." * bool(no_all_clear(report)) + no_all_clear(report)
    # An open alarm puts the count in doubt, so it must be read first.
    if alarmed := alarms_first(report):
        text = f"{alarmed} {text}"
    if report.stop and report.round < not_before:
        text += f"; says stop, obeyed from round {not_before} on"
    return text


class ListedRun(Result, frozen=True, kw_only=True):
    """A run.

    `status` and `answer` are those of its outcome; `decision` is the first final one in force, null while there is
    none, `by_person` whether a person made it and `person` who, null without a name, `finals` how many
    there are; `questions` wait for a person, no more than its outcome names.

    A run that cannot be read has `problem`, why, and else null; its other texts are empty.
    """

    run: str
    path: str
    question: str = ""
    protocol: str = ""
    state: str
    status: OutcomeStatus | None = None
    answer: str = ""
    decision: str | None = None
    by_person: bool = False
    person: str | None = None
    finals: int = 0
    questions: int = 0
    round: int = 0
    rounds: int = 0
    replies: int = 0
    at: str = ""
    problem: str | None = None


class RunList(Result, frozen=True):
    """Runs, the last committed first; `more` are not listed."""

    runs: list[ListedRun]
    more: int


def list_of(runs: Path, paths: Iterable[Path], more: int) -> RunList:
    """Return the runs at `paths`, named relative to `runs`."""
    return RunList(runs=[_listed(path, runs) for path in paths], more=more)


def _listed(path: Path, runs: Path) -> ListedRun:
    # Runs outside the directory keep their full path, so that the printed command finds them.
    name = str(path.relative_to(runs)) if path.is_relative_to(runs) else str(path)
    try:
        book = RunStore(path).book()
        outcome = outcome_of(name, book)
    # One damaged run must not hide the others, so it becomes a line of the list.
    except LedgerError as error:
        return ListedRun(run=name, path=str(path), state="unreadable", problem=one_line(error.what))
    except UNLAWFUL:  # lawful line by line, and no run all the same
        return ListedRun(run=name, path=str(path), state="unreadable", problem=f"see `moot check {path}`")
    state = book.state
    finals = final_in_force(state)
    first = book.by_id.get(finals[0]) if finals else None
    # Only an override and an answer are a person's decision; others name roles or rules.
    person = first if isinstance(first, Decision) and first.type in ("override", "answer") else None
    return ListedRun.from_parts(
        outcome,
        state.opening,
        run=name,
        path=str(path),
        state=standing(state),
        decision=finals[0] if finals else None,
        by_person=person is not None,
        person=person.name if person else None,
        finals=len(finals),
        questions=len(outcome.needs_you),
        round=state.round,
        rounds=len(state.opening.plan),
        replies=len(state.answered),
        at=book.events[-1].at,
        problem=None,
    )


def list_text(listing: RunList, width: int) -> str:
    """Return what `moot list` prints: three lines per run, its answer in the second."""
    lines: list[str] = []
    for run in listing.runs:
        if run.problem is not None:
            lines += [_headed(run.run, f"unreadable: {run.problem}", width), ""]
            continue
        where = (
            f", {round_in(run.protocol, run.round, run.rounds)}"
            if run.state not in ("finished", "imported")
            else ""
        )
        # The outcome lists at most this many questions, so reaching the limit means "or more".
        more = " or more" if run.questions == SHOWN else ""
        asks = f", {run.questions}{more} for you to answer" if run.questions else ""
        lines += [
            _headed(run.run, run.question, width),
            f"  {shortened(run.answer, width - 2)}",
            f"  {run.state}{where}, {run.protocol}, {counted(run.replies, 'reply')}, {run.at[:10]}"
            f"{_decided(run)}{asks}",
            "",
        ]
    lines += [f"{run.run} whole: moot status {run.run}" for run in listing.runs[:1]]
    lines += [f"{listing.more} older ones: moot list --all"] if listing.more else []
    return joined(lines or ["no runs here: start one with `moot run`"])


def _headed(name: str, text: str, width: int) -> str:
    return f"{name}   {shortened(text, max(10, width - len(name) - 3))}"


def _decided(run: ListedRun) -> str:
    if run.decision is None:
        return ""
    more = f" and {run.finals - 1} more" if run.finals > 1 else ""
    by = f" by {run.person or 'a person'}" if run.by_person else ""
    return f", {run.decision}{more}{by}"
