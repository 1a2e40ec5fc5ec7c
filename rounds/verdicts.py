"""The verdict functions in one place: what a run computes about itself, given to the controller and to validators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ledger.book import Book
from roles.protocol import Protocol

if TYPE_CHECKING:
    from detectors.parameters import SignalProfile
    from detectors.report import SignalReport
    from validators.reading.rule import RuleContext
    from validators.rulebook import CheckReport

PROFILES = ("script", "text", "calibrated")
"""Profiles whose parameters are installed."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Validation and signals as functions of a book, with the hashes of the rules and parameters behind them.

    `check` judges what a `validation` event records; `context` is what the rulebook needs to judge everything.
    """

    check: Callable[[Book], CheckReport]
    rules_hash: str
    signals: Callable[[Book, str], SignalReport]
    params_hash: Callable[[str], str]
    context: RuleContext


def standard(protocol: Protocol) -> Verdicts:
    """The verdicts that this version of moot computes."""
    from detectors import parameters, signals
    from validators import rulebook

    def read(book: Book, profile: str, at: int | None = None) -> SignalReport:
        return signals.signals(book, cast("SignalProfile", profile), at)  # UnknownProfile for another name

    def params_hash(profile: str) -> str:
        return parameters.params_hash(cast("SignalProfile", profile))

    params = {profile: params_hash(profile) for profile in PROFILES}
    context = rulebook.RuleContext(protocol=protocol, signals=read, params=params)
    return Verdicts(
        check=lambda book: rulebook.check(book, context, recorded=True),
        rules_hash=rulebook.rules_hash(),
        signals=read,
        params_hash=params_hash,
        context=context,
    )
