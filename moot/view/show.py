"""One event of a run: its content, what became of it, later events that name it, and the grounds that it rests on.

Grounds are a tree in which every node is shown once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

import msgspec
import orjson

from ledger.events import KINDS, Claim, Decision, Event, Vote
from ledger.events.ids import kind_of, parse_reference
from ledger.format.canonical import encode
from ledger.plain_text import one_line, shortened, some
from ledger.result import Result
from ledger.state.book import Book, grouped, passages, strings
from ledger.state.decided import Conditions, conditions_of, overridden, replacement
from ledger.state.fold import add_call
from ledger.state.state import Spend
from moot.view.events import words_of
from moot.view.grounds import DEPTH_MAX, Ground, Quote, ground_of, ground_standing
from moot.view.judgements import options_of
from moot.view.marks import STATUSES, how_tested, move_text, status_with_level
from moot.view.seats import dollars, tokens_text
from moot.view.text import WIDTH, folded, joined
from moot.view.words import counted

ENVELOPE: Final = frozenset(
    {"v", "seq", "prev", "hash", "id", "kind", "round", "phase", "step", "by", "at", "saw", "via", "rest", "call"}
)  # fmt: skip
"""Fields that describe how an event came about, not its content."""
REFERENCE_MAX: Final = 120
"""Most characters of a reference; longer texts are prose and are not looked up."""
NAMED: Final = 12
"""Maximum number of later ids listed; the others are counted."""
_EMPTY: Final[tuple[Any, ...]] = (None, [], "")


class Shown(Result, frozen=True):
    """A thing: `says` are its own fields, `history` what became of it, `named_by` the ids that name it later."""

    run: str
    id: str
    seq: int
    kind: str
    by: str
    round: int
    standing: str
    says: dict[str, Any]
    history: list[str]
    named_by: list[str]


def show_of(run: str, book: Book, event: Event) -> Shown:
    """Return an event of a book for display."""
    wording = words_of(event, book)
    return Shown.from_parts(
        event,
        run=run,
        id=wording.ref,
        by=wording.role,
        standing=wording.mark.plain if wording.mark.word else "",
        says=_says(event, book),
        history=list(_history(book, event)),
        named_by=_named_by(book, event.seq, event.id),
    )


def labeled(run: str, book: Book, identity: str) -> Shown | None:
    """Return the document, goal or option that an id names, of a document only the lines that it names; else None."""
    reference = parse_reference(identity)
    opening = book.state.opening
    texts = options_of(book) | {goal.id: goal.text for goal in opening.goals}
    document = next((entry for entry in opening.context if entry.id == reference.id), None)
    if document is None and reference.id not in texts:
        return None
    says: dict[str, Any] = {"text": texts.get(reference.id)}
    if document is not None:
        lines = passages(reference, book.by_id, opening, book.blobs)
        missing = "not kept here: no such lines, or the text was removed"
        facts = {"name": document.name, "bytes": document.bytes, "sha256": document.sha256}
        says = facts | {"text": lines[0] if lines else missing}
    named_by = _named_by(book, opening.seq, reference.id)
    return Shown(run, identity, opening.seq, kind_of(reference.id), opening.by, 0, "", says, [], named_by)


def _says(event: Event, book: Book) -> dict[str, Any]:
    """Return the event's own fields, with conditions split into falsifiers and requirements."""
    # Encode and decode again, so that the fields have the names and form of the ledger.
    fields: dict[str, Any] = orjson.loads(encode(event))
    if isinstance(event, Vote) and event.fallback:
        # The numbers of a lost vote only fill its form, and nothing counts them.
        fields |= {
            "confidence": None,
            "risk": None,
            "reasoning": "No vote was given; the rule enters REFUSE.",
        }
    if isinstance(event, Decision):
        # Requirements are objects on the ledger, and readers only need their texts.
        replaced = (*Conditions._fields, "dissent")
        fields = {name: value for name, value in fields.items() if name not in replaced}
        fields |= grouped(conditions_of(event, book.state).introduced()) | {
            "dissent": [
                f"{dissenter.role}: {dissenter.text} ({dissenter.ref})" for dissenter in event.dissent
            ],
        }
    return {name: value for name, value in fields.items() if name not in ENVELOPE and value not in _EMPTY}


def _history(book: Book, event: Event) -> Iterator[str]:
    match event:
        # Each move starts at the status before it, unless that one did not count.
        case Claim():
            before = STATUSES["pending"].plain
            for entry in book.state.claims[event.id].history:
                how = how_tested(book, entry)
                after = move_text(entry.to, entry.class_, how, entry.by)
                weak = " (moves nothing: what stands has better evidence)" if entry.outweighed else ""
                yield f"{before} → {after}{weak if entry.legal else ' (not allowed: it moves nothing)'}"
                if entry.counts:
                    before = status_with_level(entry.to, entry.class_, how)
        case Decision():
            first, last = overridden(book.state, event.id), replacement(book.state, event.id)
            if first != event.id:
                yield f"stands in the place of {first}"
            if last != event.id:
                yield f"overturned; {last} stands in its place"
        case _:
            pass
    if event.call is not None:
        call = event.call
        who = " ".join(part for part in (call.seat, call.provider, call.model) if part)
        tokens = f"{call.tokens_in} tokens in, {call.tokens_out} out" if call.tokens_in else "tokens unknown"
        cost = "cost unknown" if call.cost_usd is None else f"{call.cost_usd} USD"
        yield f"answered by {who} ({call.isolation}); {tokens}, {cost}"
    if isinstance(event, Claim | Decision):
        yield from _caused(book, event)


