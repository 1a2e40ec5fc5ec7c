"""STR003, error: what an absence will take away is written down before the round, as the run's opening predicts it.

A signature that is named after the fact is always found. Source: SD-75, SD-76, FORMAT 2 (`predicted_signature`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import RoundOpened
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Stress rounds without the predicted signature, and other rounds with one."""
    predicted = docket.opened.predict if docket.opened else ()
    for event in docket.events:
        if not isinstance(event, RoundOpened):
            continue
        wanted = tuple((entry.code, entry.text) for entry in predicted if entry.role == event.absent)
        given = tuple((entry.code, entry.text) for entry in event.predicted_signature or ())
        if event.absent is not None and not given:
            yield Breach(event.seq, f"nothing is predicted for the absence of {event.absent}")
        elif event.cause is not None and not wanted:
            continue  # an amendment put this absence in; re-execution knows what is predicted by default
        elif given != (wanted if event.absent is not None else ()):
            yield Breach(event.seq, f"the signature of round {event.round} is not what the opening predicted")


RULE: Final = Rule(
    code="STR003",
    name="absence_is_predicted",
    severity="error",
    summary="What an absence will take away is written down before the round, as the opening predicts it.",
    check=check,
    applies_to_imports=False,
)
