"""Numbers as prose writes them, in any script.

    1,000   1 000   1'000.50   1.000,50   12,34,567   ١٬٠٠٠٫٥     separators of many countries
    40ms   12k   5 million   1.2万   1億2000万   5 लाख   三百二十       units and scales
    12 %   百分之五十七   ½   2/3   二分之一                           percent and fractions
    p99   SHA256   v1.2.3                                         names

`1.000` is a thousand in German and one in English, so a number may have several readings; two numbers agree when a reading of
one is a reading of the other. Patterns match from their first character on and cannot fail after it, so reading takes time in
proportion to the text, whoever wrote it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from ledger.language.words import ENGLISH, FOREIGN, is_part_of_name

DIGITS_MAX: Final = 30
"""A number of more digits is compared as it is written, and never calculated with."""
FREE_IN_WORDS: Final = 12
"""Numbers in words up to here are plain words."""

_GROUPING: Final = ",'’٬ \u00a0\u2009\u202f"
_WRITTEN: Final = re.compile(
    r"(?P<indian>[0-9]{1,2}(?:,[0-9]{2}){1,6},[0-9]{3}(?![0-9]))(?:\.(?P<rest>[0-9]+))?"
    r"|(?P<points>[0-9]{1,3}(?:\.[0-9]{3}){1,9}),(?P<after>[0-9]+)"
    r"|(?P<millions>[0-9]{1,3}(?:\.[0-9]{3}){2,9}(?![0-9]))"
    rf"|(?P<whole>[0-9]+(?:[{_GROUPING}][0-9]{{3}}(?![0-9]))*)(?:[.٫](?P<part>[0-9]+)|,(?P<comma>[0-9]+))?"
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
"""English word → the power of ten that it multiplies by; the words that may follow another number in words."""
_AFTER_BLANK: Final[dict[str, int]] = {
    **_SCALES,
    **{"millions": 6, "billions": 9, "trillion": 12, "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7, "bn": 9},
    **{"tausend": 3, "millionen": 6, "mio": 6, "milliarde": 9, "milliarden": 9, "mrd": 9, "billionen": 12},
    **{"mille": 3, "mil": 3, "millón": 6, "millones": 6, "milliard": 9, "milliards": 9, "milhões": 6, "milioni": 6},
    **{"тысяч": 3, "тысячи": 3, "тыс": 3, "миллион": 6, "миллиона": 6, "миллионов": 6, "млн": 6, "млрд": 9},
}
_LETTERS: Final = {"k": 3, "K": 3, "M": 6, "bn": 9}
"""Letters written directly after a number: 12k, 3M."""
_CASELESS: Final[dict[str, int]] = {
    unicodedata.normalize("NFKC", word): power
    for word, power in {
        **{"十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12},
        **{"십": 1, "백": 2, "천": 3, "만": 4, "억": 8, "조": 12},
        **{"ألف": 3, "آلاف": 3, "مليون": 6, "ملايين": 6, "مليار": 9, "هزار": 3, "میلیون": 6, "میلیارد": 9},
        **{"हज़ार": 3, "हजार": 3, "लाख": 5, "करोड़": 7, "พัน": 3, "หมื่น": 4, "แสน": 5, "ล้าน": 6},
    }.items()
}
_SCALE: Final = re.compile(
    rf"(?:{'|'.join(_LETTERS)})(?!\w)"
    rf"|[ \u00a0\u202f-]?(?:(?i:{'|'.join(sorted(_AFTER_BLANK, key=len, reverse=True))})(?!\w)"
    rf"|{'|'.join(sorted(_CASELESS, key=len, reverse=True))})"
)
# 千克 is a kilogram, and 3 千克 are not 3,000.
_KILO: Final = re.compile("千(?=[克米瓦卡赫字帕伏])")
_PERCENT: Final = re.compile(
    r"[ \u00a0\u202f-]?(?:[%٪]|(?i:per ?cent|pct|percentage|prozent\w*|pour cent|por ciento|por cento|percento|процент\w*)"
    r"|パーセント|プロセント|퍼센트|في المئة|بالمئة|في المائة|بالمائة|درصد|प्रतिशत|เปอร์เซ็นต์)"
)
_PER_MILLE: Final = re.compile("[ \u00a0\u202f]?[‰]")
_TENTHS: Final = re.compile("[成割](?![功为為立本果绩績長长员員])")
_PERCENT_BEFORE: Final = re.compile(r"(?:(?<![0-9])[%٪][ \u00a0]?|百分之|ร้อยละ ?)$")
_ABOUT: Final = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.?|c\.|etwa|rund|ungefähr|knapp|fast|environ"
    r"|presque|unos|unas|aproximadamente|casi|alrededor de|cerca de|около|примерно)\s+(?:a\s+|an\s+)?|[~≈≃∼～約约]\s*|大约|大概|将近"
    r"|近|およそ|ほぼ|약\s*|대략\s*|حوالي\s+|نحو\s+|تقريبا\s+|लगभग\s+|करीब\s+|ประมาณ\s*)[$€£¥₩₹]?\s?$",
    re.IGNORECASE,
)
_OR_SO: Final = re.compile(r"\w{0,2}(?:左右|上下|前後|程度|ほど|くらい|ぐらい|정도|가량)|\W?(?:or so|odd)\b")
_ABOUT_CHARACTERS: Final = 24
_LANGUAGE_CHARACTERS: Final = 20_000
"""Characters of a text by which its language is told."""
_REST: Final = re.compile("[0-9]{1,4}(?![0-9]|[.,][0-9])")
"""What follows a scale in 1億2000万."""
_WIDE_COMMA: Final = re.compile("(?<=[０-９])，(?=[０-９])")
_RATIO: Final = re.compile(r"[0-9]{1,6}/[0-9]{1,6}(?![0-9/])")
_VULGAR: Final = re.compile("[0-9]{1,6}⁄[0-9]{1,6}")
_MIXED: Final = re.compile(r"[0-9]{1,6}[ \u2064][0-9]{1,6}[/⁄][0-9]{1,6}(?![0-9/])")

_HAN_DIGITS: Final[dict[str, int]] = {
    **{digit: n for n, digit in enumerate("〇一二三四五六七八九")},
    **{"零": 0, "两": 2, "兩": 2},
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


class Reading(NamedTuple):
    """A value as plain digits or a fraction, and the decimals it was written with; of 12k they are -3."""

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
        """The first reading."""
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


# ---------------------------------------------------------------- numbers of a text


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the numbers that a text states: in digits, but for those inside a name, and in words above twelve."""
    text = ascii_digits(text)
    comma = _may_have_decimal_comma(text)
    named, at = -2, 0  # where the last name ended
    while match := _WRITTEN.search(text, at):
        start = match.start()
        if is_part_of_name(text[start - 1 : start]) or (start - 1 == named and text[named] == "."):
            named = at = match.end()  # p99, and all of v1.2.3
            continue
        found, at = _numerals_at(text, match, comma)
        yield from found
    yield from _in_words(text)
    yield from _in_han(text)


