"""The thresholds of the detectors, read from the TOML files beside this one; each is named by its hash."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

import msgspec

SignalProfile = Literal["script", "text", "calibrated"]
PROFILES: Final[tuple[SignalProfile, ...]] = ("script", "text", "calibrated")
"""Profiles whose parameters are installed."""
DEFAULT_PROFILE: Final[SignalProfile] = "calibrated"
"""The profile that new runs and imports are opened with; a run keeps the one that it was opened with."""
DIRECTORY: Final = Path(__file__).parent


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a parameter file: closed, so that a misspelt threshold is an error."""


class Stop(_Table, frozen=True, kw_only=True):
    """How many signals make a stop (SD-60)."""

    satisfied_at_least: int


class ClaimTestingSlows(_Table, frozen=True, kw_only=True):
    """S1: the last windows, against a share of the peak (SD-61)."""

    rounds_at_least: int
    window_rounds: int
    windows_below: int
    share_of_peak: str


class DisagreementPersists(_Table, frozen=True, kw_only=True):
    """S2: the slope of disagreement per round (SD-63)."""

    rounds_at_least: int
    slope_at_least: str


class DisagreementPersistsToTheEnd(DisagreementPersists, frozen=True, kw_only=True):
    """S2 of the text: the last rounds alone must keep the trend (SD-63)."""

    last_rounds: int


class EveryRoleLed(_Table, frozen=True, kw_only=True):
    """S3 of the script: names that are nobody's (SD-66)."""

    not_a_lead: tuple[str, ...]


class LeadsAreSpread(_Table, frozen=True, kw_only=True):
    """S3 of the text: entropy of the leads, as a share of the greatest possible (SD-66)."""

    entropy_share: str


class RolesWereStressed(_Table, frozen=True, kw_only=True):
    """S4: how many roles may stay untested (SD-67)."""

    roles_spared: int


class RolesOrOneWereStressed(RolesWereStressed, frozen=True, kw_only=True):
    """S4 of the text: or one role whose absence says most (SD-67)."""

    or_role: str


class FewClaimsPending(_Table, frozen=True, kw_only=True):
    """S6: the share of claims that nobody tested (SD-70)."""

    share_below: str


class SlopeAlarmAt(_Table, frozen=True, kw_only=True):
    """When fading disagreement raises the alarm in mid-run (SD-22)."""

    rounds_at_least: int
    readings_running: int


class ScriptParameters(_Table, frozen=True, kw_only=True):
    """`script.toml`."""

    stop: Stop
    claim_testing_slows: ClaimTestingSlows
    disagreement_persists: DisagreementPersists
    every_role_led: EveryRoleLed
    roles_were_stressed: RolesWereStressed
    few_claims_pending: FewClaimsPending


class TextParameters(_Table, frozen=True, kw_only=True):
    """`text.toml`."""

    stop: Stop
    claim_testing_slows: ClaimTestingSlows
    disagreement_persists: DisagreementPersistsToTheEnd
    every_role_led: LeadsAreSpread
    roles_were_stressed: RolesOrOneWereStressed
    few_claims_pending: FewClaimsPending
    slope_alarm: SlopeAlarmAt


def params_hash(profile: SignalProfile) -> str:
    """SHA-256 of the profile's parameter file: the `params` of `signals`, `alarm` and `stop` (FORMAT 2)."""
    return sha256(params_bytes(profile)).hexdigest()


@cache
def script_parameters() -> ScriptParameters:
    """The thresholds of the profile `script`."""
    return msgspec.toml.decode(params_bytes("script"), type=ScriptParameters)


@cache
def text_parameters() -> TextParameters:
    """The thresholds of the profile `text`."""
    return msgspec.toml.decode(params_bytes("text"), type=TextParameters)


@cache
def params_bytes(profile: SignalProfile) -> bytes:
    """The profile's parameter file. A calibrated run keeps it as a blob, so that its verdicts can be had again."""
    return (DIRECTORY / f"{profile}.toml").read_bytes()