def _caused(book: Book, event: Claim | Decision) -> Iterator[str]:
    """Yield the cost of the replies that it came from and that tested it; shared replies count in full."""
    tests = [entry.by for entry in book.state.claims[event.id].history] if isinstance(event, Claim) else []
    sources = [event, *(book.by_id[identity] for identity in tests if identity in book.by_id)]
    # One reply may become many events; `via` names the one that carries its cost.
    firsts = [source if source.via is None else book.events[source.via] for source in sources]
    replies = {source.seq: source.call for source in firsts if source.call is not None}
    spend = Spend()
    for call in replies.values():
        add_call(spend, call)
    if replies:
        places = ", ".join(f"@{seq}" for seq in replies)
        tokens = tokens_text(spend) or "tokens unknown"
        yield f"took {counted(len(replies), 'reply')} whole ({places}): {tokens}, {dollars(spend)}"


def _named_by(book: Book, seq: int, identity: str | None) -> list[str]:
    """Return the ids of what answers, judges, tests or cites it later, without what the controller counts."""
    later = naming(book, seq, identity) if identity else []
    return [event.ref for event in later if not KINDS[event.kind].by_controller]


def naming(book: Book, seq: int, identity: str) -> list[Event]:
    """Return the later events that cite, test, answer or quote something."""

    def names(later: Event) -> bool:
        texts = (text for text in strings(msgspec.to_builtins(later)) if len(text) < REFERENCE_MAX)
        return any(identity in (text, parse_reference(text).id) for text in texts)

    # Only later events name an earlier one; the same text in an older event is a coincidence.
    return [later for later in book.events[seq + 1 :] if names(later)]


def show_text(record: Shown, width: int = WIDTH) -> str:
    """Return what `moot show` prints."""
    where = f"round {record.round}" if record.round else "before the rounds"
    standing = f"  {record.standing}" if record.standing else ""
    lines = [
        f"{record.id}  {record.kind.replace('_', ' ')}{standing}   by {record.by}, {where}, @{record.seq}"
    ]
    lines += _fields(record.says, 2, width)
    if record.history:
        lines += ["", *(f"  {line}" for line in record.history)]
    if record.named_by:
        lines += ["", *folded(f"named later by {some(record.named_by, NAMED)}", 2, width)]
    return joined(lines)


def _fields(fields: Mapping[str, Any], indent: int, width: int) -> Iterator[str]:
    """Yield the fields that are filled."""
    for name, value in fields.items():
        if value not in _EMPTY:
            yield from _field(name, value, indent, width)


def _field(name: str, value: Any, indent: int, width: int) -> Iterator[str]:
    """Yield a field: short values on its line, texts below it, lists as points."""
    label = name.rstrip("_").replace("_", " ")
    margin = " " * indent
    if isinstance(value, dict):
        yield f"{margin}{label}:"
        yield from _fields(cast("dict[str, Any]", value), indent + 2, width)
    elif isinstance(value, list):
        yield from _rows(label, cast("list[Any]", value), indent, width)
    # Texts that do not fit on the line of their label start on the next one.
    elif isinstance(value, str) and (len(value) + len(label) + indent + 2 > width or "\n" in value):
        yield f"{margin}{label}:"
        for line in value.splitlines():
            yield from folded(line, indent + 2, width) if line.strip() else ("",)
    else:
        yield f"{margin}{label}: {value}"


def _rows(label: str, values: list[Any], indent: int, width: int) -> Iterator[str]:
    """Yield a list: ids on its line, texts and rows below it."""
    texts = [item for item in values if not isinstance(item, dict | list)]
    # Values without spaces are ids or numbers and fit together on one line.
    if len(texts) == len(values) and not any(" " in str(text) for text in texts):
        yield from folded(f"{label}: {', '.join(map(str, texts))}", indent, width)
        return
    yield f"{' ' * indent}{label}:"
    for item in values:
        if not isinstance(item, dict):
            yield from folded(f"- {item}", indent + 2, width)
            continue
        row = {key: value for key, value in cast("dict[str, Any]", item).items() if value not in _EMPTY}
        if any(isinstance(value, dict | list) for value in row.values()):
            yield f"{' ' * (indent + 2)}-"
            yield from _fields(row, indent + 4, width)
        else:
            text = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in row.items())
            yield from folded(f"- {text}", indent + 2, width)


LINES = 60
"""Maximum lines unless all are requested; omitted nodes are counted with a pointer."""
ENDLESS = 1000
"""A depth beyond any ledger."""


class WhyNode(Result, frozen=True):
    """One thing that something rests on, `depth` below it.

    `again`: it is shown elsewhere in the tree; `below`: how many nodes are left out there. `class` is the class of a
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
    quotes: list[Quote]
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
    for child, listed_elsewhere in () if again else under[ground.id]:
        yield from _nodes(child, depth + 1, under, left, again=listed_elsewhere)


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
    nodes = why.nodes
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
        # A sentence of a memo cannot be asked for alone.
        next_ = f"{why.id} --all" if "#" in left[0] else f"{left[0]}, or --all"
        lines.append(f"more under {some(left, 4)}: moot why {why.run} {next_}")
    # A reader of a cut text needs the verb that shows all of it.
    if any("…" in line for line in lines):
        lines.append(f"what ends in … stands whole: moot show {why.run} ID")
    if not nodes[1:] and not nodes[0].quotes:
        lines.append("it cites nothing")
    return joined(lines)


def _line(node: WhyNode, text: str, width: int) -> str:
    lead = f"{node.relation.replace('-', ' ')}: " if node.relation else ""
    margin = "  " * node.depth
    return margin + shortened(f"{lead}{text}", width - len(margin))
