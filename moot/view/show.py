"""One event of a run for people: what it is, its words, what became of it, and later events that name it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import orjson

from ledger.events import Claim, Decision, Event, Verification
from ledger.events.conditions import conditions_of
from ledger.format.canonical import encode
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import overridden, replacement
from ledger.state.fold import add_call
from ledger.state.lifecycle import HistoryEntry
from ledger.state.state import Spend
from moot.view.costs import tokens_told
from moot.view.events import words_of
from moot.view.evidence import how_tested, told_move, told_status
from moot.view.marks import STATUSES
from moot.view.seats import dollars
from moot.view.text import WIDTH, folded, joined
from moot.view.words import counted

ENVELOPE: Final = frozenset(
    {"v", "seq", "prev", "hash", "id", "kind", "round", "phase", "step", "by", "at", "saw", "via", "rest", "call"}
)  # fmt: skip
"""Fields that describe how an event came about, not its content."""
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
        says=_says(event),
        history=list(_history(book, event)),
        named_by=_named_by(book, event),
    )


def _says(event: Event) -> dict[str, Any]:
    """Return the event's own fields, with conditions split into falsifiers and requirements."""
    # Encode and decode again, so that the fields have the names and form of the ledger.
    fields: dict[str, Any] = orjson.loads(encode(event))
    if isinstance(event, Decision):
        # Requirements are objects on the ledger, and readers only need their texts.
        for name in ("falsifiers", "requirements", "dissent"):
            fields.pop(name, None)
        conditions = conditions_of(event)
        fields |= {
            "would show it wrong": list(conditions.falsifiers),
            "required": list(conditions.requirements),
            "dissent": [
                f"{dissenter.role}: {dissenter.text} ({dissenter.ref})" for dissenter in event.dissent
            ],
        }
    return {name: value for name, value in fields.items() if name not in ENVELOPE and value not in _EMPTY}


def _moves_nothing(entry: HistoryEntry) -> str:
    if not entry.legal:
        return " (not allowed: it moves nothing)"
    return " (moves nothing: what stands has better evidence)" if entry.outweighed else ""


def _history(book: Book, event: Event) -> Iterator[str]:
    match event:
        # Each move starts at the status before it, unless that one did not count.
        case Claim():
            before = STATUSES["pending"].plain
            for entry in book.state.claims[event.id].history:
                how = how_tested(book, entry)
                after = told_move(entry.to, entry.class_, how, entry.by)
                yield f"{before} → {after}{_moves_nothing(entry)}"
                if entry.counts:
                    before = told_status(entry.to, entry.class_, how)
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
        tokens = tokens_told(spend) or "tokens unknown"
        yield f"took {counted(len(replies), 'reply')} whole ({places}): {tokens}, {dollars(spend)}"


def _named_by(book: Book, event: Event) -> list[str]:
    """Return ids of later decisions and verdicts that cite or move it."""
    return [later.id for later in book.events[event.seq + 1 :] if later.id and event.id in _names(later)]


def _names(event: Event) -> set[str]:
    """Return the ids that a decision cites, or that a verdict is about."""
    match event:
        case Decision():
            return {cite.id for cite in event.cites}
        case Verification():
            return {*event.claims_affected, *(move.claim_id for move in event.claim_status_changes)}
        case _:
            return set()


def show_text(thing: Shown, width: int = WIDTH) -> str:
    """Return what `moot show` prints."""
    where = f"round {thing.round}" if thing.round else "before the rounds"
    standing = f"  {thing.standing}" if thing.standing else ""
    lines = [f"{thing.id}  {thing.kind.replace('_', ' ')}{standing}   by {thing.by}, {where}, @{thing.seq}"]
    for name, value in thing.says.items():
        lines += _field(name, value, 2, width)
    if thing.history:
        lines += ["", *(f"  {line}" for line in thing.history)]
    if thing.named_by:
        more = f" and {len(thing.named_by) - NAMED} more" if len(thing.named_by) > NAMED else ""
        lines += ["", *folded(f"named later by {', '.join(thing.named_by[:NAMED])}{more}", 2, width)]
    return joined(lines)


def _field(name: str, value: Any, indent: int, width: int) -> Iterator[str]:
    """Yield a field: short values on its line, texts below it, lists as points."""
    label = name.rstrip("_").replace("_", " ")
    margin = " " * indent
    if isinstance(value, dict):
        yield f"{margin}{label}:"
        for key, item in cast("dict[str, Any]", value).items():
            if item not in _EMPTY:
                yield from _field(key, item, indent + 2, width)
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
            for key, value in row.items():
                yield from _field(key, value, indent + 4, width)
        else:
            text = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in row.items())
            yield from folded(f"- {text}", indent + 2, width)
