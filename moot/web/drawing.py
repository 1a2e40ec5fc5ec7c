"""SVG pictures without script and style attributes: lanes of claims, bars of verdicts, the evidence graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from detectors.observations import Tally
from ledger.plain_text import visible
from ledger.state.book import grouped
from moot.view.claims import ClaimView
from moot.view.marks import STATUSES, mark_of
from moot.web.templating import Links

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


class Node(NamedTuple):
    """A node of the evidence graph: column (0 decision … 3 source), shape and class of its mark, address, alt text."""

    key: str
    column: int
    label: str
    shape: str
    tone: str
    address: str | None
    alt: str


def lane(claim: ClaimView, rounds: int, links: Links, *, named: bool) -> Markup:
    """Draw a claim's life over the rounds: one line, and a shape for every status. Only a named picture has links."""
    moves = [move for move in claim.history if move.counts]
    born = _x(claim.round, rounds)
    places = [born, *_spread([move.round for move in moves], rounds)]
    statuses = ["pending", *(move.to for move in moves)]
    parts = [_horizontal(born, LANE_WIDTH - 6, "life")]
    for x, following, status in zip(places, [*places[1:], LANE_WIDTH - 6.0], statuses, strict=True):
        # A superseded claim has ended, so its line ends there too.
        if status != "superseded":
            parts.append(_horizontal(x, following, f"life {mark_of(STATUSES, status).tone}"))
    shapes = [
        SHAPES.get(status, OTHER).format(x, x - 5, x - 4) for x, status in zip(places, statuses, strict=True)
    ]
    if named:
        shapes[0] = _linked(None, f"{STATUSES['pending'].word} in round {claim.round}", shapes[0])
        for n, move in enumerate(moves, 1):
            alt = f"{mark_of(STATUSES, move.to).word} in round {move.round} by {move.by}"
            shapes[n] = _linked(links.event(move.by), alt, shapes[n])
    alt = f"life of {claim.id} over the rounds" if named else ""
    return _svg(LANE_WIDTH, LANE_HEIGHT, alt, [*parts, *shapes], "lane")


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


def _spread(moved_in: Iterable[int], rounds: int) -> Iterator[float]:
    """Yield places for moves in these rounds, those of one round next to each other."""
    counts = Counter[int]()
    width = (LANE_WIDTH - 20) / max(1, rounds)
    for number in moved_in:
        # Moves of one round would otherwise be drawn over each other.
        counts[number] += 1
        yield min(_x(number, rounds) + width * (0.3 + 0.25 * counts[number]), LANE_WIDTH - 8.0)


def _horizontal(x1: float, x2: float, classes: str) -> Markup:
    return Markup('<path d="M{:.0f} {:.0f}H{:.0f}" class="{}"/>').format(x1, LANE_HEIGHT / 2, x2, classes)


def disagreement(tallies: Sequence[Tally], slope: float | None, links: Links) -> Markup:
    """Draw verdicts by round, BROKEN below UNCLEAR; the line is the regression over rounds without stress."""
    # At least 4, so that a single verdict does not fill the whole height.
    most = max([4, *(tally.disagreement + len(tally.robust) for tally in tallies)])
    unit = BAR_HEIGHT / most
    width = max(BAR_WIDTH * len(tallies) + 20, 200)
    parts = [_bar(12 + n * BAR_WIDTH, unit, tally, links) for n, tally in enumerate(tallies)]
    calm = [(n, tally.disagreement) for n, tally in enumerate(tallies) if not tally.stress]
    alt = "disagreement by round"
    if slope is not None:
        alt += f"; slope {slope:+.2f} a round"
        parts += [_trend(calm, slope, unit)] if len(calm) > 1 else []
    return _svg(width, BAR_HEIGHT + 34, alt, parts, "bars")


def _bar(x: float, unit: float, tally: Tally, links: Links) -> Markup:
    parts: list[Markup] = []
    y = float(BAR_HEIGHT)
    unclear, robust = tally.disagreement - tally.broken, len(tally.robust)
    for count, tone in ((tally.broken, "bad"), (unclear, "warn"), (robust, "ghost")):
        if count:
            y -= count * unit
            box = Markup('<rect x="{:.1f}" y="{:.1f}" width="22" height="{:.1f}" class="fill {}"/>')
            parts.append(box.format(x, y + 1, count * unit - 2, tone))
    label = f"R{tally.round}{'*' if tally.stress else ''}"
    parts.append(
        Markup('<text x="{:.1f}" y="{}" class="tick">{}</text>').format(x + 11, BAR_HEIGHT + 16, label)
    )
    alt = f"round {tally.round}: {tally.broken} BROKEN, {unclear} UNCLEAR, {robust} ROBUST"
    return _linked(links.round(tally.round), alt, Markup("").join(parts))


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
    columns = grouped((node.column, node) for node in nodes)
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
