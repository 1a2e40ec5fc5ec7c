"""What `signals` says: the report and its parts, as the command prints them with `--json`.

Lists, not tuples, so that `model_dump()` equals the JSON that it is published as.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from ledger.events.decisions import Advice, FailureMode, Profile

SignalId = Literal["S1", "S2", "S3", "S4", "S5", "S6"]
AlarmVerdict = Literal["CLEAR", "WATCH", "ALARM", "INSUFFICIENT"]

EVIDENCE_MAX: Final = 40
"""Evidence of one signal, in ids: enough to look at, and a recorded verdict stays a short line."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Quorum(_Part):
    """Steps that were asked of a seat and are settled, and those really answered. 0 of 0 in an import."""

    declared: int
    actual: int


class Signal(_Part):
    """One stop criterion: verdict, the number behind it, the number it is held against, and where to look.

    `value` and `threshold` are decimal strings, null when the ledger does not hold enough for the number.
    `evidence` holds ids (`V-6-2`, `K-3`) and, for events without one, `@<seq>`.
    """

    id: SignalId
    name: str
    satisfied: bool
    value: str | None
    threshold: str | None
    detail: str
    evidence: list[str]


class Gate(_Part):
    """One condition of readiness (profile `calibrated`)."""

    name: str
    ok: bool
    value: str | None
    limit: str | None


class AlarmReading(_Part):
    """A failure mode as it reads now."""

    id: FailureMode
    verdict: AlarmVerdict
    e_value: str | None
    onset_round: int | None
    detail: str
    evidence: list[str]


class SignalReport(_Part):
    """The six signals of a run as they read after event `at` (−1: nothing yet)."""

    run: str
    profile: Profile
    at: int
    round: int
    satisfied: int
    of: int
    stop: bool
    advice: Advice
    quorum: Quorum
    ready: bool
    gates: list[Gate]
    signals: list[Signal]
    alarms: list[AlarmReading]
