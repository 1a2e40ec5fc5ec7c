"""Numbers in words: English above twelve, and Chinese numerals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from ledger.language.number_signs import SCALES, is_about
from ledger.language.numeral import Numeral, Reading, fraction, plain

FREE_IN_WORDS: Final = 12
"""Numbers in words up to here are plain words."""
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

_HAN_DIGITS: Final[dict[str, int]] = {
    **{digit: n for n, digit in enumerate("〇一二三四五六七八九")},
    "零": 0,
    "两": 2,
    "兩": 2,
}
_HAN_UNITS: Final = {"十": 10, "百": 100, "千": 1000}
_HAN_BIG: Final = {"万": 10**4, "萬": 10**4, "億": 10**8, "亿": 10**8, "兆": 10**12}
_HAN: Final = re.compile(f"[{''.join((*_HAN_DIGITS, *_HAN_UNITS, *_HAN_BIG))}]+")
_HAN_POINT: Final = re.compile(f"[点點]([{''.join(_HAN_DIGITS)}]+)(?![{''.join(_HAN_UNITS)}分])")
_HAN_RATIO: Final = re.compile("[分份][之の]")
_HAN_MAX: Final = 24
"""Characters of a number in Chinese numerals."""
_HAN_YEAR: Final = 4
"""Digits in a row that are read one by one, as in 一九四五."""


def in_words(text: str) -> Iterator[Numeral]:
    """Yield numbers above twelve that are written in English words: `forty-five`, `two hundred`, `a million`."""
    run: list[str] = []
    begin = end = 0
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        between = text[end : match.start()]
        joined = between in (" ", "-", "\u00a0")
        if run and not (joined and (word in _IN_WORDS or word in SCALES)):
            yield from _from_words(run, is_about(text, begin, end))
            run = []
        starts = word in _IN_WORDS or (word in SCALES and not (joined and text[end - 1 : end].isdigit()))
        if run or (starts and not _scales_digits(text, match.start())):
            begin = begin if run else match.start()
            run.append(word)
        end = match.end()
    yield from _from_words(run, is_about(text, begin, end))


def _scales_digits(text: str, start: int) -> bool:
    """Return whether the word at `start` belongs to digits before it: the million of `5 million`."""
    return text[start - 1 : start] in (" ", "\u00a0", "-") and text[start - 2 : start - 1].isdigit()


def _from_words(run: list[str], about: bool) -> Iterator[Numeral]:
    total = part = 0
    for word in run[:20]:  # a number takes no more words than this
        if word in _IN_WORDS:
            part += _IN_WORDS[word]
        elif word == "hundred":
            part = (part or 1) * 100
        else:
            total, part = total + (part or 1) * 10 ** SCALES[word], 0
    if total + part > FREE_IN_WORDS:
        yield Numeral(" ".join(run), (Reading(str(total + part), 0),), about=about)


def in_han(text: str) -> Iterator[Numeral]:
    """Yield numbers in Chinese numerals: 三百二十, 零点五七, 百分之五十七; those up to twelve are plain words."""
    at = 0
    while (match := _HAN.search(text, at)) is not None:
        at = match.end()
        before = text[match.start() - 1 : match.start()]
        if len(match[0]) > _HAN_MAX or before.isdigit():
            continue  # the scale of 5万
        values = _han_values(match[0])
        point = _HAN_POINT.match(text, match.end()) if len(values) == 1 else None
        if point is not None:
            digits = "".join(str(_HAN_DIGITS[digit]) for digit in point[1])
            at = point.end()
            readings = [Reading(plain(str(values[0]), digits), len(digits))]
        else:
            readings = [Reading(str(value), 0) for value in values]
        written = text[match.start() : at]
        ratio = _HAN_RATIO.search(text, max(0, match.start() - 2), match.start())
        if ratio is not None and ratio.end() == match.start():
            divisor = _HAN.search(text[max(0, ratio.start() - 6) : ratio.start()])
            below = (
                100
                if divisor and divisor[0] == "百"
                else next(iter(_han_values(divisor[0])), 0)
                if divisor
                else 0
            )
            shares = [
                Reading(fraction(Fraction(reading.value) / below), reading.places + 2)
                for reading in readings
                if below
            ]
            readings = [*readings, *shares] if below == 100 else shares
        elif point is None and len(values) == 1 and values[0] <= FREE_IN_WORDS:
            continue
        if readings and not (_HAN_RATIO.match(text, at) or not values):
            yield Numeral(written, tuple(readings), about=is_about(text, match.start(), at))


def _han_values(numeral: str) -> tuple[int, ...]:
    """Return what Chinese numerals mean; nothing where they are words, as in 千万 or 万一."""
    if all(character in _HAN_DIGITS for character in numeral):
        if len(numeral) == 1:
            return (_HAN_DIGITS[numeral],)
        is_year = len(numeral) >= _HAN_YEAR or "〇" in numeral
        return (int("".join(str(_HAN_DIGITS[digit]) for digit in numeral)),) if is_year else ()
    total = section = 0
    digit: int | None = None
    unit = big = 10**16
    skipped = False
    for n, character in enumerate(numeral):
        if character in ("零", "〇"):
            skipped = True
        elif character in _HAN_DIGITS:
            if digit is not None:
                return ()  # 五六百 is five or six hundred
            digit = _HAN_DIGITS[character]
        elif character in _HAN_UNITS:
            size = _HAN_UNITS[character]
            is_bare = digit is None and not (size == 10 or (n == 0 and size == 100 and len(numeral) > 1))
            if size >= unit or is_bare:
                return ()
            section, digit, unit, skipped = (
                section + (1 if digit is None else digit) * size,
                None,
                size,
                False,
            )
        else:
            size = _HAN_BIG[character]
            section += digit or 0
            if size >= big or not section:
                return ()
            total, section, digit, unit, big, skipped = total + section * size, 0, None, size, size, False
    value = total + section + (digit or 0)
    if digit is None or skipped or unit in (10, 10**16):
        return (value,)
    # 两万五 is 25,000 in speech; Japanese writes 三百二 for 302.
    return (value, total + section + digit * unit // 10)
