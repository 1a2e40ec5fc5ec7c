"""Table of numbers in a file (JSON): the same arithmetic as for a run, so that it can be checked by hand.

    {"options": ["O-1", "O-2"], "stakes": "normal", "experiments": true, "documents": true,
     "frame": {"ill_posed": false, "objection": false},
     "forecasts": {"action": {"O-1": 60, "O-2": 40}},
     "cruxes": [{"claim": "C-1-1", "how": "execution",
                 "proposed": {"action": {"probability": 50, "if_true": {"O-1": 90, "O-2": 10},
                                         "if_false": {"O-1": 30, "O-2": 70}}},
                 "numbers": {"action": {"probability": 50, "if_true": …, "if_false": …}},
                 "verdicts": [{"result": "holds", "level": "reproduced"}]}]}

Options that a forecast does not name have 0 points; `none` is always the last option. `proposed` are the numbers that
a
crux was proposed with, `numbers` those that roles gave before its test, `verdicts` its results in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from detectors.forecasts.cruxes import Crux, Verdict
from detectors.forecasts.points import WHOLE, Forecast
from detectors.forecasts.standing import ForecastTable, FrameCheck
from detectors.forecasts.value_of_tests import Numbers
from detectors.parameters import ForecastTerms, Level, Stakes, forecast_parameters
from ledger.events.values import HowTested, TestResult

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


class _Verdict(_Part, frozen=True, kw_only=True):
    result: TestResult
    level: Level


class _Crux(_Part, frozen=True, kw_only=True):
    claim: str
    how: Literal["execution", "calculation", "document", "person"]
    proposed: dict[str, _Numbers] = {}
    numbers: dict[str, _Numbers] = {}
    verdicts: list[_Verdict] = []


class _Frame(_Part, frozen=True, kw_only=True):
    ill_posed: bool = False
    objection: bool = False


class _File(_Part, frozen=True, kw_only=True):
    options: list[str]
    forecasts: dict[str, dict[str, int]]
    cruxes: list[_Crux] = []
    stakes: Stakes = "normal"
    experiments: bool = False
    documents: bool = False
    frame: _Frame | None = None


def read_table(content: bytes) -> tuple[tuple[str, ...], ForecastTable]:
    """Return the options, `none` last, and the table in a file's bytes. Raises `WrongTable`."""
    try:
        file = msgspec.json.decode(content, type=_File)
    except msgspec.DecodeError as error:
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
        cruxes=[_crux(f"cruxes[{n}]", crux, options) for n, crux in enumerate(file.cruxes)],
        terms=ForecastTerms(parameters.tau[file.stakes], file.experiments, file.documents, parameters),
        frame=None if file.frame is None else FrameCheck(file.frame.ill_posed, file.frame.objection),
    )


def _crux(where: str, crux: _Crux, options: Sequence[str]) -> Crux:
    how: HowTested = crux.how
    return Crux(
        crux.claim,
        how,
        _numbers(f"{where}.proposed", crux.proposed, options),
        _numbers(f"{where}.numbers", crux.numbers, options),
        tuple(Verdict(verdict.result == "holds", verdict.level) for verdict in crux.verdicts),
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
