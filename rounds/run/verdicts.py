"""The verdict functions in one place, for the controller and for validators: what a run computes about itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ledger.events import Event
from ledger.state.book import Blobs, Book
from ledger.store.blobs import hash_of
from roles.protocol import Protocol

if TYPE_CHECKING:
    from detectors.report import SignalReport
    from validators.given import Installs
    from validators.ledger_index import RuleContext
    from validators.rulebook import CheckReport


class Verdicts(msgspec.Struct, frozen=True):
    """Validation and signals as functions of a book, with the hashes of the rules and parameters behind them.

    `check` judges what a `validation` event records; `context` is what the rulebook needs to judge everything.
    `installs` says by which thresholds a recorded verdict can be recomputed; others are taken as given.
    """

    check: Callable[[Book], CheckReport]
    rules_hash: Callable[[], str]
    signals: Callable[[Book, str], SignalReport]
    params_hash: Callable[[Book, str], str]
    installs: Installs
    context: Callable[[], RuleContext]
    screenings: Callable[[Book], tuple[Event, ...]]


def standard(protocol: Protocol) -> Verdicts:
    """Return the verdicts that this version of moot computes; the rules are read at the first call."""

    def read(book: Book, profile: str, at: int | None = None) -> SignalReport:
        from detectors import signals

        return signals.signals(book, profile, at)

    def params_hash(book: Book, profile: str) -> str:
        from detectors import parameters
        from detectors.parameters import parameter_file_of

        # A run of `crux` has no profile with thresholds here; asking for them is a bug in the caller.
        assert profile in parameters.PROFILES, f"a run of profile {profile} is judged by its protocol"
        if profile == "gates":
            return hash_of(parameter_file_of(book.state, book.blobs))
        return parameters.params_hash(profile)

    def installs(profile: str, params: str, blobs: Blobs) -> bool:
        from detectors.parameters import judges_by

        return judges_by(profile, params, blobs)

    def screenings(book: Book) -> tuple[Event, ...]:
        from rounds.setup import (
            screened,  # its patterns are compiled when a run is opened or checked, not before
        )

        return screened.screenings_due(book)

    def context() -> RuleContext:
        from validators.ledger_index import RuleContext

        return RuleContext(protocol=protocol, signals=read, installs=installs, screenings=screenings)

    def check(book: Book) -> CheckReport:
        from validators import rulebook

        return rulebook.check(book, context(), recorded=True)

    def rules_hash() -> str:
        from validators import rulebook

        return rulebook.rules_hash()

    return Verdicts(check, rules_hash, read, params_hash, installs, context, screenings)
