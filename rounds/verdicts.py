"""The verdict functions in one place: what a run computes about itself, given to the controller and to validators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.book import Book
from roles.protocol import Protocol

if TYPE_CHECKING:
    from detectors.report import SignalReport
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
    from detectors.parameters import params_hash
    from detectors.signals import signals
    from validators import rulebook

    context = rulebook.RuleContext(protocol=protocol, signals=signals)
    return Verdicts(
        check=lambda book: rulebook.check(book, context),
        rules_hash=rulebook.rules_hash(),
        signals=signals,
        params_hash=params_hash,
    )
