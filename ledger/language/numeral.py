"""Number of a text: what it may mean, and whether it equals another one or is a correct rounding of it."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

DIGITS_MAX: Final = 30
"""A number of more digits is compared as it is written, and never calculated with."""


class Reading(NamedTuple):
    """Value as plain digits or a fraction, and the decimals it was written with; for 12k they are -3."""

    value: str
    places: int


class Numeral(NamedTuple):
    """A number in a text: as it is written, what it may mean, and the numbers that it may be made of.

    `about`: the text says that it is approximate.
    """

    written: str
    readings: tuple[Reading, ...]
    parts: tuple[Numeral, ...] = ()
    about: bool = False

    @property
    def value(self) -> str:
        """Return the first reading's value."""
        return self.readings[0].value

    def is_among(self, values: frozenset[str]) -> bool:
        """Return whether the number, or all of its parts, is one of `values` or a correct rounding of one."""
        if any(reading.value in values for reading in self.readings):
            return True
        return any(self.rounds(value) for value in _exact(values)) or (
            bool(self.parts) and all(part.is_among(values) for part in self.parts)
        )

    def rounds(self, exact: Fraction) -> bool:
        """Return whether the number is `exact`, or `exact` rounded to the digits that are written.

        0.57 and 57 % round 0.5719. 12,000 rounds 11,987 only with "about", and 1 never rounds 0.57: rounding keeps the
        first digit of a number.
        """
        return any(_rounds(reading, abs(exact), self.about) for reading in self.readings)


def _rounds(reading: Reading, exact: Fraction, about: bool) -> bool:
    if len(reading.value) > DIGITS_MAX:
        return False
    value = Fraction(reading.value)
    if value == exact:
        return True
    power = -reading.places
    if about and value.denominator == 1:
        power = max(power, len(reading.value) - len(reading.value.rstrip("0")))
    # Without this bound 1 would round 0.57, and a wrong number would pass as a rounding.
    unit = min(Fraction(10) ** power, _first_place(exact))
    return 2 * abs(value - exact) <= unit


def _first_place(exact: Fraction) -> Fraction:
    """Return the power of ten of the first digit of a number; of zero nothing is rounded."""
    if not exact:
        return Fraction(0)
    power = len(str(exact.numerator)) - len(str(exact.denominator))
    place = Fraction(10) ** power
    return place if place <= exact else place / 10


@lru_cache(64)
def _exact(values: frozenset[str]) -> tuple[Fraction, ...]:
    return tuple(Fraction(value) for value in values if len(value) <= DIGITS_MAX)


def plain(whole: str, part: str = "") -> str:
    """Return plain digits: no leading zeros, and no trailing zeros after the point."""
    whole, part = whole.lstrip("0") or "0", part.rstrip("0")
    return f"{whole}.{part}" if part else whole


def scaled(reading: Reading, power: int) -> Reading:
    """Return a reading with its point moved to the right, to the left where `power` is negative."""
    whole, _, part = reading.value.partition(".")
    if power >= 0:
        whole, part = whole + part[:power].ljust(power, "0"), part[power:]
    else:
        digits = whole.rjust(1 - power, "0")
        whole, part = digits[:power], digits[power:] + part
    return Reading(plain(whole, part), reading.places - power)


def fraction(value: Fraction) -> str:
    """Return plain digits where a fraction terminates, else the fraction itself."""
    for places in range(13):
        if (value * 10**places).denominator == 1:
            digits = str(int(value * 10**places)).rjust(places + 1, "0")
            return plain(digits[: len(digits) - places], digits[len(digits) - places :])
    return str(value)
