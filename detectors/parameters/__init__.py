"""Thresholds of the detectors, read from the TOML files beside this one; each file is named by its hash."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

import msgspec

SignalProfile = Literal["gates", "published"]
PROFILES: Final[tuple[SignalProfile, ...]] = ("gates", "published")
"""Profiles whose parameters are installed."""
DEFAULT_PROFILE: Final[SignalProfile] = "gates"
"""The profile that new runs and imports are opened with."""
DIRECTORY: Final = Path(__file__).parent


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Table of a parameter file: closed, so that a misspelled threshold is an error."""


class Stop(_Table, frozen=True, kw_only=True):
    """Number of signals that make a stop (SD-60)."""

    satisfied_at_least: int


class ClaimTestingSlows(_Table, frozen=True, kw_only=True):
    """S1: the last windows, against a share of the peak (SD-61)."""

    rounds_at_least: int
    window_rounds: int
    windows_below: int
    share_of_peak: str


class DisagreementPersists(_Table, frozen=True, kw_only=True):
    """S2: the slope of disagreement per round; the last rounds alone must keep the trend (SD-63)."""

    rounds_at_least: int
    slope_at_least: str
    last_rounds: int


class LeadsAreSpread(_Table, frozen=True, kw_only=True):
    """S3: entropy of the leads, as a share of the greatest possible (SD-66)."""

    entropy_share: str


class RolesWereStressed(_Table, frozen=True, kw_only=True):
    """S4: how many roles may stay untested, or the one role whose absence says most (SD-67)."""

    roles_spared: int
    or_role: str


class FewClaimsPending(_Table, frozen=True, kw_only=True):
    """S6: the share of claims that were never tested (SD-70)."""

    share_below: str


class SlopeAlarmAt(_Table, frozen=True, kw_only=True):
    """Limits at which fading disagreement raises the alarm in mid-run (SD-22)."""

    rounds_at_least: int
    readings_running: int


class Overrun(_Table, frozen=True, kw_only=True):
    """FM-8: how many signals may hold at the end of the plan for it to count as overrun (SD-85)."""

    signals_at_most: int


class PublishedParameters(_Table, frozen=True, kw_only=True):
    """`published.toml`."""

    stop: Stop
    claim_testing_slows: ClaimTestingSlows
    disagreement_persists: DisagreementPersists
    every_role_led: LeadsAreSpread
    roles_were_stressed: RolesWereStressed
    few_claims_pending: FewClaimsPending
    slope_alarm: SlopeAlarmAt
    overrun: Overrun


def params_hash(profile: str) -> str:
    """Return SHA-256 of the profile's parameter file: the `params` of `signals`, `alarm` and `stop` (FORMAT 2)."""
    return sha256(params_bytes(profile)).hexdigest()


@cache
def published_parameters() -> PublishedParameters:
    """Return the thresholds of the profile `published`."""
    return msgspec.toml.decode(params_bytes("published"), type=PublishedParameters)


@cache
def params_bytes(profile: str) -> bytes:
    """Return the profile's parameter file. A run of `gates` keeps it as a blob, so its verdicts can be recomputed."""
    return (DIRECTORY / f"{profile}.toml").read_bytes()
