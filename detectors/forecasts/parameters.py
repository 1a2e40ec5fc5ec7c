"""Numbers of `detectors/parameters/forecasts.toml`: starting values, not measurements."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from hashlib import sha256
from typing import Any, Literal, NamedTuple

import msgspec

from detectors.parameters import DIRECTORY
from ledger.events.values import HowTested

Stakes = Literal["high", "normal", "low"]
Level = Literal["measured", "reproduced", "ran", "calculated", "quoted"]
"""Level of a verdict, the highest first: measured by a person, run three times, run, calculated, quoted."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Table of the file. It is closed, so that a misspelled threshold is an error."""


class ForecastLimits(_Part, frozen=True, kw_only=True):
    """`[limits]`: points, but for the two counts."""

    margin_at_least: int
    ill_posed_from: int
    incoherent_above: int
    kept_at_most: int
    extra_programs_at_most: int


class ShortWays(_Part, frozen=True, kw_only=True):
    """`[short]`: points on one leader."""

    first_from: int
    all_from: int


class ForecastParameters(_Part, frozen=True, kw_only=True):
    """`forecasts.toml`. Qualities are percent of right verdicts, 50 to 100."""

    version: int
    quality: dict[Level, int]
    best: dict[HowTested, int]
    tau: dict[Stakes, Fraction]
    limits: ForecastLimits
    short: ShortWays


class ForecastTerms(NamedTuple):
    """Terms of a whole run: the worth of a test in points, and what can be tested here."""

    tau: Fraction
    experiments: bool
    documents: bool
    parameters: ForecastParameters

    def here(self, how: HowTested) -> int | None:
        """Return the quality of a test here, in percent; None where this run cannot test such a crux."""
        possible = {"execution": self.experiments, "calculation": True, "document": self.documents}
        return self.parameters.best[how] if possible.get(how) else None


def _exact(wanted: type, value: Any) -> Any:
    # A TOML float would already be rounded, so fractions are written as strings.
    if wanted is Fraction and isinstance(value, str):
        return Fraction(value)
    raise ValueError(f"{value!r}: write the number as a decimal in quotation marks")


@cache
def forecast_parameters() -> ForecastParameters:
    """Return the installed numbers."""
    return msgspec.toml.decode(parameter_bytes(), type=ForecastParameters, dec_hook=_exact)


@cache
def parameter_bytes() -> bytes:
    """Return the bytes of the file; their SHA-256 is the `params` of a run's verdicts."""
    return (DIRECTORY / "forecasts.toml").read_bytes()


@cache
def parameter_hash() -> str:
    """Return SHA-256 of the file, in hexadecimal."""
    return sha256(parameter_bytes()).hexdigest()
