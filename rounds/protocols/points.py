"""Points of a belief as a seat hands them in: the allowed options, and a sum of 100."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from rounds.protocols.quotable import names, repeated

WHOLE = 100


class OptionPoints(Protocol):
    """Points on one option."""

    @property
    def option(self) -> str: ...

    @property
    def points(self) -> int: ...


def as_points(entries: Iterable[OptionPoints]) -> dict[str, int]:
    """Return a belief as events keep it: options without points left out."""
    return {entry.option: entry.points for entry in entries if entry.points}


def points_problems(entries: Sequence[OptionPoints], options: Sequence[str], where: str) -> Iterator[str]:
    """Yield problems with unknown options, and with points that do not sum to 100."""
    yield from repeated((entry.option for entry in entries), where)
    for entry in entries:
        if entry.option not in options:
            yield f"{where}: {entry.option!r} is no option here; use {names(options)}"
    total = sum(entry.points for entry in entries)
    if total != WHOLE:
        yield f"{where}: {total} points in all; give {WHOLE}"
