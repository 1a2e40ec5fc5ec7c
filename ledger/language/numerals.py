"""Numerals: a number in digits with the signs around it, what it may mean, and whether it rounds another one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
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


SCALES: Final[dict[str, int]] = {"hundred": 2, "thousand": 3, "million": 6, "billion": 9}
"""English word → the power of ten that it multiplies by; the words that may follow another number in words."""
AFTER_BLANK: Final[dict[str, int]] = {
    **SCALES,
    "millions": 6, "billions": 9, "trillion": 12, "lakh": 5, "lakhs": 5, "crore": 7, "crores": 7, "bn": 9,
    "tausend": 3, "millionen": 6, "mio": 6, "milliarde": 9, "milliarden": 9, "mrd": 9, "billionen": 12,
    "mille": 3, "mil": 3, "millón": 6, "millones": 6, "milliard": 9, "milliards": 9, "milhões": 6, "milioni": 6,
    "тысяч": 3, "тысячи": 3, "тыс": 3, "миллион": 6, "миллиона": 6, "миллионов": 6, "млн": 6, "млрд": 9,
}  # fmt: skip
LETTERS: Final = {"k": 3, "K": 3, "M": 6, "bn": 9}
"""Letters written directly after a number: 12k, 3M."""
CASELESS: Final[dict[str, int]] = {
    unicodedata.normalize("NFKC", word): power
    for word, power in {
        "十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "億": 8, "亿": 8, "兆": 12,
        "십": 1, "백": 2, "천": 3, "만": 4, "억": 8, "조": 12,
        "ألف": 3, "آلاف": 3, "مليون": 6, "ملايين": 6, "مليار": 9, "هزار": 3, "میلیون": 6, "میلیارد": 9,
        "हज़ार": 3, "हजार": 3, "लाख": 5, "करोड़": 7, "พัน": 3, "หมื่น": 4, "แสน": 5, "ล้าน": 6,
    }.items()
}  # fmt: skip
SCALE: Final = re.compile(
    rf"(?:{'|'.join(LETTERS)})(?!\w)"
    rf"|[ \u00a0\u202f-]?(?:(?i:{'|'.join(sorted(AFTER_BLANK, key=len, reverse=True))})(?!\w)"
    rf"|{'|'.join(sorted(CASELESS, key=len, reverse=True))})"
)
# 千克 is a kilogram, and 3 千克 are not 3,000.
KILO: Final = re.compile("千(?=[克米瓦卡赫字帕伏])")
PERCENT: Final = re.compile(
    r"[ \u00a0\u202f-]?(?:[%٪]|(?i:per ?cent|pct|prozent\w*|pour cent|por ciento|por cento|percento|процент\w*)"
    r"|パーセント|プロセント|퍼센트|في المئة|بالمئة|في المائة|بالمائة|درصد|प्रतिशत|เปอร์เซ็นต์)"
)
PER_MILLE: Final = re.compile("[ \u00a0\u202f]?[‰]")
TENTHS: Final = re.compile("[成割](?![功为為立本果绩績長长员員])")
PERCENT_BEFORE: Final = re.compile(r"(?:(?<![0-9])[%٪][ \u00a0]?|百分之|ร้อยละ ?)$")
_ABOUT: Final = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|circa|ca\.?|c\."
    r"|etwa|rund|ungefähr|knapp|fast|environ|presque|unos|unas"
    r"|aproximadamente|casi|alrededor de|cerca de|около|примерно)\s+(?:a\s+|an\s+)?"
    r"|[~≈≃∼～約约]\s*|大约|大概|将近|近|およそ|ほぼ|약\s*|대략\s*|حوالي\s+|نحو\s+|تقريبا\s+|लगभग\s+|करीब\s+|ประมาณ\s*)[$€£¥₩₹]?\s?$",
    re.IGNORECASE,
)
_OR_SO: Final = re.compile(r"\w{0,2}(?:左右|上下|前後|程度|ほど|くらい|ぐらい|정도|가량)|\W?(?:or so|odd)\b")
_ABOUT_CHARACTERS: Final = 24


def is_about(text: str, start: int, end: int) -> bool:
    """Return whether the text around a number says that it is approximate."""
    before = text[max(0, start - _ABOUT_CHARACTERS) : start]
    return _ABOUT.search(before) is not None or _OR_SO.match(text, end) is not None


_GROUPING: Final = ",'’٬ \u00a0\u2009\u202f"
WRITTEN: Final = re.compile(
    r"(?P<indian>[0-9]{1,2}(?:,[0-9]{2}){1,6},[0-9]{3}(?![0-9]))(?:\.(?P<rest>[0-9]+))?"
    r"|(?P<points>[0-9]{1,3}(?:\.[0-9]{3}){1,9}),(?P<after>[0-9]+)"
    r"|(?P<millions>[0-9]{1,3}(?:\.[0-9]{3}){2,9}(?![0-9]))"
    rf"|(?P<whole>[0-9]+(?:[{_GROUPING}][0-9]{{3}}(?![0-9]))*)(?:[.٫](?P<part>[0-9]+)|,(?P<comma>[0-9]+))?"
)
_DIGIT: Final = re.compile(r"\d")
_WORD: Final = re.compile(r"[^\W\d_]+")
_RATIO: Final = re.compile(r"[0-9]{1,6}/[0-9]{1,6}(?![0-9/])")
_VULGAR: Final = re.compile("[0-9]{1,6}⁄[0-9]{1,6}")
_MIXED: Final = re.compile(r"[0-9]{1,6}[ \u2064][0-9]{1,6}[/⁄][0-9]{1,6}(?![0-9/])")
_REST: Final = re.compile("[0-9]{1,4}(?![0-9]|[.,][0-9])")
"""What follows a scale in 1億2000万."""
_WIDE_COMMA: Final = re.compile("(?<=[０-９])，(?=[０-９])")


def number_at(text: str, at: int) -> tuple[Reading, int] | None:
    """Return the plain number at a place of a text and where it ends; None where there is not exactly one."""
    match = WRITTEN.match(text, at)
    numerals = list(_by_separators(match, comma=False)) if match else []
    if match is None or len(numerals) != 1 or len(numerals[0].value) > DIGITS_MAX:
        return None
    reading = numerals[0].readings[0]
    scale = SCALES.get(word[0].casefold(), 0) if (word := _WORD.match(text, match.end() + 1)) else 0
    if scale and text[match.end()] in " \u00a0-":
        return scaled(reading, scale), match.end()
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
    return f"\u2064{plain}" if "⁄" in plain[1:] else plain


def numerals_at(text: str, match: re.Match[str], comma: bool) -> tuple[list[Numeral], int]:
    """Return the numbers that begin at a match, and where they end."""
    mixed = _MIXED.match(text, match.start())
    ratio = mixed or _RATIO.match(text, match.start()) or _VULGAR.match(text, match.start())
    if ratio and (fraction := _ratio(ratio[0])):
        shares = tuple(_with_percent(text, ratio.start(), ratio.end(), [fraction]))
        parts = _single(re.findall("[0-9]+", ratio[0]))
        if mixed and (rest := _ratio(re.split("[ \u2064]", mixed[0])[1])):
            parts = (parts[0], Numeral(mixed[0], (rest,), parts[1:]))
        return [Numeral(ratio[0], shares, parts, is_about(text, ratio.start(), ratio.end()))], ratio.end()
    numerals = list(_by_separators(match, comma))
    if text[match.start() - 1 : match.start()] == "." and not match["points"]:
        numerals = [_behind_point(numerals[0], text, match.start()), *numerals[1:]]
    last, end = numerals[-1], match.end()
    readings, end = _with_scale(text, end, list(last.readings))
    readings = list(_with_percent(text, match.start(), end, readings))
    parts = last.parts if end == match.end() else ()
    about = is_about(text, match.start(), end)
    numerals[-1] = Numeral(last.written, tuple(readings), parts, about and len(numerals) == 1)
    return numerals, end


def _behind_point(numeral: Numeral, text: str, start: int) -> Numeral:
    """Return .5 as 0.5 where nothing is before its point."""
    before = text[max(0, start - 2) : start - 1]
    if before.isalnum() or before in (".", "_", ")") or not numeral.written.isdigit():
        return numeral
    return Numeral(f".{numeral.written}", (Reading(plain("", numeral.written), len(numeral.written)),))


def _by_separators(match: re.Match[str], comma: bool) -> Iterator[Numeral]:
    """Yield a number, or several that only look like one: in `2019 100` the first has four digits."""
    if whole := match["indian"]:
        part = match["rest"] or ""
        yield Numeral(match[0], (Reading(plain(whole.replace(",", ""), part), len(part)),))
    elif whole := match["points"]:
        yield Numeral(
            match[0], (Reading(plain(whole.replace(".", ""), match["after"]), len(match["after"])),)
        )
    elif whole := match["millions"]:
        yield Numeral(match[0], (Reading(plain(whole.replace(".", "")), 0),))
    else:
        yield from _english(match, comma)


def _english(match: re.Match[str], comma: bool) -> Iterator[Numeral]:
    groups = re.split(f"[{_GROUPING}]", match["whole"])
    part, behind_comma = match["part"] or "", match["comma"] or ""
    if len(groups) > 1 and (len(groups[0]) > 3 or groups[0].startswith("0")):
        if comma and len(groups) == 2 and "," in match["whole"] and not part:  # 0,125
            yield Numeral(match[0], (Reading(plain(*groups), len(groups[1])),), _single(groups))
            return
        yield from _single(groups[:-1])
        groups = groups[-1:]
    whole = "".join(groups)
    written = match["whole"] if len(groups) > 1 else whole
    if behind_comma:
        decimal = Reading(plain(whole, behind_comma), len(behind_comma))
        yield Numeral(f"{written},{behind_comma}", (decimal,), _single((whole, behind_comma)))
        return
    readings = [Reading(plain(whole, part), len(part))]
    if comma and len(groups) == 2 and "," in match["whole"] and not part:  # 1,250
        readings.append(Reading(plain(*groups), 3))
    if (
        comma and len(groups) == 1 and len(part) == 3 and len(whole) < 4 and not whole.startswith("0")
    ):  # 1.000
        readings.append(Reading(plain(whole + part), 0))
    yield Numeral(written + (f".{part}" if part else ""), tuple(readings))


def _single(groups: Iterable[str]) -> tuple[Numeral, ...]:
    return tuple(Numeral(group, (Reading(plain(group), 0),)) for group in groups)


def _with_scale(text: str, end: int, readings: list[Reading]) -> tuple[list[Reading], int]:
    """Return readings multiplied by the scale after a number (5 million, 1.2万, 1億2000万), and where it ends."""
    total: list[Reading] = []
    start = end
    scale = SCALE.match(text, end)
    while scale is not None:
        power, word = 0, ""
        unscaled = [] if total or not KILO.match(text, end) else readings
        while scale is not None:
            word = scale[0].lstrip(" \u00a0\u202f-")
            # A dotless i is matched like an i, and is in no table.
            power += LETTERS.get(word) or CASELESS.get(word) or AFTER_BLANK.get(word.casefold(), 0)
            end = scale.end()
            scale = SCALE.match(text, end) if word in CASELESS and text[end : end + 1] in CASELESS else None
        moved = [scaled(reading, power) for reading in readings]
        total = [_sum(total[0], moved[0])] if total else [*unscaled, *moved]
        more = _REST.match(text, end)
        if more is None or word not in CASELESS or end - start > 40:
            return total, end
        readings = [Reading(plain(more[0]), 0)]
        end = more.end()
        scale = SCALE.match(text, end)
        if scale is None:
            return [_sum(total[0], readings[0])], end
    return total or readings, end


def _sum(first: Reading, other: Reading) -> Reading:
    if max(len(first.value), len(other.value)) > DIGITS_MAX or "/" in first.value + other.value:
        return first
    return Reading(fraction(Fraction(first.value) + Fraction(other.value)), max(first.places, other.places))


def _with_percent(text: str, start: int, end: int, readings: list[Reading]) -> Iterator[Reading]:
    """Yield the readings of a number, and the share that it is with a percent sign: 57 % are 0.57."""
    yield from readings
    power = 0
    if PERCENT.match(text, end) or PERCENT_BEFORE.search(text, max(0, start - 8), start):
        power = -2
    elif PER_MILLE.match(text, end):
        power = -3
    elif TENTHS.match(text, end):
        power = -1
    for reading in readings if power else ():
        share = scaled(reading, power) if "/" not in reading.value else reading
        # A whole share, 100 %, would match every 1 in a text.
        if "." in share.value:
            yield share


@lru_cache(1024)
def _ratio(written: str) -> Reading | None:
    """Return the value of 2/3 or 1 1/2; None where nothing can be divided."""
    *whole, above, below = (int(number) for number in re.findall("[0-9]+", written[:40]))
    if not below:
        return None
    return Reading(fraction(Fraction(above, below) + (whole[0] if whole else 0)), 6)
