"""Numbers as prose writes them, and arithmetic over them that anybody can redo.

    1,000   1 000   1'000.50   12 %   40ms   5 million     a number, whatever its separators, percent sign or unit
    p99   SHA256                                           a name
    40 × (25 + 5) = 1,200                                  a calculation

Every pattern here matches from its first character on and cannot fail behind it, so reading takes time in proportion
to the text, whoever wrote it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

DIGITS_MAX: Final = 30
"""A number of more digits is compared as it is written, and never calculated with."""
EXPRESSION_MAX: Final = 300
"""Characters of a calculation."""
DEPTH_MAX: Final = 20
"""Parentheses in each other."""

_SEPARATORS: Final = ",'’ \u00a0\u2009\u202f"
_WRITTEN: Final = re.compile(
    rf"(?P<whole>[0-9]+(?:[{_SEPARATORS}][0-9]{{3}}(?![0-9]))*)(?:\.(?P<part>[0-9]+))?"
)
_DIGIT: Final = re.compile(r"\d")
_IN_CODE: Final = re.compile(r"(?<=[0-9])_(?=[0-9])")
"""What programs write between the digits of a long number: `20_000`."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_SMALL: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_IN_WORDS: Final[dict[str, int]] = {
    **{word: n for n, word in enumerate(_SMALL)},
    **{word: 10 * n for n, word in enumerate(_TENS, 2)},
}
_SCALES: Final[dict[str, int]] = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9}
"""Word → the power of ten that it multiplies by."""
FREE_IN_WORDS: Final = 12
"""Numbers in words up to here are plain words."""


class Numeral(NamedTuple):
    """A number in a text: as it is written, its value in plain digits, and the decimals that it was written with."""

    written: str
    value: str
    places: int

    def is_rounded(self, exact: Fraction) -> bool:
        """Whether it is `exact`, or that rounded to as many decimals as are written."""
        if len(self.value) > DIGITS_MAX:
            return False
        return _is_within_half(Fraction(self.value) - exact, self.places)


def _is_within_half(difference: Fraction, places: int) -> bool:
    """Whether a difference is at most half of the last of so many decimals."""
    return abs(difference) <= Fraction(1, 2 * int(10**places))


# ---------------------------------------------------------------- numbers in prose


def numerals(text: str) -> Iterator[Numeral]:
    """The numbers that a text states: in digits, but for those inside a name, and in words above twelve."""
    text = ascii_digits(text)
    named = -2  # where the last name ended
    for match in _WRITTEN.finditer(text):
        start = match.start()
        if _in_a_name(text, start) or (start - 1 == named and text[named] == "."):
            named = match.end()  # p99, and all of v1.2.3
        else:
            yield from _readings(text, match)
    yield from _in_words(text)


@lru_cache(64)
def values_in(text: str) -> frozenset[str]:
    """Every value that a cited text can be read to state; digits in names, those that blanks separate, and those of a
    program, `20_000`, too."""
    text = ascii_digits(text)
    found: set[str] = set()
    for match in _WRITTEN.finditer(text):
        found.update(numeral.value for numeral in _readings(text, match))
        if " " in match["whole"]:  # it may be several numbers: `12 300`
            *groups, last = match["whole"].split(" ")
            found.update(_plain(group) for group in groups if group.isdigit())
            found.add(_plain(last, match["part"] or ""))
    found.update(numeral.value for numeral in _in_words(text))
    if _IN_CODE.search(text):
        found |= values_in(_IN_CODE.sub("", text))
    return frozenset(found)


def ascii_digits(text: str) -> str:
    """The text with digits of every script as 0 … 9, and with fractions and circled digits spelt out."""
    if text.isascii():
        return text
    separators = {ord(one): one for one in _SEPARATORS}
    kept = "".join(one if ord(one) in separators else unicodedata.normalize("NFKC", one) for one in text)
    return _DIGIT.sub(lambda match: str(int(match[0])), kept)


def _in_a_name(text: str, start: int) -> bool:
    """Whether digits stand directly behind a letter or an underscore: p99, SHA256, v2."""
    before = text[start - 1 : start]
    return before.isalpha() or before == "_"


def _readings(text: str, match: re.Match[str]) -> Iterator[Numeral]:
    """A number, or several that only look like one: in `2019 100` the first has four digits."""
    groups = re.split(f"[{_SEPARATORS}]", match["whole"])
    part = match["part"] or ""
    scale = _scale_behind(text, match.end())
    if len(groups) > 1 and (len(groups[0]) > 3 or groups[0].startswith("0")):
        for group in groups[:-1]:
            yield Numeral(group, _plain(group), 0)
        groups = groups[-1:]
    written = match[0] if len(groups) > 1 else groups[0] + (f".{part}" if part else "")
    yield Numeral(written, _plain("".join(groups), part, scale), max(0, len(part) - scale))


