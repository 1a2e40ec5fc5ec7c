"""How a signal is put into the report: its name, its numbers as decimal strings, its evidence cut to size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final

from detectors.decimals import decimal_string
from detectors.report import EVIDENCE_MAX, Signal, SignalId

Number = int | float | Fraction

NAMES: Final[dict[SignalId, str]] = {
    "S1": "Claim testing slows down",
    "S2": "Disagreement persists",
    "S3": "Every role has led",
    "S4": "Roles were stress-tested",
    "S5": "Drift checks pass",
    "S6": "Few claims are untested",
}


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
    """One signal for the report; `name` says what holds where that is not what the signal is called by."""
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
    """A number for a sentence: two places."""
    return decimal_string(number, 2)


def counted(number: int, noun: str) -> str:
    """`1 round`, `4 rounds`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def listed(words: Sequence[str]) -> str:
    """`a, b, c`, or `nobody`."""
    return ", ".join(words) or "nobody"
