"""The evidence graph: a decision, what it cites, what tested that, and where the quoted sentences stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from ledger.plain_text import visible
from moot.web.drawing.svg import linked_to, svg, titled

COLUMN_WIDTH: Final = 190
NODE_WIDTH: Final = 132
NODE_HEIGHT: Final = 26


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the evidence graph: its column (0 decision … 3 source), its mark's shape and tone, its address."""

    key: str
    column: int
    label: str
    shape: str
    tone: str
    address: str | None
    said: str


def graph(nodes: Sequence[Node], edges: Iterable[tuple[str, str]], alt: str) -> Markup:
    """Decision, what it cites, what tested that, and the sources of the quoted sentences, from left to right."""
    rows: dict[int, int] = {}
    places: dict[str, tuple[float, float]] = {}
    for node in nodes:
        row = rows[node.column] = rows.get(node.column, -1) + 1
        places[node.key] = (4 + node.column * COLUMN_WIDTH, 4.0 + row * (NODE_HEIGHT + 8))
    tallest = max(rows.values(), default=0)
    height = (tallest + 1) * (NODE_HEIGHT + 8) + 8
    for column, last in rows.items():  # shorter columns stand in the middle
        shift = (tallest - last) * (NODE_HEIGHT + 8) / 2
        for node in nodes:
            if node.column == column:
                x, y = places[node.key]
                places[node.key] = (x, y + shift)
    drawn = [_edge(places[a], places[b]) for a, b in edges if a in places and b in places]
    drawn += [_node(node, places[node.key]) for node in nodes]
    width = 4 + max((node.column for node in nodes), default=0) * COLUMN_WIDTH + NODE_WIDTH + 8
    return svg(width, height, alt, drawn, "graph")


def _edge(a: tuple[float, float], b: tuple[float, float]) -> Markup:
    x1, y1 = a[0] + NODE_WIDTH, a[1] + NODE_HEIGHT / 2
    x2, y2 = b[0], b[1] + NODE_HEIGHT / 2
    middle = (x1 + x2) / 2
    path = f"M{x1:.0f} {y1:.0f}C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    return Markup('<path d="{}" class="edge"/>').format(path)


def _node(node: Node, place: tuple[float, float]) -> Markup:
    x, y = place
    shown = visible(node.label)
    label = shown if len(shown) <= 15 else shown[:14] + "…"
    box = Markup(
        '<rect x="{:.0f}" y="{:.0f}" width="{}" height="{}" rx="5" class="node {}"/>'
        '<text x="{:.0f}" y="{:.0f}" class="shape {}">{}</text><text x="{:.0f}" y="{:.0f}" class="name">{}</text>'
    ).format(
        x, y, NODE_WIDTH, NODE_HEIGHT, node.tone, x + 9, y + 17, node.tone, node.shape, x + 24, y + 17, label
    )  # fmt: skip
    return linked_to(node.address, node.said, titled(node.said, box))
