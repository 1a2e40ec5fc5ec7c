"""Report of a table: forecasts, cruxes and status as `moot signals --json` prints them.

Figures are rounded here and nowhere else: two decimals, half-even, from exact values.

A table may also come from a file (JSON), so that the arithmetic can be checked by hand:

    {"options": ["O-1", "O-2"], "stakes": "normal", "experiments": true, "documents": true,
     "frame": {"ill_posed": false, "objection": false},
     "forecasts": {"action": {"O-1": 60, "O-2": 40}},
     "cruxes": [{"claim": "C-1-1", "how": "execution",
                 "proposed": {"action": {"probability": 50, "if_true": {"O-1": 90, "O-2": 10},
                                         "if_false": {"O-1": 30, "O-2": 70}}},
                 "numbers": {"action": {"probability": 50, "if_true": …, "if_false": …}},
                 "verdicts": [{"result": "holds", "level": "reproduced"}]}]}

Options that a forecast does not name have 0 points; `none` is always the last option. `proposed` are the numbers that a
crux was proposed with, `numbers` those that roles gave before its test, `verdicts` its results in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final

import msgspec

from detectors.forecasts.arithmetic import WHOLE, Forecast, GroupForecast, Numbers, group_forecast, rounded
from detectors.forecasts.standing import (
    Crux,
    ForecastStanding,
    ForecastTable,
    FrameCheck,
    UnseenWays,
    Verdict,
    ranked,
    standing_of,
    without_each,
)
from detectors.parameters import ForecastTerms, Level, Stakes, forecast_parameters
from detectors.report import EndWithout
from ledger.events.envelope import HowTested, TestResult
from ledger.plain_json import NotJson, decoded
from ledger.result import Result
from roles.outcome_status import OutcomeStatus


class CruxReport(Result, frozen=True):
    """A crux with its words.

    `probability`: the proposers' mean, in percent. `value`: of a test, in points, now while it is not settled;
    `value_here`: of the test that this run can make, null where it can make none. `result` and `level` are null
    while it is not settled; `disagree`: two programs were run for it and came out differently.
    """

    claim: str
    text: str
    how: HowTested
    kept: bool
    probability: float | None
    value: float | None
    value_here: float | None
    result: TestResult | None
    level: Level | None
    disagree: bool


class ForecastReport(Result, frozen=True):
    """Forecasts and cruxes of a run. Points are of 100; `before` is that of the same roles before any verdict."""

    run: str | None
    status: OutcomeStatus
    options: dict[str, str]
    before: dict[str, float]
    group: dict[str, float]
    roles: dict[str, dict[str, int]]
    leader: str | None
    margin: float | None
    tau: float
    cruxes: list[CruxReport]
    without: dict[str, EndWithout]
    unseen: UnseenWays | None


def report_of(
    table: ForecastTable,
    options: Sequence[str],
    *,
    run: str | None = None,
    texts: Mapping[str, str] | None = None,
    kept: Sequence[str] = (),
    disagree: Sequence[str] = (),
    unseen: UnseenWays | None = None,
) -> ForecastReport:
    """Report a table; `texts` are the words of options and claims, `kept` the cruxes that the run kept."""
    words, standing = texts or {}, standing_of(table)
    # A verdict may leave roles out of the group: what it moved is the forecast of those that stay.
    before = (
        group_forecast(table.forecasts[role] for role in standing.forecasts) if standing.forecasts else None
    )
    return ForecastReport(
        run=run,
        status=standing.status,
        options={option: words.get(option, "") for option in options},
        before=_points(before, options),
        group=_points(standing.group, options),
        roles={
            role: dict(zip(options, forecast, strict=True)) for role, forecast in standing.forecasts.items()
        },
        leader=None if standing.leader is None else options[standing.leader],
        margin=None if standing.margin is None else rounded(standing.margin),
        tau=rounded(table.terms.tau),
        cruxes=[
            _crux(crux, standing, words.get(crux.claim, ""), crux.claim in kept, crux.claim in disagree)
            for crux in ranked(table.cruxes, table.terms.parameters)
        ],
        without={
            role: EndWithout(None if end.leader is None else options[end.leader], end.changes, end.even)
            for role, end in without_each(table).items()
        },
        unseen=unseen,
    )


def _points(mean: GroupForecast | None, options: Sequence[str]) -> dict[str, float]:
    return {} if mean is None else {option: rounded(mean.points(n)) for n, option in enumerate(options)}


def _crux(crux: Crux, standing: ForecastStanding, text: str, kept: bool, disagree: bool) -> CruxReport:
    # A settled crux has no value any more: its test was made.
    now = next((open_crux for open_crux in standing.unsettled if open_crux.claim == crux.claim), None)
    verdict, mean = crux.verdict, crux.mean
    return CruxReport(
        claim=crux.claim,
        text=text,
        how=crux.how,
        kept=kept,
        probability=None if mean is None else rounded(Fraction(mean.probability, mean.roles)),
        value=None if now is None else rounded(now.best),
        value_here=None if now is None or now.here is None else rounded(now.here),
        result=None if verdict is None else verdict.result,
        level=None if verdict is None else verdict.level,
        disagree=disagree,
    )


NONE: Final = "none"


class WrongTable(ValueError):
    """Table that cannot be read: where, what is wrong, and what to write instead."""

    def __init__(self, where: str, wrong: str, fix: str) -> None:
        self.where: Final = where
        self.wrong: Final = wrong
        self.fix: Final = fix
        super().__init__(f"{where}: {wrong}")


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Part of the file. It is closed, so that a misspelled key is an error."""


