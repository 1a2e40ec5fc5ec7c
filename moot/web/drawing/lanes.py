"""A claim's life as one line over the rounds, with a shape for every status that it took."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from moot.view.marks import STATUSES, mark_of
from moot.web.drawing.svg import horizontal, linked_to, svg, titled

LANE_WIDTH: Final = 260
LANE_HEIGHT: Final = 22


@dataclass(frozen=True, slots=True)
class Point:
    """A place on a claim's line: the round, the status from there on, what moved it, and where that is."""

    round: int
    status: str
    by: str
    address: str | None


def lane(born: int, points: Sequence[Point], rounds: int, alt: str) -> Markup:
    """A claim's life over the rounds: one line, a shape for every status that it took. Without `alt` it only shows."""
    parts: list[Markup] = [horizontal(_x(born, rounds), LANE_WIDTH - 6, LANE_HEIGHT / 2, "life")]
    places = [(_x(born, rounds), Point(born, "pending", "", None)), *_spread(points, rounds)]
    for (x, point), (following, _) in zip(places, [*places[1:], (LANE_WIDTH - 6.0, points)], strict=True):
        if point.status != "superseded":
            parts.append(
                horizontal(x, following, LANE_HEIGHT / 2, f"life {mark_of(STATUSES, point.status).tone}")
            )
    parts += [_shape(x, point) if alt else _drawn(x, point.status) for x, point in places]
    return svg(LANE_WIDTH, LANE_HEIGHT, alt, parts, "lane")


def axis(rounds: int, absent: Iterable[int]) -> Markup:
    """The rounds above the lanes; those without a role are marked."""
    step = max(1, -(-rounds // 13))
    stressed = set(absent)
    parts = [
        Markup('<text x="{:.1f}" y="14" class="{}">{}{}</text>').format(
            _x(n, rounds), "tick stress" if n in stressed else "tick", n, "*" if n in stressed else ""
        )
        for n in range(1, rounds + 1)
        if (n - 1) % step == 0 or (n in stressed and rounds <= 13)
    ]
    return svg(LANE_WIDTH, 18, "rounds; * marks those without a role", parts, "lane")


def _x(round_: int, rounds: int) -> float:
    width = LANE_WIDTH - 20
    return 8 + width * (max(1, round_) - 1) / max(1, rounds)


def _spread(points: Sequence[Point], rounds: int) -> list[tuple[float, Point]]:
    """Moves of one round stand side by side."""
    seen: dict[int, int] = {}
    placed: list[tuple[float, Point]] = []
    width = (LANE_WIDTH - 20) / max(1, rounds)
    for point in points:
        count = seen[point.round] = seen.get(point.round, 0) + 1
        placed.append((min(_x(point.round, rounds) + width * (0.3 + 0.25 * count), LANE_WIDTH - 8.0), point))
    return placed


def _shape(x: float, point: Point) -> Markup:
    word = mark_of(STATUSES, point.status).word
    said = f"{word} in round {point.round}" + (f" by {point.by}" if point.by else "")
    return linked_to(point.address, said, titled(said, _drawn(x, point.status)))


def _drawn(x: float, status: str) -> Markup:
    """Hollow, full, half and crossed: shapes that differ without colour."""
    drawn = {
        "pending": Markup('<circle cx="{0:.0f}" cy="11" r="4" class="hollow open"/>'),
        "tested_confirmed": Markup('<circle cx="{0:.0f}" cy="11" r="5" class="fill good"/>'),
        "tested_refuted": Markup('<path d="M{1:.0f} 6l10 10m0-10l-10 10" class="stroke bad"/>'),
        "partially_refuted": Markup(
            '<circle cx="{0:.0f}" cy="11" r="5" class="hollow part"/>'
            '<path d="M{0:.0f} 6a5 5 0 0 0 0 10z" class="fill part"/>'
        ),
        "tested_unclear": Markup('<rect x="{2:.0f}" y="7" width="8" height="8" class="hollow warn"/>'),
        "superseded": Markup('<path d="M{1:.0f} 11h8m-3-3l3 3l-3 3" class="stroke faint"/>'),
    }.get(status, Markup('<circle cx="{0:.0f}" cy="11" r="3" class="fill faint"/>'))
    return drawn.format(x, x - 5, x - 4)
