"""The verdict functions in one place: what a run computes about itself, given to the controller and to validators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from detectors.signals import SignalReport
from ledger.book import Book
from validators.rulebook import CheckReport


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Validation and signals as functions of a book, with the hashes of the rules and parameters behind them."""

    check: Callable[[Book], CheckReport]
    rules_hash: str
    signals: Callable[[Book, str], SignalReport]
    params_hash: Callable[[str], str]


def standard(protocol: Protocol) -> Verdicts:
    """The verdicts that this version of moot computes."""
    context = RuleContext(protocol=protocol, signals=signals)
    return Verdicts(
        check=lambda book: rulebook.check(book, context),
        rules_hash=rulebook.rules_hash(),
        signals=signals,
        params_hash=params_hash,
    )
