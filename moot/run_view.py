"""Facts of a run that more than one reader needs, each derived once.

view = RunView(book, "runs/ledger", Path("runs/ledger"))
view.outcome, view.signals, view.story

Terminal, JSON, reports, pages and MCP read them here. A view belongs to one book, so after a commit the run needs a new
view. Attempts without an event are written beside the ledger, and are read each time. What only one reader needs is
derived where it is read.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from ledger.state.book import Book
from ledger.store.failures import BlobMissing

if TYPE_CHECKING:
    from detectors.forecasts.report import ForecastReport
    from detectors.report import SignalReport
    from moot.view.experiments import ExperimentShown
    from moot.view.outcome import Outcome
    from moot.view.story import Story
    from rounds.run.budget import Amounts
    from rounds.run.outcome import RunQuorum


class RunView:
    """The facts of `book`. `name` is how commands name the run; without `path` nothing beside the ledger is read."""

    def __init__(self, book: Book, name: str = "RUN", path: Path | None = None) -> None:
        self.book: Final = book
        self.name: Final = name
        self.path: Final = path
        self._outcome: tuple[Amounts | None, Outcome] | None = None

    # Modules are imported where they are used, because a reader of one fact starts faster without the others.

    @property
    def unrecorded(self) -> Amounts | None:
        """Return what attempts used that no event shows; None where only the ledger is at hand."""
        from moot.view.seats import unrecorded_spend

        return None if self.path is None else unrecorded_spend(self.path)

    @property
    def outcome(self) -> Outcome:
        """Return the outcome: the answer, how sure, why, what would change it, what it needs from a person."""
        from moot.view.outcome import outcome_of

        unrecorded, kept = self.unrecorded, self._outcome
        # Attempts are recorded without a commit, so the outcome is kept for the amounts that it names.
        if kept is None or kept[0] != unrecorded:
            kept = self._outcome = (unrecorded, outcome_of(self.name, self.book, unrecorded))
        return kept[1]

    @cached_property
    def quorum(self) -> RunQuorum:
        """Return the declared and the actual quorum, what was lost, and whether a role decided."""
        from rounds.run.outcome import quorum_of

        return quorum_of(self.book.state)

    @cached_property
    def signals(self) -> SignalReport | None:
        """Return the stop signals in the run's profile; None for a protocol without them, or without its thresholds."""
        from detectors.signals import signals_of_state
        from moot.view.stop_checks import worded
        from rounds.protocols import is_watched

        state = self.book.state
        if not is_watched(state.opening):
            return None
        try:
            report = signals_of_state(state, state.opening.stop.profile, self.book.blobs, run=self.name)
        # A deleted parameter blob must not hide the rest of a page; `moot verify` reports it.
        except BlobMissing:
            return None
        return worded(report, state)

    @cached_property
    def forecasts(self) -> ForecastReport | None:
        """Return the forecasts and cruxes once all numbers are in; None before that, and for other protocols."""
        from moot.view.forecasts import forecasts_of

        report = forecasts_of(self.name, self.book)
        # The forecasts alone know nothing of a memo, of a wait, or of what a person decided.
        return report and msgspec.structs.replace(report, status=self.outcome.status)

    @cached_property
    def experiments(self) -> list[ExperimentShown]:
        """Return the experiments, in the order of their plans."""
        from moot.view.experiments import experiments_of

        return experiments_of(self.name, self.book)

    @cached_property
    def story(self) -> Story:
        """Return rounds, claims and decisions in the order of the deliberation."""
        from moot.view.story import tell

        return tell(self.book)