def _plain(whole: str, part: str = "", scale: int = 0) -> str:
    """Plain digits: no zero in front, none behind the last decimal, the point moved by `scale` places."""
    whole, part = whole + part[:scale].ljust(scale, "0"), part[scale:]
    whole, part = whole.lstrip("0") or "0", part.rstrip("0")
    return f"{whole}.{part}" if part else whole


def _scale_behind(text: str, end: int) -> int:
    """3 where `thousand` follows a number, 0 where nothing of the kind does."""
    if text[end : end + 1] not in (" ", "\u00a0", "-"):
        return 0
    match = _WORD.match(text, end + 1)
    return _SCALES.get(match[0].casefold(), 0) if match else 0


def _in_words(text: str) -> Iterator[Numeral]:
    """Numbers above twelve that are written in words: `forty-five`, `two hundred`, `a million`."""
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        between = text[end : match.start()]
        joined = between in (" ", "-", "\u00a0")
        if run and not (joined and (word in _IN_WORDS or word in _SCALES)):
            yield from _said(run)
            run = []
        starts = word in _IN_WORDS or (word in _SCALES and not (joined and text[end - 1 : end].isdigit()))
        if run or (starts and not _scales_digits(text, match.start())):
            run.append(word)
        end = match.end()
    yield from _said(run)


def _scales_digits(text: str, start: int) -> bool:
    """Whether the word at `start` belongs to digits before it: the million of `5 million`."""
    return text[start - 1 : start] in (" ", "\u00a0", "-") and text[start - 2 : start - 1].isdigit()


def _said(run: list[str]) -> Iterator[Numeral]:
    total = part = 0
    for word in run[:20]:  # nobody says a number in more words
        if word in _IN_WORDS:
            part += _IN_WORDS[word]
        elif word == "hundred":
            part = (part or 1) * 100
        else:
            total, part = total + (part or 1) * 10 ** _SCALES[word], 0
    if total + part > FREE_IN_WORDS:
        yield Numeral(" ".join(run), str(total + part), 0)


# ---------------------------------------------------------------- calculations


class Calculation(NamedTuple):
    """`expression = value`: the numbers that it starts from, and whether it comes out as it says."""

    operands: tuple[str, ...]
    holds: bool


class Evaluated(NamedTuple):
    """Value of an expression, and the numbers that it uses, in plain digits."""

    value: Fraction
    operands: tuple[str, ...]


def evaluated(expression: str) -> Evaluated | None:
    """Evaluate sums and products of numbers and parentheses in exact fractions; None when the text is no such thing."""
    if len(expression) > EXPRESSION_MAX:
        return None
    try:
        reader = _Reader(ascii_digits(expression))
        return Evaluated(reader.whole(), tuple(reader.operands))
    except (_Unreadable, ZeroDivisionError):
        return None


class _Unreadable(Exception):
    """What stands there is no calculation."""


def calculation(text: str) -> Calculation | None:
    """A calculation redone in exact fractions; None when the text is none.

    + − × ÷ and parentheses; a percent sign behind a number or a parenthesis divides by 100. The value is exact, or
    rounded to the two or more decimals that are written.
    """
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
    if reader.acts == 0 or value.acts or len(value.operands) != 1:
        return None
    hundredth = "%" in right
    places = value.places + (2 if hundredth else 0)
    rounded = value.places >= 2 and _is_within_half(stated - result, places)
    return Calculation(tuple(reader.operands), stated == result or rounded)


class _Reader:
    """Reads an expression from the left: sums of products of numbers and parentheses."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text.strip(), 0, 0
        self.operands: list[str] = []
        self.acts = 0
        """How often something was added, taken away, multiplied or divided."""
        self.places = 0
        """The decimals of the last number."""

    def whole(self) -> Fraction:
        value = self._sum()
        if self._at < len(self._text):
            raise _Unreadable
        return value

    def _next(self) -> str:
        """The next character that is not blank; empty at the end."""
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, signs: str) -> str:
        """The next character if it is one of `signs`, else nothing."""
        sign = self._next()
        if sign and sign in signs:
            self._at += 1
            return sign
        return ""

    def _sum(self) -> Fraction:
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
        if self._depth > DEPTH_MAX:
            raise _Unreadable
        value = self._sum()
        self._depth -= 1
        if not self._take(")"):
            raise _Unreadable
        return value

    def _number(self) -> Fraction:
        self._next()
        match = _WRITTEN.match(self._text, self._at)
        readings = list(_readings(self._text, match)) if match else []
        if match is None or len(readings) != 1 or len(readings[0].value) > DIGITS_MAX:
            raise _Unreadable
        self._at = match.end()
        self.operands.append(readings[0].value)
        self.places = readings[0].places
        return Fraction(readings[0].value)
