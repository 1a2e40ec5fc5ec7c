"""One number in digits: separators of many countries, scales, percent signs and fractions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final

from ledger.language.number_signs import (
    AFTER_BLANK,
    CASELESS,
    KILO,
    LETTERS,
    PER_MILLE,
    PERCENT,
    PERCENT_BEFORE,
    SCALE,
    SCALES,
    TENTHS,
    is_about,
)
from ledger.language.numeral import DIGITS_MAX, Numeral, Reading, fraction, plain, scaled

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
