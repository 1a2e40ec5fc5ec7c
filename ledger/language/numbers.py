"""Numbers as prose writes them, in any script.

    1,000   1 000   1'000.50   1.000,50   12,34,567   ١٬٠٠٠٫٥     separators of many countries
    40ms   12k   5 million   1.2万   1億2000万   5 लाख   三百二十       units and scales
    12 %   百分之五十七   ½   2/3   二分之一                           percent and fractions
    p99   SHA256   v1.2.3                                         names

`1.000` is a thousand in German and one in English, so a number may have several readings; two numbers agree when a
reading of one is a reading of the other. Patterns match from their first character on and cannot fail after it, so
reading takes time in proportion to the text, even for a hostile one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final

from ledger.language.numerals import (
    SCALES,
    WRITTEN,
    Numeral,
    Reading,
    ascii_digits,
    fraction,
    is_about,
    numerals_at,
    plain,
)
from ledger.language.words import ENGLISH, FOREIGN, is_part_of_name

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
        joined = text[end : match.start()] in (" ", "-", "\u00a0")
        if run and not (joined and (word in _IN_WORDS or word in SCALES)):
            yield from _from_words(run, is_about(text, begin, end))
            run = []
        starts = word in _IN_WORDS or (word in SCALES and not (joined and text[end - 1 : end].isdigit()))
        # A word may scale the digits before it: the million of `5 million`.
        before = text[: match.start()][-2:]
        if run or (starts and not (before[:1].isdigit() and before[1:] in (" ", "\u00a0", "-"))):
            begin = begin if run else match.start()
            run.append(word)
        end = match.end()
    yield from _from_words(run, is_about(text, begin, end))


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


_IN_CODE: Final = re.compile(r"(?<=[0-9])_(?=[0-9])")
"""What programs write between the digits of a long number: `20_000`."""
_LANGUAGE_CHARACTERS: Final = 20_000
"""Characters of a text that its language is read from."""


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the numbers that a text states: in digits, but for those inside a name, and in words above twelve."""
    text = ascii_digits(text)
    comma = _may_have_decimal_comma(text)
    named, at = -2, 0  # where the last name ended
    while match := WRITTEN.search(text, at):
        start = match.start()
        if is_part_of_name(text[start - 1 : start]) or (start - 1 == named and text[named] == "."):
            named = at = match.end()  # p99, and all of v1.2.3
            continue
        read, at = numerals_at(text, match, comma)
        yield from read
    yield from in_words(text)
    yield from in_han(text)


@lru_cache(64)
def values_in(text: str) -> frozenset[str]:
    """Return every value that a cited text can be read to state.

    Digits in names count too, and those that blanks separate, and those of a program, `20_000`.
    """
    text = ascii_digits(text)
    comma = _may_have_decimal_comma(text)
    values: set[str] = set()
    at = 0
    while match := WRITTEN.search(text, at):
        read, at = numerals_at(text, match, comma)
        values.update(_all_values(read))
        if match["whole"] and " " in match["whole"]:  # it may be several numbers: `12 300`
            *groups, last = match["whole"].split(" ")
            values.update(plain(group) for group in groups if group.isdigit())
            values.add(plain(last, match["part"] or ""))
    values.update(_all_values(numerals(text)))
    if _IN_CODE.search(text):
        values |= values_in(_IN_CODE.sub("", text))
    return frozenset(values)


def _all_values(read: Iterable[Numeral]) -> Iterator[str]:
    for numeral in read:
        yield from (reading.value for reading in numeral.readings)
        yield from _all_values(numeral.parts)


def _may_have_decimal_comma(text: str) -> bool:
    """Return whether 1,5 and 1.000 may be written as on the European continent; figures without words are English."""
    text = text[:_LANGUAGE_CHARACTERS]
    words = [word for word in _WORD.findall(text) if len(word) > 2]
    if not any(word[0].islower() or word[0].isupper() or "\u0600" <= word[0] <= "\u06ff" for word in words):
        return False
    english = len(ENGLISH.findall(text))
    return not english or english <= len(FOREIGN.findall(text))
