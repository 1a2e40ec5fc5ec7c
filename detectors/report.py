"""Report of `signals` and its parts, as the command prints them with `--json`, and helpers for its readings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final, Literal

from ledger.events.decisions import Advice
from ledger.events.envelope import FailureMode
from ledger.events.run import Profile
from ledger.result import Result

SignalId = Literal["S1", "S2", "S3", "S4", "S5", "S6"]
Number = int | float | Fraction
AlarmVerdict = Literal["CLEAR", "WATCH", "ALARM", "INSUFFICIENT"]

EVIDENCE_MAX: Final = 40
"""Evidence of one signal, in ids: enough to look at, and a recorded verdict stays a short line."""

NAMES: Final[dict[SignalId, str]] = {
    "S1": "Claim testing slows down",
    "S2": "Disagreement persists",
    "S3": "Every role has led",
    "S4": "Roles were stress-tested",
    "S5": "Drift checks pass",
    "S6": "Few claims are untested",
}
SIGNAL_DIGITS: Final = 6


class StepQuorum(Result, frozen=True):
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


class GateReading(Result, frozen=True):
    """One gate: its verdict, the value behind it, the limit, and what it found in words. A notice does not decide."""

    name: str
    ok: bool
    value: str | None
    limit: str | None
    text: str = ""
    decides: bool = True


class AlarmReading(Result, frozen=True):
    """A failure mode as it reads now. `is_open`: an alarm that neither a person nor the rounds since have closed.

    `p_anytime` is 1 over the greatest e-value so far, at most 1: by chance alone, at the tolerated rate, the evidence
    would ever have come this far no more often than that. Null where nothing is left to chance.
    """

    id: FailureMode
    verdict: AlarmVerdict
    is_open: bool
    e_value: str | None
    p_anytime: str | None
    onset_round: int | None
    detail: str
    evidence: list[str]


class EndWithout(Result, frozen=True):
    """The end without a role: who would lead, null where no role is left; whether leader or outcome would differ.

    `even`: the first two options would have the same points, so that only their order tells who leads.
    """

    leader: str | None
    changes: bool
    even: bool = False


StopVerdict = Literal["stop", "wait", "go_on", "ended"]


class SignalReport(Result, frozen=True):
    """The stop checks of a run as they read after event `at` (−1: nothing yet). `headline` is the verdict in words.

    `verdict` is `wait` where a person must answer `waits_for` before the outcome can stand, and `ended` for a run that
    is finished and was not ready. `gates` is empty in the profile `published`, which counts the six `signals`.
    """

    run: str
    profile: Profile
    at: int
    round: int
    verdict: StopVerdict
    headline: str
    waits_for: list[str]
    satisfied: int
    of: int
    stop: bool
    advice: Advice
    quorum: StepQuorum
    ready: bool
    gates: list[GateReading]
    signals: list[Signal]
    alarms: list[AlarmReading]

    @property
    def deciding(self) -> list[GateReading]:
        """Return the gates that decide; the others are notices."""
        return [gate for gate in self.gates if gate.decides]

    @property
    def failing(self) -> list[GateReading]:
        """Return the gates that decide and do not hold."""
        return [gate for gate in self.deciding if not gate.ok]


def reading(
    identity: SignalId,
    satisfied: bool,
    detail: str,
    value: Number | None = None,
    threshold: Number | None = None,
    evidence: Iterable[str] = (),
    *,
    name: str | None = None,
) -> Signal:
    """Return one signal for the report; `name` says what holds where the signal's own name would be wrong."""
    return Signal(
        id=identity,
        name=name or NAMES[identity],
        satisfied=satisfied,
        value=None if value is None else decimal_string(value),
        threshold=None if threshold is None else decimal_string(threshold),
        detail=detail,
        evidence=list(islice(evidence, EVIDENCE_MAX)),
    )


def short(number: Number) -> str:
    """Return a number for a sentence: two places."""
    return decimal_string(number, 2)


def listed(words: Sequence[str]) -> str:
    """Return `a, b, c`; the word for an empty list where there is nothing."""
    return ", ".join(words) or "nobody"


def decimal_string(value: int | float | Fraction, digits: int = SIGNAL_DIGITS) -> str:
    """Return `value` rounded half-even to `digits` places, no trailing zeros, exponent or minus zero (FORMAT 1).

    A float is taken at its exact binary value, so the result depends on nothing but its bits.
    """
    # Whole units are formatted, so that no float formatting of a platform decides a digit.
    units = round(Fraction(value) * 10**digits)  # Fraction rounds half to even
    whole, rest = divmod(abs(units), 10**digits)
    places = f"{rest:0{digits}d}".rstrip("0") if digits else ""
    return f"{'-' if units < 0 else ''}{whole}{'.' if places else ''}{places}"
