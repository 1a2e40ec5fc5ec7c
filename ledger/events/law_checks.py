"""What a law can say about the fields of one event, and the functions that look at an event for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import msgspec

Broken = Callable[[Any], "str | None"]
"""What is wrong with an event, in words; None when nothing is."""


class Length(msgspec.Struct, frozen=True):
    """The list or string at `path` (`sections[].text`) holds at least / at most so many items or characters.

    Not asked when field `unless[0]` equals `unless[1]`; only asked when field `when[0]` equals `when[1]`. A field
    that is null has no length.
    """

    path: str
    at_least: int = 0
    at_most: int | None = None
    unless: tuple[str, str] | None = None
    when: tuple[str, str] | None = None


class Paired(msgspec.Struct, frozen=True):
    """Field `field` is set if and only if `condition` holds (`other` is set, or equals `equals`)."""

    field: str
    other: str
    equals: str | None = None


Law = Length | Paired


def check_of(law: Law) -> Broken:
    """What is wrong with an event by one law."""
    return _paired(law) if isinstance(law, Paired) else _length(law)


def fused(laws: Sequence[Law]) -> tuple[Broken, ...]:
    """Fewer checks than laws, for speed: the fields that only must not be empty are asked about at once."""
    simple: dict[str, list[Length]] = {}
    others: list[Broken] = []
    for law in laws:
        if isinstance(law, Length) and law == Length(law.path, 1):
            simple.setdefault(law.path.rpartition("[].")[0], []).append(law)
        else:
            others.append(check_of(law))
    return (*(_filled(outer, some) for outer, some in simple.items()), *others)


def _filled(outer: str, laws: list[Length]) -> Broken:
    """Several laws on fields of the event itself (`outer` is empty) or of each struct in the list `outer`."""
    names = [law.path.rpartition("[].")[2] for law in laws]
    values_of = attrgetter(*names)
    is_full: Callable[[Any], object] = values_of if len(names) == 1 else lambda part: all(values_of(part))
    list_of = attrgetter(outer) if outer else None
    one_by_one = [_length(law) for law in laws]

    def broken(event: Any) -> str | None:
        if all(map(is_full, list_of(event))) if list_of else is_full(event):
            return None
        return next((problem for law in one_by_one if (problem := law(event))), None)

    return broken


def _paired(law: Paired) -> Broken:
    def broken(event: Any) -> str | None:
        other = getattr(event, law.other)
        expected = other is not None if law.equals is None else other == law.equals
        if (getattr(event, law.field) is not None) == expected:
            return None
        return f"{law.field} must be {'set' if expected else 'null'} here"

    return broken


def _length(law: Length) -> Broken:
    measured = _nested(law) if "[]" in law.path else _flat(law)
    if law.unless is not None:
        field, value = law.unless
        return lambda event: None if getattr(event, field) == value else measured(event)
    if law.when is not None:
        field, value = law.when
        return lambda event: measured(event) if getattr(event, field) == value else None
    return measured


def _flat(law: Length) -> Broken:
    value_of, least, most = attrgetter(law.path), law.at_least, law.at_most

    def broken(event: Any) -> str | None:
        value = value_of(event)
        if value is None or (least <= len(value) and (most is None or len(value) <= most)):
            return None
        return (
            f"{law.path} needs at least {least}"
            if len(value) < least
            else f"{law.path} allows at most {most}"
        )

    return broken


def _nested(law: Length) -> Broken:
    """A law over a field of each struct in a list."""
    outer, _, inner = law.path.partition("[].")
    list_of = attrgetter(outer)
    measured = _flat(Length(inner, law.at_least, law.at_most))

    def broken(event: Any) -> str | None:
        for part in list_of(event):
            problem = measured(part)
            if problem:
                return f"{outer}[].{problem}"
        return None

    return broken
