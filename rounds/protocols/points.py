"""Points of a belief as a seat hands them in: which options they may be on, and that they are 100 together."""

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


def as_points(given: Iterable[OptionPoints]) -> dict[str, int]:
    """A belief as events keep it: options without points left out."""
    return {one.option: one.points for one in given if one.points}


def points_problems(given: Sequence[OptionPoints], options: Sequence[str], where: str) -> Iterator[str]:
    """Complain about options that do not exist, and about points that are not 100 together."""
    yield from repeated((one.option for one in given), where)
    for one in given:
        if one.option not in options:
            yield f"{where}: {one.option!r} is no option here; use {names(options)}"
    total = sum(one.points for one in given)
    if total != WHOLE:
        yield f"{where}: {total} points in all; give {WHOLE}"
