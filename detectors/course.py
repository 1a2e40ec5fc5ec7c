"""The course of a run: what the signals and gates look at, round by round, for sparklines and charts; display only."""

from __future__ import annotations

from collections.abc import Mapping

from detectors.calibrated.gates import late_yield
from detectors.calibrated.judgement import readings_of
from detectors.calibrated.parameters import CalibratedParameters, calibrated_parameters
from detectors.calibrated.rounds import count_rounds
from detectors.observations import Observations, observe, untested
from ledger.result import Result
from ledger.state.state import State


class Series(Result, frozen=True):
    """One number a round, R1 first; null where a round has none. `share` says that the numbers are shares of 1."""

    name: str
    feeds: str
    values: list[float | None]
    share: bool


def course(state: State, parameters: CalibratedParameters | None = None) -> list[Series]:
    """What the rounds brought, in the order of the signals and gates that read it."""
    rule = parameters or calibrated_parameters()
    seen = observe(state)
    rounds = count_rounds(state, rule.bypass.references_at_least)
    if not rounds:
        return []
    window = rule.ready.window_rounds
    return [
        _counts("new claims", "yield", [len(each.arrivals) for each in rounds]),
        _counts("first tests", "S1", [len(each.resolutions) for each in rounds]),
        Series(name="disagreement", feeds="S2", values=_disagreement(seen), share=False),
        Series(name="untested share", feeds="S6 pending", values=_untested(state, len(rounds)), share=True),
        Series(
            name=f"yield of {window} rounds",
            feeds="yield",
            values=[
                late_yield(state, rounds[:number], window) if number >= window else None
                for number in range(1, len(rounds) + 1)
            ],
            share=True,
        ),
    ]


def e_courses(
    state: State, parameters: CalibratedParameters | None = None
) -> Mapping[str, tuple[float, ...]]:
    """Failure mode → its e-value after every round; empty for FM-7, which is certain or not."""
    return {str(reading.mode): reading.rounds for reading in readings_of(state, parameters)}


def _counts(name: str, feeds: str, values: list[int]) -> Series:
    return Series(name=name, feeds=feeds, values=[float(value) for value in values], share=False)


def _disagreement(seen: Observations) -> list[float | None]:
    """BROKEN and UNCLEAR a round; a stress round has fewer checks and no number here."""
    return [None if tally.stress else float(tally.disagreement) for tally in seen.rounds]


def _untested(state: State, rounds: int) -> list[float | None]:
    """The share of claims raised so far that nobody had tested after each round: what the gate `pending` holds."""
    found: list[float | None] = []
    for number in range(1, rounds + 1):
        raised = sum(claim.round <= number for claim in state.claims.values())
        found.append(len(untested(state, number)) / raised if raised else None)
    return found