class _Numbers(_Part, frozen=True, kw_only=True):
    probability: int
    if_true: dict[str, int]
    if_false: dict[str, int]


class _Crux(_Part, frozen=True, kw_only=True):
    claim: str
    how: HowTested
    proposed: dict[str, _Numbers] = {}
    numbers: dict[str, _Numbers] = {}
    verdicts: tuple[Verdict, ...] = ()


class _File(_Part, frozen=True, kw_only=True):
    options: list[str]
    forecasts: dict[str, dict[str, int]]
    cruxes: list[_Crux] = []
    stakes: Stakes = "normal"
    experiments: bool = False
    documents: bool = False
    frame: FrameCheck | None = None


def read_table(content: bytes) -> tuple[tuple[str, ...], ForecastTable]:
    """Return the options, `none` last, and the table in a file's bytes. Raises `WrongTable`."""
    try:
        file = decoded(content, _File)
    except NotJson as error:
        raise WrongTable("table", str(error), "see docs/crux.md for its keys") from None
    # `none` goes last whatever the file says, because ties must never favor it.
    options = (*(option for option in file.options if option != NONE), NONE)
    if len(options) < 2 or len(set(options)) < len(options):
        raise WrongTable("options", "no option, or one of them twice", "name at least one option, each once")
    claims = [crux.claim for crux in file.cruxes]
    if len(set(claims)) < len(claims):
        raise WrongTable("cruxes", "the same claim twice", "name each crux once")
    parameters = forecast_parameters()
    return options, ForecastTable(
        forecasts={
            role: _forecast(f"forecasts.{role}", points, options) for role, points in file.forecasts.items()
        },
        cruxes=[
            Crux(
                crux.claim,
                crux.how,
                _numbers(f"cruxes[{n}].proposed", crux.proposed, options),
                _numbers(f"cruxes[{n}].numbers", crux.numbers, options),
                crux.verdicts,
            )
            for n, crux in enumerate(file.cruxes)
        ],
        terms=ForecastTerms(parameters.tau[file.stakes], file.experiments, file.documents, parameters),
        frame=file.frame,
    )


def _numbers(where: str, by_role: Mapping[str, _Numbers], options: Sequence[str]) -> dict[str, Numbers]:
    for role, numbers in by_role.items():
        # 0 and 100 would make one result impossible, and Bayes would divide by zero when it occurs.
        if not 1 <= numbers.probability <= WHOLE - 1:
            raise WrongTable(f"{where}.{role}.probability", f"{numbers.probability}", "write 1 to 99")
    return {
        role: Numbers(
            numbers.probability,
            _forecast(f"{where}.{role}.if_true", numbers.if_true, options),
            _forecast(f"{where}.{role}.if_false", numbers.if_false, options),
        )
        for role, numbers in by_role.items()
    }


def _forecast(where: str, points: Mapping[str, int], options: Sequence[str]) -> Forecast:
    unknown = [option for option in points if option not in options]
    if unknown:
        raise WrongTable(where, f"{unknown[0]!r} is no option", f"use {', '.join(options)}")
    # Negative points could still sum to 100, so both are checked.
    if sum(points.values()) != WHOLE or min(points.values(), default=0) < 0:
        raise WrongTable(
            where, f"{sum(points.values())} points in all", "write points of 0 or more that sum to 100"
        )
    return tuple(points.get(option, 0) for option in options)
