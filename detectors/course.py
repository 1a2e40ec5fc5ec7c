"""Course of a run: what the gates and signals read, round by round, for sparklines and charts. Display only."""

from __future__ import annotations

from collections.abc import Mapping

from detectors.observations import Observations, observe, untested
from detectors.stopping.judgement import readings_of
from detectors.stopping.parameters import GateParameters, gate_parameters
from detectors.stopping.readiness import course_of
from detectors.stopping.rounds import count_rounds
from ledger.result import Result
from ledger.state.state import State


class Series(Result, frozen=True):
    """One number a round, R1 first; null where a round has none. `share` says that the numbers are shares of 1."""

    name: str
    feeds: str
    values: list[float | None]
    share: bool


def course(state: State, parameters: GateParameters | None = None) -> list[Series]:
    """Return what the rounds brought, in the order of the gates and signals that read it."""
    rule = parameters or gate_parameters()
    rounds = count_rounds(state, rule.bypass.references_at_least)
    if not rounds:
        return []
    series = [
        _counts("new claims", "FM-5", [len(each.arrivals) for each in rounds]),
        _counts("first tests", "S1", [len(each.resolutions) for each in rounds]),
        Series(name="disagreement", feeds="S2", values=_disagreement(observe(state)), share=False),
        Series(name="untested share", feeds="untested", values=_untested(state, len(rounds)), share=True),
    ]
    # Runs that never asked for answers have no margins, and an empty series would draw an empty chart.
    margins = course_of(state, len(rounds)).margins
    if margins:
        series.append(_counts("leader's margin", "settled", [round(float(margin), 1) for margin in margins]))
    return series


def e_courses(state: State, parameters: GateParameters | None = None) -> Mapping[str, tuple[float, ...]]:
    """Return failure mode → its e-value after every round; empty for deterministic modes."""
    return {str(reading.mode): reading.rounds for reading in readings_of(state, parameters)}


def _counts(name: str, feeds: str, values: list[int] | list[float]) -> Series:
    return Series(name=name, feeds=feeds, values=[float(value) for value in values], share=False)


def _disagreement(seen: Observations) -> list[float | None]:
    """Return BROKEN and UNCLEAR verdicts per round; a stress round has fewer checks and no number here."""
    return [None if tally.stress else float(tally.disagreement) for tally in seen.rounds]


def _untested(state: State, rounds: int) -> list[float | None]:
    """Return the share of untested claims after each round, which the gate `untested` limits."""
    shares: list[float | None] = []
    for number in range(1, rounds + 1):
        raised = sum(claim.round <= number for claim in state.claims.values())
        # The count is taken as of that round, so a claim that was tested later still shows as untested here.
        shares.append(len(untested(state, number)) / raised if raised else None)
    return shares
