"""The status of a run for people and for machines, computed from the state alone."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from detectors.report import SignalReport
from ledger.events import Event
from ledger.result import Result
from ledger.state.amending import Life
from ledger.state.fold import add_call
from ledger.state.state import Spend, State
from moot.view.costs import beyond_told
from moot.view.labels import RunQuorum, held_up_told, quorum_told, rules_asked_told
from moot.view.outcome import Outcome
from moot.view.seats import dollars
from moot.view.stop_checks import alarms_first, held_told, no_all_clear
from moot.view.text import WIDTH, joined, listed
from moot.view.words import round_in
from rounds.protocols import is_watched

if TYPE_CHECKING:
    from moot.view.costs import EachCost
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


class SpendStatus(Result, frozen=True):
    """What the calls cost. `usd` covers those whose cost is known, null where none is; `unpriced` counts the others."""

    calls: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    usd: str | None
    unpriced: int


class SpendPart(Result, frozen=True):
    """What the calls of one role in one phase cost; `usd` covers those whose cost is known, null where none is."""

    role: str
    phase: str
    calls: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    usd: str | None
    unpriced: int


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


class SpendEach(Result, frozen=True):
    """What the whole run comes to for one of `number` things (`of`: reply, claim raised, …); null is unknown."""

    of: str
    number: int
    calls: float
    tokens: float | None
    usd: str | None


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
    spend: SpendStatus
    stop: StopStatus | None
    finished: bool
    spend_parts: list[SpendPart]
    spend_beyond: SpendBeyond
    outcome: Outcome
    spend_each: list[SpendEach]


class Ledgered:
    """Sums of calls by role and phase, collected while events pass through."""

    def __init__(self) -> None:
        self._sums: dict[tuple[str, str], Spend] = {}

    def seen(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the same events while adding up their calls."""
        for event in events:
            if event.call is not None:
                add_call(self._sums.setdefault((event.by, event.phase), Spend()), event.call)
            # Passing events through lets the caller fold and sum in a single pass.
            yield event

    def parts(self) -> list[SpendPart]:
        """Return one part for each role and phase with a call."""
        return [
            SpendPart(
                role=role,
                phase=phase,
                calls=spend.calls,
                tokens_in=spend.tokens_in,
                tokens_cached=spend.tokens_cached,
                tokens_out=spend.tokens_out,
                usd=spend.usd,
                unpriced=spend.unpriced,
            )
            for (role, phase), spend in sorted(self._sums.items())
        ]


def _usd(beyond: Amounts) -> str | None:
    """Return dollars with six decimals; None where the cost of calls is unknown."""
    # Reservations keep no mark of what is unknown, so calls without a dollar have an unknown cost.
    if beyond.calls and not beyond.micro_usd:
        return None
    return f"{Decimal(beyond.micro_usd) / 1_000_000:.6f}"


def status_of(
    run: str,
    state: State,
    parts: list[SpendPart],
    beyond: Amounts,
    report: SignalReport | None,
    outcome: Outcome,
    each: Sequence[EachCost],
) -> Status:
    """Return the status of a run after `state`; `report` are its signals there, None for runs without signals."""
    opened = state.opening
    spend = state.spend
    return Status(
        run=run,
        protocol=opened.protocol,
        question=opened.question,
        state=state.life,
        round=state.round,
        phase=state.phase,
        rounds_planned=len(opened.plan),
        leads=[Lead(round=round_, lead=event.lead) for round_, event in sorted(state.rounds.items())],
        stress=_stress(state),
        drift=[
            DriftCheckStatus(
                id=facts.id, round=round_, verdict=facts.verdict, deviation_score=facts.deviation_score
            )
            for round_, facts in sorted(state.drift.items())
        ],
        quorum=quorum_told(state),
        spend=SpendStatus(
            calls=spend.calls,
            tokens_in=spend.tokens_in,
            tokens_cached=spend.tokens_cached,
            tokens_out=spend.tokens_out,
            usd=spend.usd,
            unpriced=spend.unpriced,
        ),
        stop=_stop(state, report),
        finished=state.finished,
        spend_parts=parts,
        spend_beyond=SpendBeyond(calls=beyond.calls, tokens=beyond.tokens, usd=_usd(beyond)),
        outcome=outcome,
        spend_each=[
            SpendEach(
                of=cost.noun,
                number=cost.number,
                calls=round(cost.calls, 2),
                tokens=None if cost.tokens is None else round(cost.tokens, 2),
                usd=None if cost.usd is None else f"{cost.usd:.6f}",
            )
            for cost in each
        ],
    )


