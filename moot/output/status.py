"""`moot status --json`: where a run stands."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from ledger.state import State
from moot.output.base import Output


class Lead(Output, frozen=True):
    """Who leads a round; null in an import that does not say."""

    round: int
    lead: str | None


class StressRound(Output, frozen=True):
    """A round with an absent role, planned or past."""

    round: int
    absent: str
    done: bool


class DriftCheckStatus(Output, frozen=True):
    """A drift check that was made."""

    id: str
    round: int
    verdict: str
    deviation_score: int


class QuorumStatus(Output, frozen=True):
    """Steps that were asked and settled, and those that a seat really answered."""

    declared: int
    actual: int


class SpendStatus(Output, frozen=True):
    """What the calls cost. `usd` covers the calls whose cost is known; `unpriced` counts the others."""

    calls: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    usd: str
    unpriced: int


class StopStatus(Output, frozen=True):
    """The last recorded look at the signals. `obeyed`: it says stop, and its round is late enough to end the run."""

    profile: str
    round: int
    through: int
    satisfied: int
    of: int
    stop: bool
    advice: str
    not_before: int
    obeyed: bool


class Status(Output, frozen=True):
    """`state`: running, stopped (resumable) or finished; with `finished`, `phase` is close."""

    run: str
    protocol: str
    question: str
    state: Literal["running", "stopped", "finished"]
    round: int
    phase: str
    rounds_planned: int
    leads: list[Lead]
    stress: list[StressRound]
    drift: list[DriftCheckStatus]
    quorum: QuorumStatus
    spend: SpendStatus
    stop: StopStatus | None
    finished: bool


def status_of(run: str, state: State) -> Status:
    """Where a run stands after `state`."""
    opened = state.opened
    assert opened is not None, "a run begins with its opening"
    spend = state.spend
    return Status(
        run=run,
        protocol=opened.protocol,
        question=opened.question,
        state=_standing(state),
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
        quorum=QuorumStatus(declared=state.quorum.declared, actual=state.quorum.actual),
        spend=SpendStatus(
            calls=spend.calls,
            tokens_in=spend.tokens_in,
            tokens_cached=spend.tokens_cached,
            tokens_out=spend.tokens_out,
            usd=f"{Decimal(spend.micro_usd) / 1_000_000:.6f}",
            unpriced=spend.unpriced,
        ),
        stop=_stop(state),
        finished=state.finished,
    )


def _standing(state: State) -> Literal["running", "stopped", "finished"]:
    if state.finished:
        return "finished"
    return "stopped" if state.closures and state.closures[-1].seq == state.seq else "running"


def _stress(state: State) -> list[StressRound]:
    """Planned absences, and those that an import recorded without a plan."""
    assert state.opened is not None, "a run begins with its opening"
    absent = {row.round: row.absent for row in state.opened.plan if row.absent}
    absent |= {round_: event.absent for round_, event in state.rounds.items() if event.absent}
    return [
        StressRound(round=round_, absent=role, done=round_ in state.validated or round_ < state.round)
        for round_, role in sorted(absent.items())
    ]


def _stop(state: State) -> StopStatus | None:
    if not state.looks or state.opened is None:
        return None
    look, not_before = state.looks[-1], state.opened.stop.not_before
    return StopStatus(
        profile=look.profile,
        round=look.round,
        through=look.through,
        satisfied=look.satisfied,
        of=look.of,
        stop=look.stop,
        advice=look.advice,
        not_before=not_before,
        obeyed=look.stop and look.round >= not_before,
    )
