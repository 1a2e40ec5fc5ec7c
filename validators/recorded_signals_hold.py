"""VER002, error: recorded stop signals come out the same when they are computed again.

The stop rests on them. Parameters that are neither installed nor kept by the run are said as a warning, not judged.
Source: SD-60, DESIGN 3, FORMAT 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ledger.book import Book
from ledger.events import Signals
from ledger.fold import step
from ledger.named_blobs import OWN_PARAMETERS
from ledger.state import State
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Looks that the installed detectors do not confirm."""
    read = docket.context.signals
    if read is None:
        return
    prefix = _Prefix(docket)
    for event in docket.events:
        if not isinstance(event, Signals):
            continue
        installed = docket.context.params.get(event.profile)
        kept = event.profile == OWN_PARAMETERS and docket.book.blobs.read(event.params) is not None
        if installed is not None and installed != event.params and not kept:
            message = f"recorded with parameters {event.params[:12]}…, installed are {installed[:12]}…: not recomputed"
            if event.profile == OWN_PARAMETERS:
                message = f"the run's own parameters ({event.params[:12]}…) are not here: not recomputed"
            yield Breach(event.seq, message, "warning")
            continue
        report = read(prefix.through(event.through), event.profile)
        yield from (Breach(event.seq, f"{what} on recomputing") for what in _differences(event, report))


class _Prefix:
    """The book as it stood after an event. Looks follow one another, so it goes on from the last one asked for."""

    def __init__(self, docket: Docket) -> None:
        self._book = docket.book
        self._state = State()

    def through(self, seq: int) -> Book:
        """The book through event `seq`; what was returned before is no longer it."""
        if seq < self._state.seq:
            self._state = State()
        events = self._book.events[: seq + 1]
        for event in events[self._state.seq + 1 :]:
            step(self._state, event)
        return Book(events, self._state, self._book.by_id, self._book.blobs)


def _differences(event: Signals, report: Any) -> Iterator[str]:
    for name in ("satisfied", "of", "stop", "advice"):
        if getattr(event, name) != getattr(report, name):
            yield f"{name} is {getattr(event, name)}, and {getattr(report, name)}"
    readings = {reading.id: reading for reading in report.signals}
    for stated in event.signals:
        found = readings.pop(stated.id, None)
        if found is None:
            yield f"{stated.id} is recorded, and not there"
            continue
        for name in ("satisfied", "value", "threshold"):
            if getattr(stated, name) != getattr(found, name):
                yield f"{stated.id} {name} is {getattr(stated, name)}, and {getattr(found, name)}"
        if tuple(stated.evidence) != tuple(str(entry) for entry in found.evidence):
            yield f"{stated.id} evidence is {', '.join(stated.evidence) or 'nothing'}, and another"
    if readings:
        yield f"{', '.join(readings)} is not recorded, and there"


RULE: Final = Rule(
    code="VER002",
    name="recorded_signals_hold",
    severity="error",
    summary="Recorded stop signals come out the same when they are computed again.",
    check=check,
    applies_to_imports=False,
    recorded=False,
)
