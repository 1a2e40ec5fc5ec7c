"""Text for people: folding, lists, and rows of numbers."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

WIDTH = 100


def folded(text: str, indent: int = 2, width: int = WIDTH) -> list[str]:
    """Return a text over several lines, indented."""
    margin = " " * indent
    # `wrap` returns no line for an empty text, and a paragraph must not vanish.
    return textwrap.wrap(text, width, initial_indent=margin, subsequent_indent=margin) or [margin.rstrip()]


def joined(lines: Iterable[str]) -> str:
    """Return lines as a text that ends with a line feed; empty when there are none."""
    text = "\n".join(lines)
    return f"{text}\n" if text else ""


def listed(words: Sequence[str], nothing: str = "none") -> str:
    """Return `a, b, c`, or the word for nothing."""
    return ", ".join(words) or nothing


MISSING: Final = "·"


def numbers(values: Sequence[float | None], share: bool) -> str:
    """Return a number for each round: `7 6 · 4`, or `100 86 71 %` for shares."""
    text = " ".join(_number(value, share) for value in values)
    return f"{text} %" if share else text


def _number(value: float | None, share: bool) -> str:
    if value is None:
        return MISSING
    return f"{value * 100:.0f}" if share else f"{value:g}"
