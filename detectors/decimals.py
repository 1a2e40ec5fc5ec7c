"""Decimal strings: how a fractional number stands in a ledger and in a report (FORMAT 1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

SIGNAL_DIGITS: Final = 6


def decimal_string(value: int | float | Fraction, digits: int = SIGNAL_DIGITS) -> str:
    """`value` rounded half-even to at most `digits` places, without trailing zeros, exponent or minus zero.

    A float is taken at its exact binary value, so the result depends on nothing but its bits.
    """
    units = round(Fraction(value) * 10**digits)  # Fraction rounds half to even
    whole, rest = divmod(abs(units), 10**digits)
    places = f"{rest:0{digits}d}".rstrip("0") if digits else ""
    return f"{'-' if units < 0 else ''}{whole}{'.' if places else ''}{places}"
