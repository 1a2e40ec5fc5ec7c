"""Two runs side by side, their stop signals included: what `moot diff` shows."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from detectors.report import Signal, SignalReport
from ledger.compare.diff import LedgerDiff, diff
from ledger.events import Decision
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import final_in_force


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


class FinalAnswer(Result, frozen=True):
    """The first final decision in force; `about` are the options that it is about, in the asker's words.

    `chosen`: the one option that a rule chose, null where a role wrote what it decided, or nothing was chosen.
    """

    decision: str
    text: str
    about: list[str]
    chosen: str | None


class Answers(Result, frozen=True):
    """What each run answers, null while it does not. `same`: the words are the same, or a rule chose the same option in
    both; words that differ may still mean the same, and are shown. Null when one has no answer."""

    same: bool | None
    a: FinalAnswer | None
    b: FinalAnswer | None


class RunDiff(LedgerDiff, frozen=True):
    """What differs between two runs, as the command prints it with `--json`."""

    signals: SignalDifferences
    answers: Answers


def compare(a: Book, b: Book, names: tuple[str, str], *, signals: Callable[[Book], SignalReport]) -> RunDiff:
    """Compare two runs. `signals` reads a book in the profile wanted, the same one for both."""
    ledgers = diff(a, b, names)
    reports = (signals(a), signals(b))
    return RunDiff(**msgspec.structs.asdict(ledgers), signals=_signals(*reports), answers=_answers(a, b))


def _answers(a: Book, b: Book) -> Answers:
    one, other = _answer(a), _answer(b)
    if one is None or other is None:
        return Answers(same=None, a=one, b=other)
    chosen = one.chosen is not None and one.chosen == other.chosen
    return Answers(same=chosen or one.text.split() == other.text.split(), a=one, b=other)


def _answer(book: Book) -> FinalAnswer | None:
    for identity in final_in_force(book.state)[:1]:
        event = book.by_id[identity]
        assert isinstance(event, Decision), f"{identity} is no decision"
        options = {option.id: option.text for option in book.state.opening.options}
        about = [options.get(one, one) for one in event.about]
        by_rule = event.made_by == "rule" and len(about) == 1
        return FinalAnswer(identity, event.text, about, about[0] if by_rule else None)
    return None


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
