"""Text for people: folding, lists, and a row of numbers as a row of blocks."""

from __future__ import annotations

import math
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


BLOCKS: Final = "▁▂▃▄▅▆▇█"


MISSING: Final = "·"


def sparkline(values: Sequence[float | None], top: float | None = None) -> str:
    """Return one block per value, from 0 to `top` (default: the greatest value); a dot for a missing value."""
    known = [value for value in values if value is not None]
    # A fixed top makes rows of several runs comparable.
    highest = top if top is not None else max(known, default=0.0)
    return "".join(MISSING if value is None else _block(value, highest) for value in values)


def log_sparkline(values: Sequence[float], top: float) -> str:
    """Return a sparkline on a logarithmic scale from 1 to `top`, for e-values, which grow by multiplication."""
    # An e-value can be 0, which has no logarithm.
    return sparkline([max(0.0, math.log10(max(value, 1e-9))) for value in values], math.log10(top))


def numbers(values: Sequence[float | None], share: bool) -> str:
    """Return the numbers of a sparkline: `7 6 · 4`, or `100 86 71 %` for shares."""
    text = " ".join(_number(value, share) for value in values)
    return f"{text} %" if share else text


def _number(value: float | None, share: bool) -> str:
    if value is None:
        return MISSING
    return f"{value * 100:.0f}" if share else f"{value:g}"


def _block(value: float, top: float) -> str:
    # All values may be 0, and dividing by that maximum would fail.
    if top <= 0 or value <= 0:
        return BLOCKS[0]
    return BLOCKS[min(len(BLOCKS) - 1, int(value / top * (len(BLOCKS) - 1) + 0.5))]
