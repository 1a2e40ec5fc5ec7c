"""Markdown that says what the text says: what a ledger holds stays text, never a heading, a link, an image or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from moot.render.plain_text import one_line, visible

_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>|~&$])")
_CODE: Final = re.compile(r"`([^`\n|\\]{1,200})`")
_AT_LINE_START: Final = re.compile(r"^(\s*)([#+=:-])|^(\s*\d{1,9})([.)])(?=\s|$)")
_ADDRESS: Final = re.compile(r"(?i)\b(https?|ftp|mailto)(?=:)|\bwww(?=\.)")


def inline(text: str) -> str:
    """A text on one line; code between single backticks stays code."""
    return _escaped_line(one_line(text))


def code(text: str) -> str:
    """A name or a reference as code, where it can be code."""
    line = one_line(text)
    return f"`{line}`" if line and not set(line) & set("`|\\") else inline(line)


def paragraphs(text: str, prefix: str = "") -> str:
    """A text with its lines, each behind `prefix` (`> ` for a quotation)."""
    lines = [_escaped_line(line.strip()) for line in visible(text).split("\n")]
    return "\n".join(f"{prefix}{line}".rstrip() for line in lines)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table as lines; nothing when there are no rows. Cells are Markdown already."""
    body = [f"| {' | '.join(cell or ' ' for cell in row)} |" for row in rows]
    if not body:
        return []
    return [f"| {' | '.join(heads)} |", f"|{'|'.join(' --- ' for _ in heads)}|", *body]


def _escaped_line(line: str) -> str:
    parts: list[str] = []
    end = 0
    for code in _CODE.finditer(line):
        parts += [_escaped(line[end : code.start()]), code[0]]
        end = code.end()
    parts.append(_escaped(line[end:]))
    return _AT_LINE_START.sub(_kept, "".join(parts))


def _kept(begins: re.Match[str]) -> str:
    """What would begin a heading, a rule or a list, as text."""
    before, mark = (begins[1], begins[2]) if begins[2] else (begins[3], begins[4])
    return f"{before}\\{mark}"


def _escaped(text: str) -> str:
    return _ADDRESS.sub(r"\g<0>\\", _SPECIAL.sub(r"\\\1", text))