@lru_cache(64)
def values_in(text: str) -> frozenset[str]:
    """Return every value that a cited text can be read to state.

    Digits in names count too, and those that blanks separate, and those of a program, `20_000`.
    """
    text = ascii_digits(text)
    comma = _may_have_decimal_comma(text)
    values: set[str] = set()
    at = 0
    while match := _WRITTEN.search(text, at):
        found, at = _numerals_at(text, match, comma)
        values.update(_all_values(found))
        if match["whole"] and " " in match["whole"]:  # it may be several numbers: `12 300`
            *groups, last = match["whole"].split(" ")
            values.update(_plain(group) for group in groups if group.isdigit())
            values.add(_plain(last, match["part"] or ""))
    values.update(_all_values(_in_words(text)))
    values.update(_all_values(_in_han(text)))
    if _IN_CODE.search(text):
        values |= values_in(_IN_CODE.sub("", text))
    return frozenset(values)


def _all_values(found: Iterable[Numeral]) -> Iterator[str]:
    for numeral in found:
        yield from (reading.value for reading in numeral.readings)
        yield from _all_values(numeral.parts)


def number_at(text: str, at: int) -> tuple[Reading, int] | None:
    """Return the plain number at a place of `ascii_digits` text and where it ends, None where it is not a single one."""
    match = _WRITTEN.match(text, at)
    found = list(_by_separators(match, comma=False)) if match else []
    if match is None or len(found) != 1 or len(found[0].value) > DIGITS_MAX:
        return None
    reading = found[0].readings[0]
    scale = _SCALES.get(word[0].casefold(), 0) if (word := _WORD.match(text, match.end() + 1)) else 0
    if scale and text[match.end()] in " \u00a0-":
        return _scaled(reading, scale), match.end()
    return reading, match.end()


