"""Grounds of a decision or a claim as a tree in which every node is shown once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ledger.plain_text import one_line, shortened
from ledger.result import Result
from ledger.state.book import Book
from moot.view.grounds import DEPTH_MAX, Ground, ground_of, ground_standing
from moot.view.text import WIDTH, joined

LINES = 60
"""Maximum lines unless all are requested; omitted nodes are counted with a pointer."""
ENDLESS = 1000
"""A depth beyond any ledger."""


class WhyQuote(Result, frozen=True):
    """Evidence: where it stands, the words, who wrote them; `holds` is null where nobody can look."""

    ref: str
    words: str | None
    by: str | None
    holds: bool | None


class WhyNode(Result, frozen=True):
    """One thing that something rests on, `depth` below it.

    `again`: it is told elsewhere in the tree; `below`: how many nodes are left out there. `class` is the class of a
    claim's evidence, null where the ledger has none; `tested` says how it, or this move of it, came about, and `told`
    how it stands, in words.
    """

    id: str
    kind: str
    relation: str
    by: str
    standing: str
    text: str
    depth: int
    again: bool
    below: int
    quotes: list[WhyQuote]
    class_: str | None = msgspec.field(name="class")
    tested: str
    told: str


class Why(Result, frozen=True):
    """What `id` rests on: the first node is the thing itself."""

    run: str
    id: str
    nodes: list[WhyNode]


def why_of(run: str, book: Book, identity: str, *, everything: bool = False) -> Why:
    """Return the tree under an id; without `everything` to depth 3, and shallower where that is too long."""
    nodes = list(_tree(book, identity, ENDLESS if everything else DEPTH_MAX))
    return Why(run=run, id=identity, nodes=nodes if everything else _fitting(nodes))


def _tree(book: Book, identity: str, deepest: int) -> Iterator[WhyNode]:
    """Yield every node at its place nearest to the top; repeated nodes are only named."""
    # Two levels at a time: decisions are expanded here, so that each is expanded only once.
    root = ground_of(book, identity, 2)
    named, under = {root.id}, dict[str, list[tuple[Ground, bool]]]()
    queue = [(root, 0)]
    for ground, depth in queue:  # grows while it is read
        cited = ground_of(book, ground.id, 2).under if ground.kind == "decision" else ground.under
        under[ground.id] = []
        for child in cited if depth < deepest else ():
            # A node that was named before is a reference, which also ends cycles.
            again = child.id in named
            named.add(child.id)
            under[ground.id].append((child, again))
            if not again:
                queue.append((child, depth + 1))
    # Grounds below the depth limit are counted, so that a cut never looks like the end.
    left = {ground.id: 0 if under[ground.id] else len(ground.under) for ground, _ in queue}
    yield from _nodes(root, 0, under, left, again=False)


def _nodes(
    ground: Ground,
    depth: int,
    under: Mapping[str, list[tuple[Ground, bool]]],
    left: Mapping[str, int],
    *,
    again: bool,
) -> Iterator[WhyNode]:
    quotes = () if again else ground.quotes
    yield WhyNode.from_parts(
        ground,
        text=one_line(ground.text),
        depth=depth,
        again=again,
        below=0 if again else left[ground.id],
        class_=ground.class_ or None,
        told=ground_standing(ground),
        quotes=quotes,
    )
    for child, told_elsewhere in () if again else under[ground.id]:
        yield from _nodes(child, depth + 1, under, left, again=told_elsewhere)


def _fitting(nodes: Sequence[WhyNode]) -> list[WhyNode]:
    """Return as many nodes as fit, the nearest first, with counts of the omitted ones at their parents."""
    parents: list[int] = []
    path: list[int] = []
    for place, node in enumerate(nodes):
        path[node.depth :] = [place]
        parents.append(path[node.depth - 1] if node.depth else -1)
    room, kept = LINES - 3, {-1}
    below: Counter[int] = Counter()
    # Nearer nodes are more important, so they take the room first.
    for place in sorted(range(len(nodes)), key=lambda index: (nodes[index].depth, index)):
        # A node takes one line, and one more for its quote.
        lines = 1 + any(quote.words for quote in nodes[place].quotes)
        if parents[place] in kept and lines <= room:
            kept.add(place)
            room -= lines
        # Only the topmost omitted nodes are counted at their parent.
        elif parents[place] in kept:
            below[parents[place]] += 1
    fitting = (
        msgspec.structs.replace(node, below=below[place]) for place, node in enumerate(nodes) if place in kept
    )
    return list(fitting)


def why_text(why: Why, width: int = WIDTH, *, everything: bool = False) -> str:
    """Return what `moot why` prints."""
    return joined(_lines(why.nodes, why.run, width, everything=everything))


def _lines(nodes: Sequence[WhyNode], run: str, width: int, *, everything: bool = False) -> list[str]:
    lines: list[str] = []
    for node in nodes:
        if node.again:
            lines.append(_line(node, f"see {node.id}", width))
            continue
        by = f", {node.by}" if node.by else ""
        lines.append(_line(node, f"{node.id} {node.told}{by}: {node.text}", width))
        quotes = [quote for quote in node.quotes if quote.words]
        # The first quote shows the kind of evidence, and `--all` shows the rest.
        for quote in quotes if everything else quotes[:1]:
            broken = " (not found there)" if quote.holds is False else ""
            text = f"“{one_line(quote.words or '')}” {quote.ref}{broken}"
            lines.append(f"{'  ' * (node.depth + 1)}  {shortened(text, width - 2 * node.depth - 4)}")
    left = [node.id for node in nodes if node.below]
    if left:
        more = f" and {len(left) - 4} others" if len(left) > 4 else ""
        lines.append(f"more under {', '.join(left[:4])}{more}: moot why {run} {left[0]}, or --all")
    # A reader of a cut text needs the verb that shows all of it.
    if any("…" in line for line in lines):
        lines.append(f"what ends in … stands whole: moot show {run} ID")
    if not nodes[1:] and not nodes[0].quotes:
        lines.append("it cites nothing")
    return lines


def _line(node: WhyNode, text: str, width: int) -> str:
    lead = f"{node.relation.replace('-', ' ')}: " if node.relation else ""
    margin = "  " * node.depth
    return margin + shortened(f"{lead}{text}", width - len(margin))
