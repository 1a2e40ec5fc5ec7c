"""Disagreement by round as bars, with the line of its regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from moot.web.drawing.svg import linked_to, svg, titled

BAR_HEIGHT: Final = 120
BAR_WIDTH: Final = 34


@dataclass(frozen=True, slots=True)
class Bar:
    """A round: BROKEN, UNCLEAR and ROBUST verdicts; `stress` when a role was absent."""

    round: int
    broken: int
    unclear: int
    robust: int
    stress: bool
    address: str | None


def disagreement(bars: Sequence[Bar], slope: float | None) -> Markup:
    """Verdicts by round, BROKEN below, UNCLEAR above it; the line is the regression over rounds without stress."""
    most = max([4, *(bar.broken + bar.unclear + bar.robust for bar in bars)])
    unit = BAR_HEIGHT / most
    width = max(BAR_WIDTH * len(bars) + 20, 200)
    parts = [piece for n, bar in enumerate(bars) for piece in _bar(12 + n * BAR_WIDTH, unit, bar)]
    calm = [(n, bar.broken + bar.unclear) for n, bar in enumerate(bars) if not bar.stress]
    if slope is not None and len(calm) > 1:
        parts.append(_trend(calm, slope, unit))
    said = (
        f"disagreement by round; slope {slope:+.2f} a round" if slope is not None else "disagreement by round"
    )
    return svg(width, BAR_HEIGHT + 34, said, parts, "bars")


def _bar(x: float, unit: float, bar: Bar) -> list[Markup]:
    parts: list[Markup] = []
    y = float(BAR_HEIGHT)
    for count, tone in ((bar.broken, "bad"), (bar.unclear, "warn"), (bar.robust, "ghost")):
        if count:
            y -= count * unit
            parts.append(
                Markup('<rect x="{:.1f}" y="{:.1f}" width="22" height="{:.1f}" class="fill {}"/>').format(
                    x, y + 1, count * unit - 2, tone
                )
            )
    label = f"R{bar.round}{'*' if bar.stress else ''}"
    parts.append(
        Markup('<text x="{:.1f}" y="{}" class="tick">{}</text>').format(x + 11, BAR_HEIGHT + 16, label)
    )
    said = f"round {bar.round}: {bar.broken} BROKEN, {bar.unclear} UNCLEAR, {bar.robust} ROBUST"
    return [linked_to(bar.address, said, titled(said, Markup("").join(parts)))]


def _trend(calm: list[tuple[int, int]], slope: float, unit: float) -> Markup:
    mean_x = sum(x for x, _ in calm) / len(calm)
    mean_y = sum(y for _, y in calm) / len(calm)
    ends = [(x, mean_y + slope * (x - mean_x)) for x in (calm[0][0], calm[-1][0])]
    (x1, y1), (x2, y2) = [(12 + x * BAR_WIDTH + 11, BAR_HEIGHT - y * unit) for x, y in ends]
    return Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="trend"/>').format(
        x1, y1, x2, y2
    )