def ascii_digits(text: str) -> str:
    """Return the text with digits of every script as 0 … 9, and with fractions and circled digits spelled out."""
    if text.isascii():
        return text
    text = "".join(map(_spelled, _WIDE_COMMA.sub(",", text)))
    return _DIGIT.sub(lambda match: str(int(match[0])), text)


@lru_cache(4096)
def _spelled(character: str) -> str:
    if character in _GROUPING or character in "，、":
        return character  # a wide comma between words parts numbers
    form = unicodedata.decomposition(character).partition(" ")[0]
    plain = unicodedata.normalize("NFKC", character)
    if form in ("<super>", "<sub>") and plain.isdigit():
        return f"_{plain}"  # the 2 of m² is no number of its own
    # An invisible plus keeps the 1 of 1½ apart from its half.
    return f"\u2064{plain}" if "⁄" in plain else plain


def _may_have_decimal_comma(text: str) -> bool:
    """Return whether 1,5 and 1.000 may be written as on the European continent; figures without words are English."""
    text = text[:_LANGUAGE_CHARACTERS]
    words = [word for word in _WORD.findall(text) if len(word) > 2]
    if not any(word[0].islower() or word[0].isupper() or "\u0600" <= word[0] <= "\u06ff" for word in words):
        return False
    english = len(ENGLISH.findall(text))
    return not english or english <= len(FOREIGN.findall(text))


# ---------------------------------------------------------------- one number in digits


def _numerals_at(text: str, match: re.Match[str], comma: bool) -> tuple[list[Numeral], int]:
    """Return the numbers that begin at a match, and where they end."""
    mixed = _MIXED.match(text, match.start())
    ratio = mixed or _RATIO.match(text, match.start()) or _VULGAR.match(text, match.start())
    if ratio and (fraction := _ratio(ratio[0])):
        readings = tuple(_with_percent(text, ratio.start(), ratio.end(), [fraction]))
        numbers = re.findall("[0-9]+", ratio[0])
        parts = tuple(Numeral(number, (Reading(_plain(number), 0),)) for number in numbers)
        return [Numeral(ratio[0], readings, parts, _is_about(text, ratio.start(), ratio.end()))], ratio.end()
    found = list(_by_separators(match, comma))
    if text[match.start() - 1 : match.start()] == "." and not match["points"]:
        found = [_behind_point(found[0], text, match.start()), *found[1:]]
    last, end = found[-1], match.end()
    readings, end = _with_scale(text, end, list(last.readings))
    readings = list(_with_percent(text, match.start(), end, readings))
    parts = last.parts if end == match.end() else ()
    about = _is_about(text, match.start(), end)
    found[-1] = Numeral(last.written, tuple(readings), parts, about and len(found) == 1)
    return found, end


def _behind_point(numeral: Numeral, text: str, start: int) -> Numeral:
    """Return .5 as 0.5 where nothing is before its point."""
    before = text[max(0, start - 2) : start - 1]
    if before.isalnum() or before in (".", "_", ")") or not numeral.written.isdigit():
        return numeral
    return Numeral(f".{numeral.written}", (Reading(_plain("", numeral.written), len(numeral.written)),))


def _by_separators(match: re.Match[str], comma: bool) -> Iterator[Numeral]:
    """Yield a number, or several that only look like one: in `2019 100` the first has four digits."""
    if whole := match["indian"]:
        part = match["rest"] or ""
        yield Numeral(match[0], (Reading(_plain(whole.replace(",", ""), part), len(part)),))
    elif whole := match["points"]:
        yield Numeral(match[0], (Reading(_plain(whole.replace(".", ""), match["after"]), len(match["after"])),))
    elif whole := match["millions"]:
        yield Numeral(match[0], (Reading(_plain(whole.replace(".", "")), 0),))
    else:
        yield from _english(match, comma)


