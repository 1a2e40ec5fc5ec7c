"""Two runs side by side, their stop signals included: what `moot diff` shows."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from detectors.report import Signal, SignalReport
from ledger.compare.diff import LedgerDiff, diff
from ledger.result import Result
from ledger.state.book import Book


class SignalChange(Result, frozen=True):
    """A signal that reads differently: satisfied or not, and its number, in each run."""

    id: str
    name: str
    satisfied_a: bool
    satisfied_b: bool
    value_a: str | None
    value_b: str | None


class Panel(Result, frozen=True):
    """What the signals of one run come to."""

    profile: str
    satisfied: int
    of: int
    stop: bool
    advice: str


class SignalDifferences(Result, frozen=True):
    """The panels of both runs, and the signals that read differently."""

    a: Panel
    b: Panel
    changed: list[SignalChange]


class RunDiff(LedgerDiff, frozen=True):
    """What differs between two runs, as the command prints it with `--json`."""

    signals: SignalDifferences


def compare(a: Book, b: Book, names: tuple[str, str], *, signals: Callable[[Book], SignalReport]) -> RunDiff:
    """Compare two runs. `signals` reads a book in the profile wanted, the same one for both."""
    ledgers = diff(a, b, names)
    reports = (signals(a), signals(b))
    return RunDiff(**msgspec.structs.asdict(ledgers), signals=_signals(*reports))


def _signals(a: SignalReport, b: SignalReport) -> SignalDifferences:
    others = {signal.id: signal for signal in b.signals}
    changes = (_change(one, others[one.id]) for one in a.signals if one.id in others)
    return SignalDifferences(
        a=_panel(a), b=_panel(b), changed=[change for change in changes if change is not None]
    )


def _change(one: Signal, other: Signal) -> SignalChange | None:
    if (one.satisfied, one.value) == (other.satisfied, other.value):
        return None
    return SignalChange(
        id=one.id,
        name=one.name,
        satisfied_a=one.satisfied,
        satisfied_b=other.satisfied,
        value_a=one.value,
        value_b=other.value,
    )


def _panel(report: SignalReport) -> Panel:
    return Panel(
        profile=report.profile,
        satisfied=report.satisfied,
        of=report.of,
        stop=report.stop,
        advice=report.advice,
    )
