"""How much of what there is to find may have been found: capture and recapture over sightings. Shown, never a gate.

Sightings say in which rounds a claim's matter came up again. Chao2 reads the classes seen once and twice, Good and
Turing the share of sightings that were not the only one. Below four independent observers no such estimate is accurate,
and here it is too high early (25 to 29 points in round 4 of the simulations it was tried on) and too low late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ledger.events import Claim, Event, Rating
from ledger.result import Result

WARNING: Final = (
    "an estimate from few observers: too high early, too low late; it is shown and decides nothing"
)


class Coverage(Result, frozen=True):
    """`completeness` (Chao2) and `coverage` (Good-Turing) as shares, null where nothing was sighted twice."""

    claims: int
    sighted_once: int
    sighted_twice: int
    rounds: int
    expected: float | None
    completeness: float | None
    coverage: float | None
    warning: str


def coverage(events: Iterable[Event]) -> Coverage | None:
    """The estimates; None for a ledger that records no sightings at all."""
    rounds: dict[str, set[int]] = {}
    recorded = False
    for event in events:
        if isinstance(event, Claim) and event.id is not None:
            seen = rounds.setdefault(event.id, {event.round})
            recorded = recorded or bool(event.sightings)
            seen.update(one.round for one in event.sightings)
        elif isinstance(event, Rating) and event.scale == "sighting" and event.of in rounds:
            recorded = True
            rounds[event.of].add(event.round)
    return _estimated([len(seen) for seen in rounds.values()], rounds) if recorded else None


def _estimated(frequencies: list[int], rounds: dict[str, set[int]]) -> Coverage:
    classes = Counter(frequencies)
    once, twice, total = classes[1], classes[2], sum(frequencies)
    held = max((number for seen in rounds.values() for number in seen), default=0)
    expected = chao2(len(frequencies), once, twice, held) if any(n > 1 for n in frequencies) else None
    return Coverage(
        claims=len(frequencies),
        sighted_once=once,
        sighted_twice=twice,
        rounds=held,
        expected=None if expected is None else round(expected, 1),
        completeness=None if expected is None else round(len(frequencies) / expected, 4),
        coverage=None if expected is None else round(1 - once / total, 4),
        warning=WARNING,
    )


def chao2(found: int, once: int, twice: int, samples: int) -> float:
    """How many classes there are, seen or not: the bias-corrected form, over `samples` occasions."""
    if samples < 1:
        return float(found)
    return found + (samples - 1) / samples * once * (once - 1) / (2 * (twice + 1))
