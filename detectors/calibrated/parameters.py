"""The thresholds of the profile `calibrated`, read from `detectors/parameters/calibrated.toml`."""

from __future__ import annotations

from functools import cache

import msgspec

from detectors.parameters import params_bytes, params_hash
from ledger.book import Blobs
from ledger.failures import BlobMissing
from ledger.named_blobs import own_parameters
from ledger.state import State


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


class Starvation(Mean, frozen=True, kw_only=True):
    """FM-5: a round that raises so many times the tolerated claims is not starving, whatever it leaves out."""

    claims_at_most_times: float


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


class Judges(_Table, frozen=True, kw_only=True):
    """How far verdicts that were given twice must agree, as alphas: when to warn, and when to refuse READY."""

    repeats_at_least: int
    alpha_warned_below: float
    alpha_refused_below: float


class ClaimCap(_Table, frozen=True, kw_only=True):
    """Claims that an artifact may propose while a cap is in force."""

    claims_at_most: int


class CalibratedParameters(_Table, frozen=True, kw_only=True):
    """`calibrated.toml`."""

    version: int
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
    starvation: Starvation
    bypass: Bypass
    stress_avoidance: StressAvoidance
    overrun: Overrun
    ready: Ready
    judges: Judges
    claim_cap: ClaimCap


@cache
def calibrated_parameters() -> CalibratedParameters:
    """The installed thresholds."""
    return read_parameters(params_bytes("calibrated"))


def read_parameters(content: bytes) -> CalibratedParameters:
    """A parameter file. Raises `msgspec.DecodeError` when it is none."""
    return msgspec.toml.decode(content, type=CalibratedParameters)


def parameters_of(state: State, blobs: Blobs | None) -> CalibratedParameters:
    """The thresholds that a run was opened with, from its own blob where the installed ones are others; those for a run
    that has none of its own. Raises `BlobMissing`: other thresholds would give other verdicts."""
    own = own_parameters(state.opened) if state.opened is not None else None
    if own is None or blobs is None or own == params_hash("calibrated"):
        return calibrated_parameters()
    kept = blobs.read(own)
    if kept is None:
        raise BlobMissing(f"the file of the run's own parameters ({own[:12]}…)")
    return read_parameters(kept)
