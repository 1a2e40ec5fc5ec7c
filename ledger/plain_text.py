"""Plain text: texts of a ledger made safe to show, and texts of files made into what a ledger holds.

A reply may hold terminal codes, bidirectional overrides or invisible characters. Each is shown as a visible mark:
`␛[31m` for an escape code, `<U+202E>` for an override. Only a line feed stays what it is. A file is decoded by its
byte order mark; its line ends become line feeds, color codes and form feeds go, and letters are composed (NFC), so that
a quote of them is found. A text that needs none of this stays as it is, byte for byte; other encodings and NUL bytes
are refused. A run records the size and SHA-256 of the text that seats saw.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, Final

from ledger.language import words

TAB: Final = "    "
PICTURES: Final = {chr(code): chr(0x2400 + code) for code in range(0x20)} | {"\x7f": "\u2421"}
"""Control character → its picture."""
UNSEEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
UNSEEN_LETTERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and marks that print as nothing."""
VARIATION: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
RUN: Final = re.compile(r"[^ -~]+")
"""Characters that are not plain ASCII: only among them is anything unseen, and only they stack."""
_RTL: Final = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
_RIGHT_TO_LEFT: Final = re.compile(f"{_RTL}(?:(?:(?!  )[^\nA-Za-z])*{_RTL})?")
"""Words that run from right to left, up to Latin letters or the next column."""
STACKED: Final = 3
"""Combining marks that one letter may carry; more would climb into other lines."""


def visible(text: str) -> str:
    """Return `text` with every invisible character replaced by a visible one; line feeds stay."""
    if text.isascii() and text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(
        line if line.isascii() and line.isprintable() else RUN.sub(_seen, line) for line in lines
    )


def isolated(text: str) -> str:
    """Return `visible` text whose words in Hebrew or Arabic cannot reorder what moot prints beside them.

    For a terminal or a page alone: the marks of Unicode around such words are invisible themselves.
    """
    return text if text.isascii() else _RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", text)


def json_escaped(json: str) -> str:
    r"""Return JSON text of the same meaning with nothing invisible but line feeds: `\u202e` replaces an override."""
    if json.isascii() and "\x7f" not in json:
        return json
    return "".join(
        _escape(character) if _is_unseen(character) and character != "\n" else character for character in json
    )


def one_line(text: str) -> str:
    """Return `visible` text with white space collapsed, for a line or a cell."""
    return " ".join(visible(text).split())


def shortened(text: str, columns: int) -> str:
    """Return one line of at most `columns` characters; a cut ends with `…`."""
    line = one_line(text)
    if len(line) <= columns:
        return line
    cut = line[: max(1, columns - 1)]
    head, _, tail = cut.rpartition(" ")
    return (head if head and len(tail) < columns // 3 else cut).rstrip(" ,;:.–-") + "…"


def some(words: Sequence[str], most: int, joint: str = ", ") -> str:
    """Return at most so many words, and how many more there are."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return joint.join(words[:most]) + more


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 claim`, `1,200 claims`, `2 replies`, `2 processes`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


def percent(points: float | Fraction) -> str:
    """Return points as a percentage, halves up."""
    # Formatting rounds halves to even: 52.5 would read 52%, and its lead over 47.5 would look smaller than it is.
    return f"{int(points + 0.5)}%"


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, on one line."""
    return words.first_sentence(one_line(text))


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, each on one line."""
    return words.sentences(one_line(text))


def _seen(run: re.Match[str]) -> str:
    marks: list[str] = []
    stack = 0
    for character in run[0]:
        # Dozens of combining marks on one letter would paint over the lines above it.
        stack = stack + 1 if unicodedata.combining(character) else 0
        marks.append(_name(character) if stack > STACKED else _mark(character))
    return "".join(marks)


def _mark(character: str) -> str:
    if character == "\n" or character == " " or character.isalnum():
        return _name(character) if character in UNSEEN_LETTERS else character
    if character == "\t":
        return TAB
    if character in PICTURES:
        return PICTURES[character]
    return _name(character) if _is_unseen(character) else character


def _is_unseen(character: str) -> bool:
    hidden = unicodedata.category(character) in UNSEEN_CATEGORIES
    return hidden or character in UNSEEN_LETTERS or VARIATION.match(character) is not None


def _escape(character: str) -> str:
    """Return a character as JSON writes it in ASCII: one or two UTF-16 units."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))


def _name(character: str) -> str:
    return f"<U+{ord(character):04X}>"


_MARKS: Final = (
    # The mark of UTF-32 begins with the one of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COLOR: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def encoding_of(content: bytes) -> str:
    """Return the encoding that a byte order mark names, or UTF-8."""
    return next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")


def without_mark(content: bytes) -> bytes:
    """Return content in UTF-8 without the mark that editors and shells of Windows put first."""
    name = encoding_of(content)
    try:
        return content if name == "utf-8" else content.decode(name).encode()
    except UnicodeError:
        return content  # the caller refuses what is no UTF-8


class NotText(ValueError):
    """Content that is not text; the message says what it is instead."""

    fix: ClassVar[str] = "save it as UTF-8, for example with `iconv -f WINDOWS-1252 -t UTF-8 FILE`"


def readable(content: bytes) -> str:
    """Return the plain text of a file. Raises `NotText`."""
    encoding = encoding_of(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        if b"\0" in content and encoding == "utf-8":
            raise NotText(what_has_nul(content.decode("latin-1"))) from None
        raise NotText(f"not {encoding.removesuffix('-sig').upper()} (byte {error.start})") from None
    if "\0" in text:
        raise NotText(what_has_nul(text))
    return plain_lines(text)


def what_has_nul(text: str) -> str:
    """Return what a text with NUL characters is: every other one in UTF-16 that was read as UTF-8."""
    begin = text[:1_000]
    is_wide = 3 * begin.count("\0") > len(begin)
    return "UTF-16 or UTF-32 without a byte order mark" if is_wide else "binary"


def plain_lines(text: str) -> str:
    """Return a text with line feeds alone, composed letters, and no control characters but line feeds and tabs."""
    if CONTROL.search(text):
        text = _COLOR.sub("", with_line_feeds(text)).replace("\f", "")
        text = CONTROL.sub(lambda match: PICTURES.get(match[0], "\ufffd"), text)
    return unicodedata.normalize("NFC", text)


def with_line_feeds(text: str) -> str:
    """Return a text whose lines end in line feeds alone."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n")