def _stress(state: State) -> list[StressRound]:
    """Return planned absences, and those that an import recorded without a plan."""
    absent = {row.round: row.absent for row in state.opening.plan if row.absent}
    # What really happened in a round wins over what its plan said.
    absent |= {round_: event.absent for round_, event in state.rounds.items() if event.absent}
    return [
        # A round without a validation also counts as done once a later one began.
        StressRound(round=round_, absent=role, done=round_ in state.validated or round_ < state.round)
        for round_, role in sorted(absent.items())
    ]


def _stop(state: State, report: SignalReport | None) -> StopStatus | None:
    if report is None or state.opened is None:
        return None
    not_before = state.opened.stop.not_before
    return StopStatus(
        profile=report.profile,
        round=report.round,
        through=report.at,
        satisfied=report.satisfied,
        of=report.of,
        stop=report.stop,
        advice=report.advice,
        alarms=[alarm.id for alarm in report.alarms if alarm.is_open],
        not_before=not_before,
        # An early "stop" is advice only: the plan sets the first round in which it ends the run.
        obeyed=report.stop and report.round >= not_before,
    )


def status_text(
    path: Path,
    state: State,
    caveats: Sequence[str],
    waiting: Sequence[str],
    report: SignalReport | None,
    beyond: Amounts | None = None,
) -> str:
    """Return what `moot status` prints, caveats first.

    `waiting` are the open steps, `report` the signals as they read now.
    """
    opened = state.opening
    leads = [f"R{round_} {event.lead}" for round_, event in sorted(state.rounds.items()) if event.lead]
    drift = [f"R{n} {check.verdict} ({check.deviation_score}/5)" for n, check in sorted(state.drift.items())]
    watched = is_watched(opened)
    lines = [
        *caveats,
        f"{path}: {standing(state)}, {round_in(opened.protocol, state.round, len(opened.plan))}, phase {state.phase}"
        f"   ({opened.protocol})",
        "",
        # Only watched protocols have leads, stress rounds, drift checks and stop signals.
        *(_row("leads", listed(leads)) if watched else ()),
        *(_row("stress", listed(_stress_told(state))) if watched else ()),
        *(_row("drift", listed(drift)) if watched else ()),
        *_row("calls", _spent_told(state.spend, beyond)),
        *_row("rules", rules_asked_told(state)),
        *(_row("stop", _stop_told(state, report)) if watched else ()),
        *(_row("open", ", ".join(waiting)) if waiting else ()),
        *_row("held up", held_up_told(str(path), state)),
    ]
    return joined(lines)


def _row(label: str, text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=f"{label:<8}", subsequent_indent=" " * 8)


def standing(state: State) -> str:
    """Return running, stopped or finished; `imported` for an import."""
    if state.opened is not None and state.opened.origin.type == "import":
        return "imported"
    return state.life


def _stress_told(state: State) -> list[str]:
    absent = {row.round: row.absent for row in state.opening.plan if row.absent}
    absent |= {round_: event.absent for round_, event in state.rounds.items() if event.absent}
    return [
        f"R{round_} without {role}{'' if round_ in state.rounds else ' (to come)'}"
        for round_, role in sorted(absent.items())
    ]


def _spent_told(spend: Spend, beyond: Amounts | None) -> str:
    parts = [str(spend.calls)]
    if spend.tokens_in or spend.tokens_out:
        parts.append(f"{spend.tokens_in:,} tokens in, {spend.tokens_out:,} out")
    parts.append(dollars(spend))
    parts += [lost] if (lost := beyond_told(beyond)) else []
    return ", ".join(parts)


def _stop_told(state: State, report: SignalReport | None) -> str:
    """Return the signals as they read now: an open alarm first, then the count and the advice."""
    if report is None or state.opened is None:
        return "the signals cannot be read: the run's own thresholds are gone"
    not_before = state.opened.stop.not_before
    text = f"R{report.round}: {held_told(report)} hold ({report.profile}), {report.advice.replace('_', ' ')}"
    text += "." * bool(no_all_clear(report)) + no_all_clear(report)
    # An open alarm puts the count in doubt, so it must be read first.
    if alarmed := alarms_first(report):
        text = f"{alarmed} {text}"
    if report.stop and report.round < not_before:
        text += f"; says stop, obeyed from round {not_before} on"
    return text
