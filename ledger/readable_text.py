"""Text of files as people keep them, made into the plain text that a ledger holds.

    byte order mark       UTF-8, UTF-16 and UTF-32 are decoded by it, and it is taken off
    CR LF, CR, NEL        a line feed, so that lines keep their numbers
    color codes           taken out
    form feed             taken out; other control characters become visible pictures, `␛` for U+001B
    decomposed letters    composed (NFC), so that a quote of them is found

A text that needs none of this stays as it is, byte for byte. Other content is refused: other encodings and NUL bytes.

A run records the size and SHA-256 of the text that seats saw. They differ from those of a file that was changed here.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import ClassVar, Final

_MARKS: Final = (
    # The mark of UTF-32 begins with the one of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COLOR: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PICTURES: Final = 0x2400


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
    if _CONTROL.search(text):
        text = _COLOR.sub("", with_line_feeds(text)).replace("\f", "")
        text = _CONTROL.sub(_picture, text)
    return unicodedata.normalize("NFC", text)


def with_line_feeds(text: str) -> str:
    """Return a text whose lines end in line feeds alone."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x85", "\n")


def _picture(match: re.Match[str]) -> str:
    number = ord(match[0])
    return chr(_PICTURES + number) if number < 0x20 else "\u2421" if number == 0x7F else "\ufffd"
