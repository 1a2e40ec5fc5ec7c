"""Text of files as people keep them, made into the plain text that a ledger holds.

    byte order mark       UTF-8, UTF-16 and UTF-32 are decoded by it, and it is taken off
    CR LF, CR             a line feed, so that lines keep their numbers
    color codes           taken out
    form feed             taken out; other control characters become visible pictures, `␛` for U+001B
    decomposed letters    composed (NFC), so that a quote of them is found

A text that needs none of this stays as it is, byte for byte.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Final

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
    return content if name == "utf-8" else content.decode(name, "replace").encode()


def is_binary(content: bytes) -> bool:
    """Return whether content is no text: NUL bytes without a mark of an encoding that has them."""
    return b"\0" in content[:8_192] and encoding_of(content) in ("utf-8", "utf-8-sig")


def readable(content: bytes, errors: str = "strict") -> str:
    """Return the plain text of a file. Raises `UnicodeDecodeError`."""
    return plain_lines(content.decode(encoding_of(content), errors))


def plain_lines(text: str) -> str:
    """Return a text with line feeds alone, composed letters, and no control characters but line feeds and tabs."""
    if _CONTROL.search(text):
        text = _COLOR.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).replace("\f", "")
        text = _CONTROL.sub(_picture, text)
    return unicodedata.normalize("NFC", text)


def _picture(match: re.Match[str]) -> str:
    number = ord(match[0])
    return chr(_PICTURES + number) if number < 0x20 else "\u2421" if number == 0x7F else "\ufffd"
