"""Standing of a run of `crux`: forecasts after verdicts, the group, unsettled cruxes with their value, the status.

Forecasts are always recomputed from the sealed numbers and one verdict per crux. A role without numbers about a crux
that
has a verdict leaves the group forecast, because its forecast ignores the result. Where no role has numbers about a
crux,
its verdict moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from detectors.forecasts.cruxes import Crux, by_number, worth_testing
from detectors.forecasts.points import Forecast, GroupForecast, group_forecast, leader_of
from detectors.forecasts.update import CruxResult, moved_numbers, updated_forecast
from detectors.forecasts.value_of_tests import Numbers, mean_numbers, value_of_test
from detectors.parameters import ForecastTerms
from ledger.events.values import HowTested
from roles.outcome_status import OutcomeStatus


class FrameCheck(NamedTuple):
    """Result of the frame step. `objection`: ill-posed, an option missing, or two that are the same."""

    ill_posed: bool
    objection: bool


class ForecastTable(NamedTuple):
    """Numbers of a run. `forecasts`: sealed, by role, over the options; empty where no role answered.

    `made_options`: the options were made of the answers, so proposals speak of the proposer's own answer: their value
    ranks them, and no verdict reads them.
    """

    forecasts: Mapping[str, Forecast]
    cruxes: Sequence[Crux]
    terms: ForecastTerms
    frame: FrameCheck | None = None
    made_options: bool = False


class UnsettledCrux(NamedTuple):
    """Crux without a verdict, and the value of its test in points: at the best quality, and here (None: not here)."""

    claim: str
    how: HowTested
    best: Fraction
    here: Fraction | None


class ForecastStanding(NamedTuple):
    """Standing of a run. `group`, `leader` and `margin` are None where no role answered."""

    forecasts: Mapping[str, Forecast]
    group: GroupForecast | None
    leader: int | None
    margin: Fraction | None
    unsettled: tuple[UnsettledCrux, ...]
    status: OutcomeStatus

    def worth(self, tau: Fraction) -> list[UnsettledCrux]:
        """Return unsettled cruxes that are worth a test at the best quality."""
        return [crux for crux in self.unsettled if crux.best >= tau]


class WithoutRole(NamedTuple):
    """End of the run without a role: the leader then, and whether leader or status would differ."""

    leader: int | None
    changes: bool


def standing_of(table: ForecastTable) -> ForecastStanding:
    """Compute the standing of a run from its sealed numbers and its verdicts."""
    forecasts = dict(_updated(table))
    group = group_forecast(forecasts.values()) if forecasts else None
    unsettled = tuple(_unsettled(table, forecasts))
    return ForecastStanding(
        forecasts,
        group,
        None if group is None else group.leader,
        None if group is None else group.margin,
        unsettled,
        _status(table, group, unsettled),
    )


def numbers_about(table: ForecastTable, crux: Crux) -> dict[str, Numbers]:
    """Return each role's numbers about a crux over the options: those sealed before the tests, else its own
    proposal's.
    """
    return {**({} if table.made_options else crux.proposed), **crux.sealed}


def cruxes_to_test(table: ForecastTable, kept: Sequence[Crux]) -> list[Crux]:
    """Return which kept cruxes are tested, by the proposers' means, before any verdict.

    Where the options were made, the proposers' numbers over these options count: those that they sealed afterwards.
    """
    if not table.forecasts:
        return []
    if table.made_options:
        kept = [
            crux._replace(proposed={role: crux.sealed[role] for role in crux.proposed if role in crux.sealed})
            for crux in kept
        ]
    return worth_testing(kept, group_forecast(table.forecasts.values()), table.terms)


def _updated(table: ForecastTable) -> Iterable[tuple[str, Forecast]]:
    """Yield each role of the group with its forecast after the verdicts."""
    settled = [
        (crux.verdict, numbers)
        for crux in table.cruxes
        if crux.verdict is not None and (numbers := numbers_about(table, crux))
    ]
    qualities = table.terms.parameters.quality
    informed = [role for role in table.forecasts if all(role in numbers for _, numbers in settled)]
    # Two verdicts may have no role in common; then every role stays, moved by the verdicts that it has numbers about.
    for role in informed or table.forecasts:
        observations = [
            CruxResult(numbers[role], verdict.holds, qualities[verdict.level])
            for verdict, numbers in settled
            if role in numbers
        ]
        yield role, updated_forecast(table.forecasts[role], observations)


def _unsettled(table: ForecastTable, forecasts: Mapping[str, Forecast]) -> Iterable[UnsettledCrux]:
    """Return every crux without a verdict with its value now, by value; ties by claim id."""
    open_cruxes: list[UnsettledCrux] = []
    for crux in table.cruxes:
        if crux.verdict is None:
            mean = _mean_now(table, crux, forecasts)
            here = table.terms.here(crux.how)
            best = table.terms.parameters.best[crux.how]
            open_cruxes.append(
                UnsettledCrux(
                    crux.claim,
                    crux.how,
                    value_of_test(mean, best) if mean else Fraction(),
                    None if here is None else value_of_test(mean, here) if mean else Fraction(),
                )
            )
    return sorted(open_cruxes, key=lambda crux: (-crux.best, by_number(crux.claim)))


def _mean_now(table: ForecastTable, crux: Crux, forecasts: Mapping[str, Forecast]) -> Numbers | None:
    """Return mean numbers about an open crux, moved along with each role's forecast; else the proposers'."""
    moved = [
        moved_numbers(numbers, table.forecasts[role], forecasts[role])
        for role, numbers in numbers_about(table, crux).items()
        if role in forecasts
    ]
    return mean_numbers(moved) if moved else crux.mean


def _status(
    table: ForecastTable, group: GroupForecast | None, unsettled: Sequence[UnsettledCrux]
) -> OutcomeStatus:
    limits = table.terms.parameters.limits
    if group is None:
        return OutcomeStatus.NOBODY_ANSWERED
    # Sums over roles are compared, not the mean, so that no rounding decides the status.
    on_none = group.sums[-1]
    if table.frame and table.frame.ill_posed and on_none >= limits.ill_posed_from * group.roles:
        # An ill-posed question needs both the frame check and forecasts that put points on `none`.
        return OutcomeStatus.ILL_POSED
    # A test that is worth its cost comes before any verdict on the margin: it could change the leader.
    if any(crux.best >= table.terms.tau for crux in unsettled):
        return OutcomeStatus.RUN_THIS_FIRST
    if group.margin < limits.margin_at_least:
        return OutcomeStatus.YOUR_CALL
    return OutcomeStatus.DECIDED


def without_each(table: ForecastTable) -> dict[str, WithoutRole]:
    """Compute the end without each role of the group: its forecast, proposals and numbers left out."""
    # Roles that left the group are not tried: without them nothing would change.
    whole = standing_of(table)
    return {role: _without(role, table, whole) for role in whole.forecasts}


def _without(role: str, table: ForecastTable, whole: ForecastStanding) -> WithoutRole:
    def others(numbers_by_role: Mapping[str, Numbers]) -> dict[str, Numbers]:
        return {name: numbers for name, numbers in numbers_by_role.items() if name != role}

    end = standing_of(
        table._replace(
            forecasts={name: points for name, points in table.forecasts.items() if name != role},
            cruxes=[
                crux._replace(proposed=others(crux.proposed), sealed=others(crux.sealed))
                for crux in table.cruxes
            ],
        )
    )
    return WithoutRole(end.leader, (end.leader, end.status) != (whole.leader, whole.status))


def short_way(
    answers: Mapping[str, Forecast],
    asked: int,
    proposals: Iterable[tuple[HowTested, Numbers]],
    frame: FrameCheck | None,
    terms: ForecastTerms,
    at_least: int,
) -> bool:
    """Return whether first answers end the run before any test.

    Everyone asked has answered with the same leader at `at_least` points or more, the frame check came and has no
    objection, and no proposal is worth τ at the best quality by its proposer's own numbers.
    """
    # The short way skips all tests, so it needs every answer and a clean frame check.
    if frame is None or frame.objection or frame.ill_posed or not answers or len(answers) < asked:
        return False
    if len({leader_of(forecast) for forecast in answers.values()}) > 1:
        return False
    if any(max(forecast) < at_least for forecast in answers.values()):
        return False
    best = terms.parameters.best
    return all(value_of_test(numbers, best[how]) < terms.tau for how, numbers in proposals)
