"""Readings of a text: as written, with look-alikes as the letters they look like, and with its spelling undone.

Nothing here depends on the version of Python: the table of look-alikes is a file, made once for these rules.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import unquote

_TABLE: Final = Path(__file__).parent / "lookalikes.txt"
_NAMED: Final = {"nothing": "", "space": " "}
TAGS: Final = re.compile("[\U000e0020-\U000e007e]+")
"""ASCII once more, invisible, in a block that is meant for the flags of regions."""
_FLAG: Final = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")
_PERCENT: Final = re.compile(r"%[0-9a-fA-F]{2}")
_ESCAPED: Final = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_TURNED: Final = re.compile("\u202e([^\u202c\n]*)")
_SPACED: Final = re.compile(r"(?<![^\W_])[^\W_]([ \t._*·|/-])(?:[^\W_]\1)+[^\W_](?![^\W_])")
_MARKUP: Final = re.compile(r"[*_`~]+|(?<=\w)-(?=\w)")
_TOKEN: Final = re.compile(r"[\w@$!|]+")
_LEET: Final = re.compile(r"[0-9@$!|][a-z]|[a-z][0-9@$|]", re.IGNORECASE)
_LEET_CHARACTERS_MAX: Final = 40
_AS_LETTERS: Final = str.maketrans("013457@$!|", "oieastasil")


@cache
def lookalikes() -> Mapping[int, str]:
    """Map each code point to the text that it is read as."""
    table: dict[int, str] = {}
    # A file of these rules and not `unicodedata`: another Python must screen an old run with the same result.
    for line in _TABLE.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, *spans = line.split()
            for span in spans:
                first, _, last = span.partition("-")
                table |= dict.fromkeys(
                    range(int(first, 16), int(last or first, 16) + 1), _NAMED.get(name, name)
                )
    return table


def readings(text: str) -> tuple[str, ...]:
    """Return the text and its other readings, each once: decoded, folded, and with its spelling undone."""
    plain = _decoded(text)
    hidden = [letters for letters in revealed(text) if letters.strip()]
    # Text after a right-to-left override is displayed backward, so a hidden order is found in reverse.
    turned = [letters[::-1] for letters in _TURNED.findall(text)]
    folded = "\n".join([TAGS.sub("", plain), *hidden, *turned]).translate(lookalikes())
    return tuple(dict.fromkeys((text, folded, _respelled(folded))))


def revealed(text: str) -> Iterator[str]:
    """Yield text in invisible letters, except for the flags of regions."""
    # The flags of England, Scotland and Wales are spelled with the same invisible letters, and
    # are no hidden text.
    for letters in TAGS.findall(_FLAG.sub("", text)):
        yield "".join(chr(ord(char) - 0xE0000) for char in letters)


def _decoded(text: str) -> str:
    """Return the text with character references, percent signs and escapes decoded."""
    if "&" in text:
        text = html.unescape(text)
    # One percent sign with two digits occurs in ordinary text, such as "50%20"; two are an encoding.
    if len(_PERCENT.findall(text)) > 1:
        text = unquote(text, errors="replace")
    return _ESCAPED.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    # Half of a surrogate pair is no character, and encoding it later would fail.
    return match[0] if 0xD800 <= code < 0xE000 else chr(code)


def _respelled(text: str) -> str:
    """Return the text with spaced-out letters joined, marks of emphasis removed, and digits inside words as letters."""
    joined = _SPACED.sub(lambda match: match[0].replace(match[1], ""), text)
    return _TOKEN.sub(_unleet, _MARKUP.sub(" ", joined))


def _unleet(match: re.Match[str]) -> str:
    token = match[0]
    # Long tokens are hashes and URLs: rewriting their digits would only produce accidental words.
    if len(token) > _LEET_CHARACTERS_MAX or not _LEET.search(token):
        return token
    return token.rstrip("!").translate(_AS_LETTERS)