def _english(match: re.Match[str], comma: bool) -> Iterator[Numeral]:
    groups = re.split(f"[{_GROUPING}]", match["whole"])
    part, behind_comma = match["part"] or "", match["comma"] or ""
    if len(groups) > 1 and (len(groups[0]) > 3 or groups[0].startswith("0")):
        if comma and len(groups) == 2 and "," in match["whole"] and not part:  # 0,125
            yield Numeral(match[0], (Reading(_plain(*groups), len(groups[1])),), _single(groups))
            return
        yield from _single(groups[:-1])
        groups = groups[-1:]
    whole = "".join(groups)
    written = match["whole"] if len(groups) > 1 else whole
    if behind_comma:
        decimal = Reading(_plain(whole, behind_comma), len(behind_comma))
        yield Numeral(f"{written},{behind_comma}", (decimal,), _single((whole, behind_comma)))
        return
    readings = [Reading(_plain(whole, part), len(part))]
    if comma and len(groups) == 2 and "," in match["whole"] and not part:  # 1,250
        readings.append(Reading(_plain(*groups), 3))
    if comma and len(groups) == 1 and len(part) == 3 and len(whole) < 4 and not whole.startswith("0"):  # 1.000
        readings.append(Reading(_plain(whole + part), 0))
    yield Numeral(written + (f".{part}" if part else ""), tuple(readings))


def _single(groups: Iterable[str]) -> tuple[Numeral, ...]:
    return tuple(Numeral(group, (Reading(_plain(group), 0),)) for group in groups)


def _plain(whole: str, part: str = "") -> str:
    """Return plain digits: no zero in front, none behind the last decimal."""
    whole, part = whole.lstrip("0") or "0", part.rstrip("0")
    return f"{whole}.{part}" if part else whole


def _scaled(reading: Reading, power: int) -> Reading:
    """Return a reading with its point moved to the right, to the left where `power` is negative."""
    whole, _, part = reading.value.partition(".")
    if power >= 0:
        whole, part = whole + part[:power].ljust(power, "0"), part[power:]
    else:
        digits = whole.rjust(1 - power, "0")
        whole, part = digits[:power], digits[power:] + part
    return Reading(_plain(whole, part), reading.places - power)


def _with_scale(text: str, end: int, readings: list[Reading]) -> tuple[list[Reading], int]:
    """Return readings multiplied by the scale behind a number: 5 million, 1.2万, 1億2000万; and where it ends."""
    total: list[Reading] = []
    start = end
    while match := _SCALE.match(text, end):
        power = 0
        plain = [] if total or not _KILO.match(text, end) else readings
        while match:
            word = match[0].lstrip(" \u00a0\u202f-")
            power += _LETTERS.get(word) or _CASELESS.get(word) or _AFTER_BLANK[word.casefold()]
            end = match.end()
            match = _SCALE.match(text, end) if word in _CASELESS and text[end : end + 1] in _CASELESS else None
        scaled = [_scaled(reading, power) for reading in readings]
        total = [_sum(total[0], scaled[0])] if total else [*plain, *scaled]
        more = _REST.match(text, end)
        if more is None or word not in _CASELESS or end - start > 40:
            return total, end
        readings = [Reading(_plain(more[0]), 0)]
        end = more.end()
        if not _SCALE.match(text, end):
            return [_sum(total[0], readings[0])], end
    return total or readings, end


def _sum(one: Reading, other: Reading) -> Reading:
    if max(len(one.value), len(other.value)) > DIGITS_MAX or "/" in one.value + other.value:
        return one
    return Reading(_fraction(Fraction(one.value) + Fraction(other.value)), max(one.places, other.places))


