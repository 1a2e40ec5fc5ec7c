"""How a text can be read: as it stands, with look-alikes as the letters they look like, and with its spelling undone.

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
    """Code point → what it is read as."""
    table: dict[int, str] = {}
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
    """The text and what else it can be read as, each once: decoded, folded, and with its spelling undone."""
    plain = _decoded(text)
    hidden = [found for found in revealed(text) if found.strip()]
    turned = [found[::-1] for found in _TURNED.findall(text)]
    folded = "\n".join([TAGS.sub("", plain), *hidden, *turned]).translate(lookalikes())
    return tuple(dict.fromkeys((text, folded, _respelled(folded))))


def revealed(text: str) -> Iterator[str]:
    """What is written in invisible letters, but for the flags of regions."""
    for found in TAGS.findall(_FLAG.sub("", text)):
        yield "".join(chr(ord(char) - 0xE0000) for char in found)


def _decoded(text: str) -> str:
    """Character references, per cent signs and escapes as the characters that they stand for."""
    if "&" in text:
        text = html.unescape(text)
    if len(_PERCENT.findall(text)) > 1:
        text = unquote(text, errors="replace")
    return _ESCAPED.sub(_character, text)


def _character(found: re.Match[str]) -> str:
    code = int(found[1] or found[2], 16)
    return found[0] if 0xD800 <= code < 0xE000 else chr(code)


def _respelled(text: str) -> str:
    """Spaced-out letters joined, marks of emphasis gone, digits and signs inside words as letters."""
    joined = _SPACED.sub(lambda found: found[0].replace(found[1], ""), text)
    return _TOKEN.sub(_unleet, _MARKUP.sub(" ", joined))


def _unleet(found: re.Match[str]) -> str:
    token = found[0]
    if len(token) > _LEET_CHARACTERS_MAX or not _LEET.search(token):
        return token
    return token.rstrip("!").translate(_AS_LETTERS)
