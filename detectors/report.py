"""What `signals` says: the report and its parts, as the command prints them with `--json`."""

from __future__ import annotations

from typing import Final, Literal

from ledger.events.decisions import Advice, FailureMode, Profile
from ledger.result import Result

SignalId = Literal["S1", "S2", "S3", "S4", "S5", "S6"]
AlarmVerdict = Literal["CLEAR", "WATCH", "ALARM", "INSUFFICIENT"]

EVIDENCE_MAX: Final = 40
"""Evidence of one signal, in ids: enough to look at, and a recorded verdict stays a short line."""


ANSWERED: Final = "; answered"
"""In the sentence of an alarm: a person or the rounds since have closed it."""


class Quorum(Result, frozen=True):
    """Steps that were asked of a seat and are settled, and those really answered. 0 of 0 in an import."""

    declared: int
    actual: int


class Signal(Result, frozen=True):
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


class Gate(Result, frozen=True):
    """One condition of readiness (profile `calibrated`)."""

    name: str
    ok: bool
    value: str | None
    limit: str | None


class AlarmReading(Result, frozen=True):
    """A failure mode as it reads now."""

    id: FailureMode
    verdict: AlarmVerdict
    e_value: str | None
    onset_round: int | None
    detail: str
    evidence: list[str]

    @property
    def is_open(self) -> bool:
        """An alarm that nobody has answered."""
        return self.verdict == "ALARM" and ANSWERED not in self.detail


class SignalReport(Result, frozen=True):
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
