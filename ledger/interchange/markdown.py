"""Markdown escaping: the only escaper for everything that is written as Markdown.

Whatever a ledger holds stays text: it makes no heading, list, quotation, table, rule, link, image, footnote, formula,
code block or HTML. Text between two single backticks on one line stays code, because code can hold nothing else. A
value reaches a document only through a function here; the document's own words are written as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ledger.plain_text import one_line, visible

_SPECIAL: Final = re.compile(r"([\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_]))")
"""Underscores inside a word, as in `r1_critic`, never begin emphasis and stay as they are."""
_CODE: Final = re.compile(r"(?<!`)`([^`\n|\\]{1,200})`(?!`)")
_AT_LINE_START: Final = re.compile(r"^(\s*)([#+=:-])|^(\s*\d{1,9})([.)])(?=\s|$)")
_AT_LINE_END: Final = re.compile(r"(?<=\s)(#+)$")
"""Number signs that would close a heading and vanish."""
_DOMAINS: Final = (
    r"[^\W\d_]{2}|aero|app|asia|biz|cat|cloud|com|coop|dev|edu|gov|info|int|jobs|mil|mobi|museum|name|net"
    r"|online|org|page|post|pro|shop|site|store|tech|tel|top|travel|web|xxx|xyz|xn--[a-z0-9-]+"
)
"""Ends of names that linkifiers read as a host: `facts.md` and the step `r1.opening.pro` are such names."""
_ADDRESS: Final = re.compile(
    r"(?i)(?:https?|ftp|mailto|xmpp)(?=:)|www(?=\.)|(?<=[\w.+-])(?=@\w)|(?<!:)/(?=/)"
    rf"|(?<=\w)(?=\.(?:{_DOMAINS})(?![\w-]))"
)
"""Text that GitHub and others turn into a link by themselves; a backslash after it prevents that."""


def inline(text: str) -> str:
    """Return a text on one line, for a sentence, a heading, a list or a cell."""
    return _escaped_line(one_line(text))


def listed(texts: Iterable[str]) -> str:
    """Return `a, b, c`, each escaped as text."""
    return ", ".join(inline(text) for text in texts)


def code(text: str) -> str:
    """Return a name or a reference as code, or as escaped text where backticks or bars rule code out."""
    line = one_line(text)
    return f"`{line}`" if line and not set(line) & set("`|\\") else inline(line)


def quoted(text: str, prefix: str = "> ") -> str:
    """Return a text with its lines as a block quotation; `prefix` may put it into a list."""
    return _lines(text, prefix)


def paragraphs(text: str) -> str:
    """Return a text with its lines, as paragraphs of their own."""
    return _lines(text, "")


def block(text: str) -> str:
    """Return a text character by character, as an indented code block. Put an empty line before it."""
    return "\n".join(f"    {line}".rstrip() for line in visible(text).split("\n"))


def _lines(text: str, prefix: str) -> str:
    lines = [_escaped_line(line.strip()) for line in visible(text).split("\n")]
    return "\n".join(f"{prefix}{line}".rstrip() for line in lines)


def _escaped_line(line: str) -> str:
    parts: list[str] = []
    end = 0
    for span in _CODE.finditer(line):
        parts += [_escaped(line[end : span.start()]), span[0]]
        end = span.end()
    parts.append(_escaped(line[end:]))
    return _AT_LINE_END.sub(r"\\\1", _AT_LINE_START.sub(_kept, "".join(parts)))


def _kept(begins: re.Match[str]) -> str:
    """Escape what would begin a heading, a rule or a list."""
    before, mark = (begins[1], begins[2]) if begins[2] else (begins[3], begins[4])
    return f"{before}\\{mark}"


def _escaped(text: str) -> str:
    # Addresses come last: their backslash must not be escaped again.
    return _ADDRESS.sub(r"\g<0>\\", _SPECIAL.sub(r"\\\1", text))
