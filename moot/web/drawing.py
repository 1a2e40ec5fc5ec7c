"""SVG pictures without script and style attributes: lanes of claims, bars of verdicts, the evidence graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from ledger.plain_text import visible
from moot.view.marks import STATUSES, mark_of

LANE_WIDTH: Final = 260
LANE_HEIGHT: Final = 22
BAR_HEIGHT: Final = 120
SMALL_STEP, SMALL_WIDTH, SMALL_HEIGHT = 14, 10, 28
BAR_WIDTH: Final = 34
COLUMN_WIDTH: Final = 190
NODE_WIDTH: Final = 132
NODE_HEIGHT: Final = 26
LABEL_LENGTH: Final = 15
SHAPES: Final = {
    "pending": Markup('<circle cx="{0:.0f}" cy="11" r="4" class="hollow open"/>'),
    "tested_confirmed": Markup('<circle cx="{0:.0f}" cy="11" r="5" class="fill good"/>'),
    "tested_refuted": Markup('<path d="M{1:.0f} 6l10 10m0-10l-10 10" class="stroke bad"/>'),
    "partially_refuted": Markup(
        '<circle cx="{0:.0f}" cy="11" r="5" class="hollow part"/>'
        '<path d="M{0:.0f} 6a5 5 0 0 0 0 10z" class="fill part"/>'
    ),
    "tested_unclear": Markup('<rect x="{2:.0f}" y="7" width="8" height="8" class="hollow warn"/>'),
    "superseded": Markup('<path d="M{1:.0f} 11h8m-3-3l3 3l-3 3" class="stroke faint"/>'),
}
"""Hollow, full, half and crossed shapes: a claim's statuses differ even without color."""
OTHER: Final = Markup('<circle cx="{0:.0f}" cy="11" r="3" class="fill faint"/>')


class LanePoint(NamedTuple):
    """A place on a claim's lane: the round, the status from there on, what moved it, and where that is."""

    round: int
    status: str
    by: str
    address: str | None


class Bar(NamedTuple):
    """A round: BROKEN, UNCLEAR and ROBUST verdicts; `stress` when a role was absent."""

    round: int
    broken: int
    unclear: int
    robust: int
    stress: bool
    address: str | None


class Node(NamedTuple):
    """A node of the evidence graph: column (0 decision … 3 source), shape and class of its mark, address, alt text."""

    key: str
    column: int
    label: str
    shape: str
    tone: str
    address: str | None
    alt: str


def lane(born: int, points: Sequence[LanePoint], rounds: int, alt: str) -> Markup:
    """Draw a claim's life over the rounds: one line, and a shape for every status. Without `alt` it has no links."""
    parts = [_horizontal(_x(born, rounds), LANE_WIDTH - 6, "life")]
    places = [(_x(born, rounds), LanePoint(born, "pending", "", None)), *_spread(points, rounds)]
    for (x, point), (following, _) in zip(places, [*places[1:], (LANE_WIDTH - 6.0, points)], strict=True):
        # A superseded claim has ended, so its line ends there too.
        if point.status != "superseded":
            parts.append(_horizontal(x, following, f"life {mark_of(STATUSES, point.status).tone}"))
    parts += [_move(x, point) if alt else _shape(x, point.status) for x, point in places]
    return _svg(LANE_WIDTH, LANE_HEIGHT, alt, parts, "lane")


def small_bars(values: Sequence[float | None], top: float, alt: str) -> Markup:
    """Draw one bar for each round, from 0 to `top`; a short line where a round has no number."""
    parts: list[Markup] = []
    for place, value in enumerate(values):
        x = place * SMALL_STEP
        # No number is not 0: a bar of no height would hide the difference.
        if value is None or top <= 0:
            parts.append(
                Markup('<path d="M{0} {1}h{2}" class="stroke faint"/>').format(
                    x, SMALL_HEIGHT - 1, SMALL_WIDTH
                )
            )
            continue
        # At least a pixel, so that a small number still shows.
        height = max(1, round(min(1.0, value / top) * SMALL_HEIGHT))
        box = Markup('<rect x="{0}" y="{1}" width="{2}" height="{3}" class="fill ghost"/>')
        parts.append(box.format(x, SMALL_HEIGHT - height, SMALL_WIDTH, height))
    return _svg(max(1, len(values)) * SMALL_STEP, SMALL_HEIGHT, alt, parts, "course")


