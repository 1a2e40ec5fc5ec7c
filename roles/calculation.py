"""Check arithmetic in prose with exact fractions: `40 × (25 + 5) = 1,200`."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

from ledger.language.numerals import ascii_digits, number_at

EXPRESSION_MAX: Final = 300
"""Most characters of a calculation."""
DEPTH_MAX: Final = 20
"""Most levels of nested parentheses."""

# ---------------------------------------------------------------- calculations


class Calculation(NamedTuple):
    """Calculation `expression = value`: the numbers it uses, and whether it is correct."""

    operands: tuple[str, ...]
    holds: bool


class Evaluated(NamedTuple):
    """Value of an expression, and the numbers it uses, in plain digits."""

    value: Fraction
    operands: tuple[str, ...]


def evaluated(expression: str) -> Evaluated | None:
    """Evaluate sums and products of numbers and parentheses in exact fractions; None for any other text."""
    if len(expression) > EXPRESSION_MAX:
        return None
    try:
        reader = _Reader(ascii_digits(expression))
        return Evaluated(reader.whole(), tuple(reader.operands))
    except (_Unreadable, ZeroDivisionError):
        return None


class _Unreadable(Exception):
    """Error for a text that is not a calculation."""


def calculation(text: str) -> Calculation | None:
    """Check a calculation in exact fractions; None when the text is not one.

    It may use + − × ÷ and parentheses; a percent sign after a number or a parenthesis divides by 100. The stated value
    must be exact, or rounded to the two or more decimals it has.
    """
    # Exact fractions grow with every operation, so the time is bounded by the length of the text.
    if len(text) > EXPRESSION_MAX:
        return None
    left, equals, right = ascii_digits(text.strip().rstrip(".")).partition("=")
    if not equals or "=" in right:
        return None
    try:
        reader = _Reader(left)
        result = reader.whole()
        value = _Reader(right)
        stated = value.whole()
    except (_Unreadable, ZeroDivisionError):
        return None
    # `5 = 5` calculates nothing, and `2 + 3 = 1 + 4` states no value.
    if reader.acts == 0 or value.acts or len(value.operands) != 1:
        return None
    hundredth = "%" in right
    places = value.places + (2 if hundredth else 0)
    # Fewer than two decimals would let a wrong result pass as a rounded one.
    rounded = value.places >= 2 and abs(stated - result) * 2 <= Fraction(1, 10**places)
    return Calculation(tuple(reader.operands), stated == result or rounded)


class _Reader:
    """Recursive-descent parser of sums and products of numbers and parentheses."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text.strip(), 0, 0
        self.operands: list[str] = []
        self.acts = 0
        """Number of additions, subtractions, multiplications and divisions."""
        self.places = 0
        """Decimals of the last number."""

    def whole(self) -> Fraction:
        value = self._sum()
        if self._at < len(self._text):
            raise _Unreadable
        return value

    def _next(self) -> str:
        """Skip blanks and return the next character; empty at the end."""
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, signs: str) -> str:
        """Consume and return the next character if it is one of `signs`, else return an empty string."""
        sign = self._next()
        if sign and sign in signs:
            self._at += 1
            return sign
        return ""

    def _sum(self) -> Fraction:
        # Prose uses the minus sign and the en dash as well as the hyphen.
        negative = self._take("-−–")
        value = self._product()
        value = -value if negative else value
        while sign := self._take("+-−–"):
            self.acts += 1
            term = self._product()
            value = value + term if sign == "+" else value - term
        return value

    def _product(self) -> Fraction:
        value = self._factor()
        while sign := self._take("*×·xX/÷:"):
            self.acts += 1
            factor = self._factor()
            value = value / factor if sign in "/÷:" else value * factor
        return value

    def _factor(self) -> Fraction:
        value = self._grouped() if self._take("(") else self._number()
        return value / 100 if self._take("%") else value

    def _grouped(self) -> Fraction:
        self._depth += 1
        # A hostile text must not exhaust the interpreter's stack.
        if self._depth > DEPTH_MAX:
            raise _Unreadable
        value = self._sum()
        self._depth -= 1
        if not self._take(")"):
            raise _Unreadable
        return value

    def _number(self) -> Fraction:
        self._next()
        number = number_at(self._text, self._at)
        if number is None:
            raise _Unreadable
        reading, self._at = number
        self.operands.append(reading.value)
        self.places = reading.places
        return Fraction(reading.value)
