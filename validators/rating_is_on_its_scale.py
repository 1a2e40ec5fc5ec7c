"""RAT001, error: a rating's value stands on the scale that it names.

A level that the scale does not have cannot be added up or compared. Source: FORMAT 2 (`rating`), AD-5, AD-12, AD-28.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ledger.events import Rating
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

SCALES: Final[Mapping[str, tuple[int | str, ...]]] = {
    "severity_1_5": (1, 2, 3, 4, 5),
    "effectiveness_1_5": (1, 2, 3, 4, 5),
    "criterion_1_5": (1, 2, 3, 4, 5),
    "confidence_1_5": (1, 2, 3, 4, 5),
    "priority_p": ("P0", "P1", "P2", "P3"),
    "weight_hml": ("High", "Medium", "Low"),
}
"""Scale → its values; a sighting names a role or a round and has none."""


def check(docket: Docket) -> Iterator[Breach]:
    """Ratings off their scale."""
    for event in docket.events:
        if isinstance(event, Rating):
            values = SCALES.get(event.scale)
            if values is not None and (event.value not in values or isinstance(event.value, bool)):
                yield Breach(event.seq, f"{event.value!r} is no value of {event.scale}")


RULE: Final = Rule(
    code="RAT001",
    name="rating_is_on_its_scale",
    severity="error",
    summary="A rating's value stands on the scale that it names.",
    check=check,
)