def axis(rounds: int, absent: Iterable[int]) -> Markup:
    """Draw the round numbers above the lanes; rounds without a role are marked."""
    # At most 13 numbers fit the width of a lane; the double minus rounds up.
    step = max(1, -(-rounds // 13))
    stressed = set(absent)
    parts = [
        Markup('<text x="{:.1f}" y="14" class="{}">{}{}</text>').format(
            _x(n, rounds), "tick stress" if n in stressed else "tick", n, "*" if n in stressed else ""
        )
        for n in range(1, rounds + 1)
        if (n - 1) % step == 0 or (n in stressed and rounds <= 13)
    ]
    return _svg(LANE_WIDTH, 18, "rounds; * marks those without a role", parts, "lane")


def _x(round_: int, rounds: int) -> float:
    return 8 + (LANE_WIDTH - 20) * (max(1, round_) - 1) / max(1, rounds)


def _spread(points: Sequence[LanePoint], rounds: int) -> list[tuple[float, LanePoint]]:
    """Place the moves of one round next to each other."""
    counts: dict[int, int] = {}
    placed: list[tuple[float, LanePoint]] = []
    width = (LANE_WIDTH - 20) / max(1, rounds)
    for point in points:
        # Moves of one round would otherwise be drawn over each other.
        count = counts[point.round] = counts.get(point.round, 0) + 1
        placed.append((min(_x(point.round, rounds) + width * (0.3 + 0.25 * count), LANE_WIDTH - 8.0), point))
    return placed


def _move(x: float, point: LanePoint) -> Markup:
    word = mark_of(STATUSES, point.status).word
    alt = f"{word} in round {point.round}" + (f" by {point.by}" if point.by else "")
    return _linked(point.address, alt, _shape(x, point.status))


def _shape(x: float, status: str) -> Markup:
    return SHAPES.get(status, OTHER).format(x, x - 5, x - 4)


def _horizontal(x1: float, x2: float, classes: str) -> Markup:
    return Markup('<path d="M{:.0f} {:.0f}H{:.0f}" class="{}"/>').format(x1, LANE_HEIGHT / 2, x2, classes)


def disagreement(bars: Sequence[Bar], slope: float | None) -> Markup:
    """Draw verdicts by round, BROKEN below UNCLEAR; the line is the regression over rounds without stress."""
    # At least 4, so that a single verdict does not fill the whole height.
    most = max([4, *(bar.broken + bar.unclear + bar.robust for bar in bars)])
    unit = BAR_HEIGHT / most
    width = max(BAR_WIDTH * len(bars) + 20, 200)
    parts = [_bar(12 + n * BAR_WIDTH, unit, bar) for n, bar in enumerate(bars)]
    calm = [(n, bar.broken + bar.unclear) for n, bar in enumerate(bars) if not bar.stress]
    alt = "disagreement by round"
    if slope is not None:
        alt += f"; slope {slope:+.2f} a round"
        parts += [_trend(calm, slope, unit)] if len(calm) > 1 else []
    return _svg(width, BAR_HEIGHT + 34, alt, parts, "bars")


def _bar(x: float, unit: float, bar: Bar) -> Markup:
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
    alt = f"round {bar.round}: {bar.broken} BROKEN, {bar.unclear} UNCLEAR, {bar.robust} ROBUST"
    return _linked(bar.address, alt, Markup("").join(parts))


def _trend(calm: list[tuple[int, int]], slope: float, unit: float) -> Markup:
    # A regression line passes through the means, so slope and means are enough to draw it.
    mean_x = sum(x for x, _ in calm) / len(calm)
    mean_y = sum(y for _, y in calm) / len(calm)
    ends = [(x, mean_y + slope * (x - mean_x)) for x in (calm[0][0], calm[-1][0])]
    (x1, y1), (x2, y2) = [(12 + x * BAR_WIDTH + 11, BAR_HEIGHT - y * unit) for x, y in ends]
    line = Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="trend"/>')
    return line.format(x1, y1, x2, y2)


def graph(nodes: Sequence[Node], edges: Iterable[tuple[str, str]], alt: str) -> Markup:
    """Draw a decision, what it cites, what tested that, and the sources of its quotes, from left to right."""
    columns: dict[int, list[Node]] = {}
    for node in nodes:
        columns.setdefault(node.column, []).append(node)
    # The picture is as high as its tallest column.
    tallest = max(map(len, columns.values()), default=1)
    pitch = NODE_HEIGHT + 8
    places = {
        node.key: (4.0 + column * COLUMN_WIDTH, 4 + (row + (tallest - len(stack)) / 2) * pitch)
        for column, stack in columns.items()  # shorter columns stand in the middle
        for row, node in enumerate(stack)
    }
    parts = [_edge(places[a], places[b]) for a, b in edges if a in places and b in places]
    parts += [_node(node, *places[node.key]) for node in nodes]
    width = 4 + max(columns, default=0) * COLUMN_WIDTH + NODE_WIDTH + 8
    return _svg(width, tallest * pitch + 8, alt, parts, "graph")


def _edge(a: tuple[float, float], b: tuple[float, float]) -> Markup:
    x1, y1 = a[0] + NODE_WIDTH, a[1] + NODE_HEIGHT / 2
    x2, y2 = b[0], b[1] + NODE_HEIGHT / 2
    middle = (x1 + x2) / 2
    path = f"M{x1:.0f} {y1:.0f}C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    return Markup('<path d="{}" class="edge"/>').format(path)


def _node(node: Node, x: float, y: float) -> Markup:
    text = visible(node.label)
    # SVG text does not wrap; the full text is in the tooltip.
    label = text if len(text) <= LABEL_LENGTH else text[: LABEL_LENGTH - 1] + "…"
    box = Markup(
        '<rect x="{:.0f}" y="{:.0f}" width="{}" height="{}" rx="5" class="node {}"/>'
        '<text x="{:.0f}" y="{:.0f}" class="shape {}">{}</text><text x="{:.0f}" y="{:.0f}" class="name">{}</text>'
    ).format(
        x, y, NODE_WIDTH, NODE_HEIGHT, node.tone, x + 9, y + 17, node.tone, node.shape, x + 24, y + 17, label
    )  # fmt: skip
    return _linked(node.address, node.alt, box)


def _svg(width: float, height: float, alt: str, parts: Iterable[Markup], kind: str) -> Markup:
    """Return the frame around a picture, in a fixed size, so that it never stretches.

    A picture with `alt` is a named group, because its links must stay reachable. One without is hidden from screen
    readers.
    """
    named = (
        Markup('role="group" aria-label="{}"').format(visible(alt)) if alt else Markup('aria-hidden="true"')
    )
    frame = Markup('<svg {} class="{}" width="{:.0f}" height="{:.0f}" viewBox="0 0 {:.0f} {:.0f}">').format(
        named, kind, width, height, width, height
    )
    return frame + Markup("").join(parts) + Markup("</svg>")


def _linked(address: str | None, alt: str, shape: Markup) -> Markup:
    """Return a shape with a tooltip and, where it has an address, a link."""
    titled = Markup("<g><title>{}</title>{}</g>").format(visible(alt), shape)
    if address is None:
        return titled
    return Markup('<a href="{}" aria-label="{}">{}</a>').format(address, visible(alt), titled)
