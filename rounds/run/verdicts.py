"""The verdict functions in one place, for the controller and for validators: what a run computes about itself.

Rules and detectors are imported at the first call, so that a session that judges nothing does not pay for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from detectors.parameters import PROFILES, judges_by, parameter_file_of, params_hash
from ledger.events import Event
from ledger.state.book import Blobs, Book
from ledger.store.blobs import hash_of
from roles.protocol import Protocol

if TYPE_CHECKING:
    from detectors.report import SignalReport
    from validators.ledger_index import RuleContext
    from validators.rulebook import CheckReport


class Verdicts(msgspec.Struct, frozen=True):
    """Validation and signals of a run of `protocol`, with the hashes of the rules and parameters behind them."""

    protocol: Protocol

    def check(self, book: Book) -> CheckReport:
        """Judge what a `validation` event records."""
        from validators import rulebook

        return rulebook.check(book, self.context(), recorded=True)

    def rules_hash(self) -> str:
        """Return the hash of the rules."""
        from validators import rulebook

        return rulebook.rules_hash()

    def signals(self, book: Book, profile: str, at: int | None = None) -> SignalReport:
        """Return the stop checks of a book as they read after event `at` (None: the last)."""
        from detectors import signals

        return signals.signals(book, profile, at)

    def params_hash(self, book: Book, profile: str) -> str:
        """Return the hash of the parameters by which the run is judged in a profile."""
        # A run of `crux` has no profile with thresholds here; asking for them is a bug in the caller.
        assert profile in PROFILES, f"a run of profile {profile} is judged by its protocol"
        own = profile == "gates"
        return hash_of(parameter_file_of(book.state, book.blobs)) if own else params_hash(profile)

    def installs(self, profile: str, params: str, blobs: Blobs) -> bool:
        """Return by which thresholds a recorded verdict can be recomputed; others are taken as given."""
        return judges_by(profile, params, blobs)

    def screenings(self, book: Book) -> tuple[Event, ...]:
        """Return the screenings that are due; `book` holds the opening alone."""
        from rounds.setup.gate import screenings_due

        return screenings_due(book)

    def context(self) -> RuleContext:
        """Return what the rulebook needs to judge everything."""
        from validators.ledger_index import RuleContext

        return RuleContext(self.protocol, self.signals, self.installs, screenings=self.screenings)


standard: Final = Verdicts
"""The verdicts that this version of moot computes."""
