"""The thresholds of the profile `calibrated`, read from `detectors/parameters/calibrated.toml`."""

from __future__ import annotations

from functools import cache

import msgspec

from detectors.parameters import DIRECTORY


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file: closed, so that a misspelt threshold is an error."""


class Share(_Table, frozen=True, kw_only=True):
    """A tolerated share, worse ones, and the units without which nothing is said."""

    p0: float
    grid: tuple[float, ...]
    units_at_least: int = 0


class FailedDrift(_Table, frozen=True, kw_only=True):
    """The tolerated share of failed drift checks, and the one worse share."""

    p0: float
    p1: float


class AboveShare(_Table, frozen=True, kw_only=True):
    """A tolerated share of 1/N and so much more."""

    above_share: float
    grid: tuple[float, ...]
    citations_at_least: int = 0


class Mean(_Table, frozen=True, kw_only=True):
    """A tolerated mean, and multiples of it."""

    mean: float
    grid: tuple[float, ...]
    rounds_at_least: int = 0


class Bypass(Share, frozen=True, kw_only=True):
    """FM-6: and how many references to a numbered place are enough."""

    references_at_least: int


class StressAvoidance(_Table, frozen=True, kw_only=True):
    """FM-7 is deterministic."""

    made_up_within_rounds: int
    references_at_least: int


class Overrun(Share, frozen=True, kw_only=True):
    """FM-8: from which round on, and the count of signals that the reference rule allows past the plan."""

    from_round: int
    signals_at_most: int


class Ready(_Table, frozen=True, kw_only=True):
    """The readiness gates."""

    rounds_at_least: int
    pending_at_most: float
    yield_at_most: float
    window_rounds: int


class CalibratedParameters(_Table, frozen=True, kw_only=True):
    """`calibrated.toml`."""

    watch_at: str
    alarm_at: str
    giving_in: Share
    only_robust: Share
    pro_forma_broken: Share
    drift_unanchored: Share
    drift_failed: FailedDrift
    domination_cited: AboveShare
    domination_led: AboveShare
    inflation: Mean
    vagueness: Share
    starvation: Mean
    bypass: Bypass
    stress_avoidance: StressAvoidance
    overrun: Overrun
    ready: Ready


@cache
def calibrated_parameters() -> CalibratedParameters:
    """The installed thresholds."""
    content = (DIRECTORY / "calibrated.toml").read_bytes()
    return msgspec.toml.decode(content, type=CalibratedParameters)
