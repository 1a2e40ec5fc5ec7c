"""Readings that need the whole run: contributions of roles, and the failure modes."""

from __future__ import annotations

import msgspec

from detectors.contribution import Contribution, contributions, sighted_by_others
from detectors.report import AlarmReading
from detectors.stopping.judgement import judge
from detectors.stopping.parameters import GateParameters, parameters_of
from ledger.state.book import Book
from ledger.store.failures import BlobMissing


class Hindsight(msgspec.Struct, frozen=True):
    """Contributions and failure modes, read over the whole run.

    `failures` has no value when the run's own parameters are missing.
    """

    contributions: tuple[Contribution, ...]
    failures: tuple[AlarmReading, ...] | None


def hindsight(book: Book) -> Hindsight:
    """Return the readings. This takes a few passes over the ledger, so call it once per report."""
    state, parameters = book.state, _parameters(book)
    return Hindsight(
        contributions=tuple(contributions(state, sighted_by_others(book.events))),
        # Without the run's own thresholds another version's defaults would judge it, so judge nothing.
        failures=judge(state, parameters).alarms if parameters else None,
    )


def _parameters(book: Book) -> GateParameters | None:
    try:
        return parameters_of(book.state, book.blobs)
    # The parameters may be redacted or lost, and `moot verify` says which.
    except BlobMissing:
        return None
