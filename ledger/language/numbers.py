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
from functools import lru_cache
from typing import Final

from ledger.language.digits import WRITTEN, ascii_digits, numerals_at
from ledger.language.number_words import in_han, in_words
from ledger.language.numeral import Numeral, plain
from ledger.language.words import ENGLISH, FOREIGN, is_part_of_name

_IN_CODE: Final = re.compile(r"(?<=[0-9])_(?=[0-9])")
"""What programs write between the digits of a long number: `20_000`."""
_WORD: Final = re.compile(r"[^\W\d_]+")
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
