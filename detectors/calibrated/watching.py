"""Watching: the judgement kept up to date event by event; a look counts the rounds that changed and no others.

watch = Watch()
for event in events:
    watch.take(event)
    watch.judgement()        # what `judge` says of the same prefix, without reading the ledger again
"""

from __future__ import annotations

from typing import Final

from detectors.calibrated.judgement import Judgement, judged
from detectors.calibrated.parameters import CalibratedParameters, calibrated_parameters
from detectors.calibrated.rounds import RoundUnits, count_round, last_round
from detectors.calibrated.shelf import Shelf
from ledger.events import Claim, DriftCheck, Event, RoundOpened
from ledger.fold import step
from ledger.ids import parse_reference, round_of
from ledger.state import State


class Watch:
    """A run as it is watched. `state` is folded here, or by the caller who then says so with `fold=False`."""

    def __init__(self, parameters: CalibratedParameters | None = None, state: State | None = None) -> None:
        self.state: Final = state if state is not None else State()
        self._parameters: Final = parameters or calibrated_parameters()
        self._shelf: Final = Shelf()
        self._units: Final[dict[int, RoundUnits]] = {}
        self._changed: Final[set[int]] = set()

    def take(self, event: Event, *, fold: bool = True) -> None:
        """Take one event in; its cost does not grow with the ledger."""
        if fold:
            step(self.state, event)
        if self._shelf.take(event) or isinstance(event, RoundOpened | DriftCheck):
            self._changed.update(
                (event.round, event.round + 1)
            )  # FM-2 counts a round's checks in the next one
        if isinstance(event, Claim) and event.raised_at_artifact is not None:
            source = round_of(parse_reference(event.raised_at_artifact).id)
            self._changed.update(() if source is None else (source,))

    def rounds(self) -> tuple[RoundUnits, ...]:
        """Every round's units; only those that changed since the last look are counted."""
        last = last_round(self.state, self._shelf)
        references = self._parameters.bypass.references_at_least
        for number in range(1, last + 1):
            if number in self._changed or number not in self._units:
                self._units[number] = count_round(self.state, self._shelf, number, references)
                self._changed.discard(number)
        return tuple(self._units[number] for number in range(1, last + 1))

    def judgement(self) -> Judgement:
        """The judgement as it stands."""
        return judged(self.state, self.rounds(), self._parameters)