def _with_percent(text: str, start: int, end: int, readings: list[Reading]) -> Iterator[Reading]:
    """Yield the readings of a number, and the share that it is with a percent sign: 57 % are 0.57."""
    yield from readings
    power = 0
    if _PERCENT.match(text, end) or _PERCENT_BEFORE.search(text, max(0, start - 8), start):
        power = -2
    elif _PER_MILLE.match(text, end):
        power = -3
    elif _TENTHS.match(text, end):
        power = -1
    for reading in readings if power else ():
        share = _scaled(reading, power) if "/" not in reading.value else reading
        # A whole share, 100 %, would stand wherever a 1 stands.
        if "." in share.value:
            yield share


def _is_about(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _ABOUT_CHARACTERS) : start]
    return _ABOUT.search(before) is not None or _OR_SO.match(text, end) is not None


def _ratio(written: str) -> Reading | None:
    """Return the value of 2/3 or 1 1/2; None where nothing can be divided."""
    *whole, above, below = (int(number) for number in re.findall("[0-9]+", written[:40]))
    if not below:
        return None
    return Reading(_fraction(Fraction(above, below) + (whole[0] if whole else 0)), 6)


def _fraction(value: Fraction) -> str:
    """Return plain digits where a fraction has an end, else the fraction itself."""
    for places in range(13):
        if (value * 10**places).denominator == 1:
            digits = str(int(value * 10**places)).rjust(places + 1, "0")
            return _plain(digits[: len(digits) - places], digits[len(digits) - places :])
    return str(value)


# ---------------------------------------------------------------- numbers in words


def _in_words(text: str) -> Iterator[Numeral]:
    """Yield numbers above twelve that are written in English words: `forty-five`, `two hundred`, `a million`."""
    run: list[str] = []
    begin = end = 0
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        between = text[end : match.start()]
        joined = between in (" ", "-", "\u00a0")
        if run and not (joined and (word in _IN_WORDS or word in _SCALES)):
            yield from _said(run, _is_about(text, begin, end))
            run = []
        starts = word in _IN_WORDS or (word in _SCALES and not (joined and text[end - 1 : end].isdigit()))
        if run or (starts and not _scales_digits(text, match.start())):
            begin = begin if run else match.start()
            run.append(word)
        end = match.end()
    yield from _said(run, _is_about(text, begin, end))


def _scales_digits(text: str, start: int) -> bool:
    """Return whether the word at `start` belongs to digits before it: the million of `5 million`."""
    return text[start - 1 : start] in (" ", "\u00a0", "-") and text[start - 2 : start - 1].isdigit()


def _said(run: list[str], about: bool) -> Iterator[Numeral]:
    total = part = 0
    for word in run[:20]:  # nobody says a number in more words
        if word in _IN_WORDS:
            part += _IN_WORDS[word]
        elif word == "hundred":
            part = (part or 1) * 100
        else:
            total, part = total + (part or 1) * 10 ** _SCALES[word], 0
    if total + part > FREE_IN_WORDS:
        yield Numeral(" ".join(run), (Reading(str(total + part), 0),), about=about)


def _in_han(text: str) -> Iterator[Numeral]:
    """Yield numbers in Chinese numerals: 三百二十, 零点五七, 百分之五十七, 二分之一; single ones up to twelve are words."""
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
            readings = [Reading(_plain(str(values[0]), digits), len(digits))]
        else:
            readings = [Reading(str(value), 0) for value in values]
        written = text[match.start() : at]
        ratio = _HAN_RATIO.search(text, max(0, match.start() - 2), match.start())
        if ratio is not None and ratio.end() == match.start():
            divisor = _HAN.search(text[max(0, ratio.start() - 6) : ratio.start()])
            below = 100 if divisor and divisor[0] == "百" else next(iter(_han_values(divisor[0])), 0) if divisor else 0
            shares = [Reading(_fraction(Fraction(one.value) / below), one.places + 2) for one in readings if below]
            readings = [*readings, *shares] if below == 100 else shares
        elif point is None and len(values) == 1 and values[0] <= FREE_IN_WORDS:
            continue
        if readings and not (_HAN_RATIO.match(text, at) or not values):
            yield Numeral(written, tuple(readings), about=_is_about(text, match.start(), at))


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
            section, digit, unit, skipped = section + (1 if digit is None else digit) * size, None, size, False
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
