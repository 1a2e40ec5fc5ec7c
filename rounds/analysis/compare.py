"""Comparison of two runs with their stop signals, as `moot diff` shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from detectors.report import SignalReport
from ledger.compare.diff import LedgerDiff, Matched, Similar, diff, normal
from ledger.events import Claim, Decision
from ledger.events.ids import OPTION_MENTION
from ledger.plain_text import one_line
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from rounds.protocols import is_watched

_OPTION: Final = re.compile(rf"\b{OPTION_MENTION}\b")


class SignalChange(Result, frozen=True):
    """A gate (in runs without gates: a signal) that reads differently, with its value in each run."""

    id: str
    name: str
    satisfied_a: bool
    satisfied_b: bool
    value_a: str | None
    value_b: str | None


class Panel(Result, frozen=True):
    """Summary of the gates of one run that decide, or of its signals where it has no gates."""

    profile: str
    satisfied: int
    of: int
    stop: bool
    advice: str


class SignalDifferences(Result, frozen=True):
    """The panels of both runs, and what reads differently."""

    a: Panel
    b: Panel
    changed: list[SignalChange]


class FinalAnswer(Result, frozen=True):
    """The first final decision in force, in words: a memo's answer where the run wrote one.

    Each run may number its options itself, so that `text` names every option by its words beside its id, and `about`
    are the words of the options that it is about. `chosen`: the one option that a rule chose, null where a role wrote
    what it decided, or nothing was chosen.
    """

    decision: str
    text: str
    about: list[str]
    chosen: str | None


class Answers(Result, frozen=True):
    """What each run answers, null while it does not.

    `same`: the words are the same as alignment sees them, or a rule chose the same option in both; words that differ
    may still mean the same, and are shown. Null when one has no answer.
    """

    same: bool | None
    a: FinalAnswer | None
    b: FinalAnswer | None


class Texts(Result, frozen=True):
    """The words of the claims and decisions that differ or are in one run only, by id, in each run."""

    a: dict[str, str]
    b: dict[str, str]


class RunDiff(LedgerDiff, frozen=True):
    """What differs between two runs, as the command prints it with `--json`. `signals` is null where a run has none."""

    signals: SignalDifferences | None
    answers: Answers
    texts: Texts


def compare(a: Book, b: Book, names: tuple[str, str], *, signals: Callable[[Book], SignalReport]) -> RunDiff:
    """Compare two runs. `signals` reads a book in the profile wanted, the same one for both."""
    ledgers = diff(a, b, names)
    # Signals of two runs compare only where both are judged by them; a short protocol has none.
    watched = is_watched(a.state.opening) and is_watched(b.state.opening)
    return RunDiff(
        **msgspec.structs.asdict(ledgers),
        signals=_signals(signals(a), signals(b)) if watched else None,
        answers=_answers(a, b),
        texts=_texts(ledgers, a, b),
    )


def _texts(ledgers: LedgerDiff, a: Book, b: Book) -> Texts:
    """Return the words of the ids in a comparison."""
    texts = Texts({}, {})
    for group in (ledgers.claims, ledgers.decisions):
        pairs: Sequence[Matched | Similar] = (*group.changed, *group.similar)
        for book, words, ids in (
            (a, texts.a, (*(pair.a for pair in pairs), *group.only_a)),
            (b, texts.b, (*(pair.b for pair in pairs), *group.only_b)),
        ):
            words |= {identity: text for identity in ids if (text := _text(book, identity))}
    return texts


def _text(book: Book, identity: str) -> str:
    event = book.by_id.get(identity)
    return _in_words(book, event.text) if isinstance(event, Claim | Decision) else ""


def _in_words(book: Book, text: str) -> str:
    """Return a text with the words of every option next to its id, at its first mention."""
    options = {option.id: one_line(option.text) for option in book.state.options}

    def worded(match: re.Match[str]) -> str:
        # Popped, so that the words follow only the first mention and a long text stays readable.
        words = options.pop(match[0], None)
        return match[0] if words is None else f"{match[0]} ({words})"

    return _OPTION.sub(worded, text)


def _answers(a: Book, b: Book) -> Answers:
    first, other = _answer(a), _answer(b)
    if first is None or other is None:
        return Answers(None, first, other)
    # Two rules that choose the same option agree, even where the surrounding words differ.
    pairs = ((first.chosen, other.chosen), (first.text, other.text))
    same = any(mine and theirs and normal(mine) == normal(theirs) for mine, theirs in pairs)
    return Answers(same, first, other)


def _answer(book: Book) -> FinalAnswer | None:
    for identity in final_in_force(book.state)[:1]:
        event = book.by_id[identity]
        assert isinstance(event, Decision), f"{identity} is no decision"
        options = {option.id: one_line(option.text) for option in book.state.options}
        about = [options.get(option, option) for option in event.about]
        by_rule = event.made_by == "rule" and len(about) == 1
        return FinalAnswer(identity, _answered(book, event), about, about[0] if by_rule else None)
    return None


def _answered(book: Book, event: Decision) -> str:
    """Return the answer of the memo behind the decision, else the decision in words."""
    memo = book.state.memo if event.by == "controller" and event.type == "final" else None
    sentences = memo.sentences if memo is not None else ()
    answer = (sentence.text for sentence in sentences if sentence.field == "answer")
    return " ".join(answer) or _in_words(book, event.text)


def _signals(a: SignalReport, b: SignalReport) -> SignalDifferences:
    mine, theirs = _criteria(a), _criteria(b)
    panels = [
        Panel.from_parts(report, satisfied=sum(holds for _, holds, _ in criteria.values()), of=len(criteria))
        for report, criteria in ((a, mine), (b, theirs))
    ]
    changed = [
        SignalChange(identity, name, holds, theirs[identity][1], value, theirs[identity][2])
        for identity, (name, holds, value) in mine.items()
        if theirs.get(identity, mine[identity]) != mine[identity]
    ]
    return SignalDifferences(panels[0], panels[1], changed)


def _criteria(report: SignalReport) -> dict[str, tuple[str, bool, str | None]]:
    """Return what a stop depends on, by id: what it is called, whether it holds, and its value."""
    return {gate.name: ("gate", gate.ok, gate.value) for gate in report.deciding} or {
        signal.id: (signal.name, signal.satisfied, signal.value) for signal in report.signals
    }
