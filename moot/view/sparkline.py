"""A row of numbers as a row of blocks, with the numbers beside it: nothing is said by height alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

BLOCKS: Final = "▁▂▃▄▅▆▇█"
MISSING: Final = "·"


def sparkline(values: Sequence[float | None], top: float | None = None) -> str:
    """One block a value, from 0 to `top` (the greatest value if not said); a dot where there is none."""
    known = [value for value in values if value is not None]
    highest = top if top is not None else max(known, default=0.0)
    return "".join(MISSING if value is None else _block(value, highest) for value in values)


def log_sparkline(values: Sequence[float], top: float) -> str:
    """The same on a logarithmic scale from 1 to `top`: for e-values, which bets multiply."""
    return sparkline([max(0.0, math.log10(max(value, 1e-9))) for value in values], math.log10(top))


def numbers(values: Sequence[float | None], share: bool) -> str:
    """The numbers of a sparkline: `7 6 · 4`, or `100 86 71 %` for shares."""
    shown = " ".join(_number(value, share) for value in values)
    return f"{shown} %" if share else shown


def _number(value: float | None, share: bool) -> str:
    if value is None:
        return MISSING
    return f"{value * 100:.0f}" if share else f"{value:g}"


def _block(value: float, top: float) -> str:
    if top <= 0 or value <= 0:
        return BLOCKS[0]
    return BLOCKS[min(len(BLOCKS) - 1, int(value / top * (len(BLOCKS) - 1) + 0.5))]
