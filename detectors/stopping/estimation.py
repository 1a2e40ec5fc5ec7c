"""Tolerated rates from runs that somebody calls healthy: what nine healthy runs in ten stay below.

For a share the population of runs has a mean and a spread beyond what chance does to so few units (method of moments);
tolerated is the mean and so many of these spreads that nine populations in ten have nine runs in ten below it. With few
runs that is many: 2.6 with five, 1.6 with thirty, 1.28 with all there are. The worse rates keep their distance from it
in log-odds. For a count the same is done with means, and the multiples stay; of the gates, the share of untested claims
is estimated in this way. What no run can tell keeps its installed number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean
from typing import Final

import msgspec

from detectors.observations import deliberating_roles, untested
from detectors.stopping.betting import moved
from detectors.stopping.parameters import ROLES, GateParameters, Share
from detectors.stopping.rounds import RoundUnits, count_rounds
from ledger.result import Result
from ledger.state.state import State

RUNS_AT_LEAST: Final = 30
"""With fewer a file is written with a warning."""
RUNS_FEWEST: Final = 5
"""With fewer nothing is written: of four runs the factor alone is above 3, and the spread is hardly known."""
NINE_IN_TEN: Final = 1.2816
"""Quantile of the normal distribution, for the share of runs and for how sure that share is."""
LOWEST, HIGHEST = 0.01, 0.9
"""Between these a tolerated share stays: a bet on 0 or 1 would be decided by one unit."""

Rate = tuple[float, float]
"""(bad, all) of one run; for a count (number, exposure)."""


class RateEstimate(Result, frozen=True):
    """One tolerated rate: as installed, as estimated from `runs` runs with `units` units in all."""

    name: str
    installed: float
    estimated: float
    runs: int
    units: int


class Calibration(Result, frozen=True):
    """`params` is the hash that verdicts with this file carry; `alarmed` runs are so by the installed thresholds."""

    out: str
    params: str
    runs: list[str]
    alarmed: list[str]
    warnings: list[str]
    rates: list[RateEstimate]


class Calibrated(msgspec.Struct, frozen=True):
    """New thresholds, and what each rests on."""

    parameters: GateParameters
    estimates: tuple[RateEstimate, ...]


def estimated(states: Sequence[State], base: GateParameters) -> Calibrated:
    """Thresholds for runs like these."""
    runs = [(state, count_rounds(state, base.bypass.references_at_least)) for state in states]
    found: list[RateEstimate] = []
    changed: dict[str, msgspec.Struct] = {}
    for name, units in _SHARES:
        share: Share = getattr(base, name)
        p0 = _share([units(rounds) for _, rounds in runs])
        found.append(_estimate(name, share.p0, p0, [units(rounds) for _, rounds in runs]))
        if p0 is not None:
            changed[name] = msgspec.structs.replace(share, p0=p0, grid=_moved(share.grid, share.p0, p0))
    for name, counts in _COUNTS:
        mean = _mean([counts(rounds) for _, rounds in runs])
        installed = getattr(base, name).mean
        found.append(_estimate(name, installed, mean, [counts(rounds) for _, rounds in runs]))
        if mean is not None:
            changed[name] = msgspec.structs.replace(getattr(base, name), mean=mean)
    above, rates = _above(runs)
    found.append(_estimate("domination_cited", base.domination_cited.above_share, above, rates))
    if above is not None:
        rule, even = base.domination_cited, 1 / ROLES
        grid = _moved(rule.grid, even + rule.above_share, even + above)
        changed["domination_cited"] = msgspec.structs.replace(rule, above_share=above, grid=grid)
    waiting = [(float(len(untested(state))), float(len(state.claims))) for state, _ in runs]
    pending = _share(waiting)
    found.append(_estimate("untested", base.untested.share_at_most, pending, waiting))
    if pending is not None:
        changed["untested"] = msgspec.structs.replace(base.untested, share_at_most=pending)
    return Calibrated(msgspec.structs.replace(base, **changed), tuple(found))


def tolerance_factor(runs: int) -> float:
    """Spreads above the mean below which nine runs in ten lie, in nine samples of so many runs out of ten (runs ≥ 2).

    One-sided, of a normal population, by Natrella's approximation: within 0.2 of the exact factor from five runs on.
    """
    square = NINE_IN_TEN * NINE_IN_TEN
    a = 1 - square / (2 * (runs - 1))
    b = square - square / runs
    return (NINE_IN_TEN + math.sqrt(square - a * b)) / a


def upper(rates: Iterable[Rate], noise: Callable[[float, float], float]) -> float | None:
    """The mean over runs and `tolerance_factor` spreads; `noise(mean, all)` is the variance that chance gives a run."""
    told = [(bad / units, units) for bad, units in rates if units > 0]
    if not told:
        return None
    mean = math.fsum(rate * units for rate, units in told) / math.fsum(units for _, units in told)
    if len(told) < 2:
        return mean
    seen = math.fsum((rate - mean) ** 2 for rate, _ in told) / (len(told) - 1)
    chance = fmean(noise(mean, units) for _, units in told)
    return mean + tolerance_factor(len(told)) * math.sqrt(max(0.0, seen - chance))


def _share(rates: Sequence[Rate]) -> float | None:
    found = upper(rates, lambda mean, units: mean * (1 - mean) / units)
    return None if found is None else round(min(HIGHEST, max(LOWEST, found)), 4)


def _mean(rates: Sequence[Rate]) -> float | None:
    found = upper(rates, lambda mean, units: mean / units)
    return None if found is None or found <= 0 else max(LOWEST, round(found, 4))


def _moved(grid: Sequence[float], p0: float, new: float) -> tuple[float, ...]:
    """Worse rates at the same distance from another tolerated one, as many digits as are written."""
    return tuple(round(p1, 4) for p1 in moved(grid, p0, new))


def _of(units: Callable[[RoundUnits], tuple[int, int]]) -> Callable[[Sequence[RoundUnits]], Rate]:
    def summed(rounds: Sequence[RoundUnits]) -> Rate:
        counts = [units(each) for each in rounds]
        return float(sum(bad for bad, _ in counts)), float(sum(all_ for _, all_ in counts))

    return summed


def _unanchored(rounds: Sequence[RoundUnits]) -> Rate:
    """A run that names no goal anywhere never recorded them."""
    bad, units = _of(lambda each: each.unanchored.counts)(rounds)
    return (bad, units) if bad < units else (0.0, 0.0)


def _inflation(rounds: Sequence[RoundUnits]) -> Rate:
    return float(sum(len(each.arrivals) for each in rounds)), float(sum(len(each.present) for each in rounds))


_SHARES: Final[tuple[tuple[str, Callable[[Sequence[RoundUnits]], Rate]], ...]] = (
    ("giving_in", _of(lambda each: each.giving_in.counts)),
    ("only_robust", _of(lambda each: each.robust.counts)),
    ("pro_forma_broken", _of(lambda each: each.pro_forma.counts)),
    ("drift_unanchored", _unanchored),
    ("vagueness", _of(lambda each: each.vague.counts)),
    ("bypass", _of(lambda each: each.shallow.counts)),
)
_COUNTS: Final[tuple[tuple[str, Callable[[Sequence[RoundUnits]], Rate]], ...]] = (("inflation", _inflation),)


def _above(runs: Sequence[tuple[State, tuple[RoundUnits, ...]]]) -> tuple[float | None, list[Rate]]:
    """FM-4: how far the most cited role of a run lies above an even share."""
    rates: list[Rate] = []
    excess: list[Rate] = []
    for state, rounds in runs:
        cited = [role for each in rounds for role, _ in each.cited_claims]
        if cited:
            top = max(cited.count(role) for role in deliberating_roles(state))
            rates.append((float(top), float(len(cited))))
            excess.append((max(0.0, top - len(cited) / len(deliberating_roles(state))), float(len(cited))))
    found = upper(excess, lambda mean, units: mean * (1 - mean) / units)
    return (None if found is None else round(min(0.4, max(0.02, found)), 4)), rates


def _estimate(name: str, installed: float, found: float | None, rates: Sequence[Rate]) -> RateEstimate:
    told = [units for _, units in rates if units > 0]
    return RateEstimate(
        name=name,
        installed=installed,
        estimated=installed if found is None else found,
        runs=len(told),
        units=int(math.fsum(told)),
    )
