"""Book: all events of a run in memory with their state, an index of ids, and the texts that references point to.

Protocols, briefs and rules read it. The anchors inside an artifact or a statement are a closed set (FORMAT 3). A quote
matches after collapsing white space, inside one string value of its section.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Final, Protocol, TypeVar, cast

import msgspec

from ledger.events import Artifact, Event, ExperimentRun, Memo, RunOpened, Statement
from ledger.events.claims import Finding
from ledger.events.envelope import Section
from ledger.events.ids import Reference, kind_of
from ledger.language.words import word_count
from ledger.state.fold import step
from ledger.state.state import State

E = TypeVar("E", bound=Event)
K = TypeVar("K")
T = TypeVar("T")
STATES_KEPT: Final = 8
"""States whose derived facts are kept."""
_OF_STATES: Final[dict[int, tuple[State, int, dict[Any, Any]]]] = {}


class Blobs(Protocol):
    """Read access to the blobs of a run."""

    def read(self, sha256: str) -> bytes | None:
        """Return the bytes with that hash, None when the blob is missing."""
        ...


class Book(msgspec.Struct, frozen=True):
    """Events in order (seq = index), their folded state, and the index of ids.

    `facts` holds what functions marked `per_book` derived from it.
    """

    events: tuple[Event, ...]
    state: State
    by_id: Mapping[str, Event]
    blobs: Blobs
    facts: dict[Any, Any] = msgspec.field(default_factory=dict[Any, Any])

    def of(self, kind: type[E], round_: int | None = None) -> tuple[E, ...]:
        """Return all events of one kind, in order, optionally of one round."""
        events = [event for event in self.events if type(event) is kind]
        return tuple(events if round_ is None else [event for event in events if event.round == round_])

    def first(self, count: int) -> Book:
        """Return the book of the first `count` events: itself when those are all."""
        return self if count >= len(self.events) else book(self.events[:count], self.blobs)


def once(facts: dict[Any, Any], key: Hashable, make: Callable[[], T]) -> T:
    """Return the value under a key, computed on first use."""
    if key not in facts:
        facts[key] = make()
    return cast("T", facts[key])


def per_book(derive: Callable[[Book], T]) -> Callable[[Book], T]:
    """Return `derive` so that it computes its fact once for each book; the fact is kept with the book."""

    @wraps(derive)
    def fact_of(book: Book) -> T:
        # A book that grew is another book, so a fact never outlives the events that it was derived from.
        return once(book.facts, derive, lambda: derive(book))

    return fact_of


def per_state(derive: Callable[[State], T]) -> Callable[[State], T]:
    """Return `derive` so that it computes its fact once until the next event. No caller may change the fact."""

    @wraps(derive)
    def fact_of(state: State) -> T:
        return known_of(state, derive, lambda: derive(state))

    return fact_of


def known_of(state: State, key: Hashable, make: Callable[[], T]) -> T:
    """Return a fact about a state, computed on first use after each event."""
    # The state is kept beside its facts: while it lives, no other state has its identity. It changes with the next
    # event only, unless it has read no ledger.
    known = _OF_STATES.get(id(state))
    if known is None or known[1] != state.seq or state.seq < 0:
        if len(_OF_STATES) >= STATES_KEPT:
            _OF_STATES.clear()
        known = _OF_STATES[id(state)] = (state, state.seq, dict[Any, Any]())
    return once(known[2], key, make)


def grouped(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return the second parts of pairs in lists, by their first parts."""
    groups: dict[K, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


class GrowingBook:
    """Book that grows: every event is folded once, in place."""

    def __init__(self, blobs: Blobs) -> None:
        self.blobs: Final = blobs
        self.state: Final = State()
        self.by_id: Final = dict[str, Event]()
        self._events: list[Event] = []
        self._book: Book | None = None

    def take(self, events: Iterable[Event]) -> None:
        """Take in what follows; of two events with the same id the first has it."""
        for event in events:
            step(self.state, event)
            self._events.append(event)
            if event.id is not None:
                # IDS001 reports a repeated id. Keeping the first one means that a later event cannot take over
                # a reference.
                self.by_id.setdefault(event.id, event)
        self._book = None

    def book(self) -> Book:
        """Return the current book. Its state and ids go on growing: read what is needed before the next event."""
        if self._book is None:
            self._book = Book(tuple(self._events), self.state, self.by_id, self.blobs)
        return self._book


def book(events: Iterable[Event], blobs: Blobs) -> Book:
    """Return the book of `events`; of two events with the same id the first keeps it."""
    growing = GrowingBook(blobs)
    growing.take(events)
    return growing.book()


def with_next(before: Book, draft: Event) -> Book:
    """Return the book with one more event; `before` is left as it is."""
    following = msgspec.structs.replace(draft, seq=len(before.events))
    return book((*before.events, following), before.blobs)


def commits(events: Sequence[Event]) -> Iterator[tuple[Event, ...]]:
    """Yield events as they were committed; the last commit of a part may be cut short."""
    begin = 0
    for place, event in enumerate(events):
        if event.rest == 0 or place + 1 == len(events):
            yield tuple(events[begin : place + 1])
            begin = place + 1


def commit_end(events: Sequence[Event], seq: int) -> int:
    """Return the place after the commit that holds event `seq`."""
    return seq + events[seq].rest + 1


Sections = Mapping[str, tuple[str, ...]]


def sections_of(event: Event) -> Sections:
    """Return anchor → the string values of that section; empty for kinds without sections."""
    match event:
        case Artifact():
            return dict(_artifact_sections(event))
        case Statement():
            return _statement_sections(event)
        case Memo():
            return {f"s{k}": (sentence.text,) for k, sentence in enumerate(event.sentences, 1)}
        case _:
            return {}


def sections_named(book: Book, name: str) -> Iterator[tuple[Statement, str]]:
    """Iterate over the texts of the sections of a name in all statements, each with its statement."""
    return ((event, section.text) for event, section in sections_from(book, name) if section.name == name)


def sections_from(book: Book, prefix: str) -> Iterator[tuple[Statement, Section]]:
    """Yield the sections whose names begin with `prefix` in all statements, each with its statement."""
    for event in book.of(Statement):
        yield from ((event, section) for section in event.sections if section.name.startswith(prefix))


def _statement_sections(event: Statement) -> Sections:
    """Return sections by name, then by paragraph. Equal anchors share one entry with the texts of both."""
    named = ((section.name, section.text) for section in event.sections)
    paragraphs = [part for section in event.sections for part in section.text.split("\n\n") if part.strip()]
    numbered = ((f"p{n}", text) for n, text in enumerate(paragraphs, 1))
    return {name: tuple(texts) for name, texts in grouped((*named, *numbered)).items()}


def _artifact_sections(event: Artifact) -> Iterator[tuple[str, tuple[str, ...]]]:
    body = event.body
    match event.type:
        case "behavioral_trace_set":
            for i, trace in enumerate(rows_of(body, "traces"), 1):
                yield f"trace-{i}", strings({key: trace[key] for key in trace if key != "steps"})
                for j, step in enumerate(rows_of(trace, "steps"), 1):
                    yield f"trace-{i}-step-{j}", strings(step)
        case "identity_invariant_check":
            yield "invariant", strings([body.get("invariant"), body.get("why_it_matters")])
            yield "invariant-evidence", strings(body.get("evidence"))
            yield "invariant-failure", strings([body.get("failure_scenario"), body.get("mechanism")])
            yield "verdict", strings([body.get("verdict"), body.get("condition")])
        case "operator_walkthrough":
            yield (
                "goal",
                strings([body.get("session_goal"), body.get("starting_context"), body.get("persona")]),
            )
            for j, step in enumerate(rows_of(body, "steps"), 1):
                yield f"step-{j}", strings(step)
            for k, friction in enumerate(rows_of(body, "friction"), 1):
                yield f"friction-{k}", strings(friction)
            yield "verdict", strings(body.get("verdict"))
        case "adversarial_test_case":
            yield "hypothesis", strings([body.get("hypothesis"), body.get("why_this_target")])
            yield "preconditions", strings(body.get("preconditions"))
            for j, step in enumerate(rows_of(body, "attack"), 1):
                yield f"attack-{j}", strings(step)
            yield "expected", strings(body.get("expected"))
            yield "verdict", strings([body.get("verdict"), body.get("verdict_reason")])
            yield "assumption", strings(body.get("assumption"))
    for k, finding in enumerate(event.findings, 1):
        yield f"finding-{k}", (finding.text,)


def rows_of(body: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects in a list of an artifact's body; none where it has no such list."""
    value = body.get(key)
    rows = cast("list[Any]", value) if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, dict)]


def strings(value: Any) -> tuple[str, ...]:
    """Return every string inside a JSON value, in order."""
    collected: list[str] = []
    # An explicit stack: JSON may be nested deeper than Python can call.
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            collected.append(part)
        elif isinstance(part, dict):
            waiting += reversed(cast("dict[str, Any]", part).values())
        elif isinstance(part, list | tuple):
            waiting += reversed(cast("list[Any]", part))
    return tuple(collected)


def words_of_artifact(body: Mapping[str, Any], findings: Iterable[Finding]) -> int:
    """Return the words of an artifact: every string of its body and of its findings (SD-4)."""
    return sum(map(word_count, (*strings(dict(body)), *(finding.text for finding in findings))))


def passages(
    reference: Reference,
    by_id: Mapping[str, Event],
    opened: RunOpened,
    blobs: Blobs,
    sections: Callable[[Event], Sections] = sections_of,
) -> tuple[str, ...] | None:
    """Return the string values that a reference points at; None when it does not resolve.

    A context document without lines is the whole document; an event without section is all of its strings. `sections`
    is for a caller that asks for many and caches.
    """
    if kind_of(reference.id) == "document":
        return _document(reference, opened, blobs)
    event = by_id.get(reference.id)
    if event is None:
        return None
    if reference.section is None:
        return _own_strings(event)
    return sections(event).get(reference.section)


def _own_strings(event: Event) -> tuple[str, ...]:
    fields: dict[str, Any] = msgspec.to_builtins(event)
    envelope = {"prev", "at", "kind", "id", "phase", "step", "by", "saw", "call", "via"}
    return strings({key: value for key, value in fields.items() if key not in envelope})


def _document(reference: Reference, opened: RunOpened, blobs: Blobs) -> tuple[str, ...] | None:
    document = next((entry for entry in opened.context if entry.id == reference.id), None)
    content = blobs.read(document.sha256) if document else None
    if content is None or reference.section is not None:
        return None
    lines = content.decode("utf-8", "replace").split("\n")
    if reference.lines is None:
        return ("\n".join(lines),)
    first, last = reference.lines
    if not 1 <= first <= last <= len(lines):
        return None
    return ("\n".join(lines[first - 1 : last]),)


def written(book: Book, experiment: str, before: int | None = None) -> tuple[str | None, ...]:
    """Return what each run of an experiment wrote, stdout and stderr, before seq `before`; None for removed output."""
    return tuple(
        None if kept is None else kept.decode("utf-8", "replace")
        for run in book.of(ExperimentRun)
        if run.of == experiment and (before is None or run.seq < before)
        for kept in (book.blobs.read(run.stdout.kept), book.blobs.read(run.stderr.kept))
    )


_ALIKE: Final = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        "\u2026": "...",
        **dict.fromkeys("\u00ad\u200b\u2060\ufeff", ""),
    }
)
"""Marks that models replace by similar ones when they quote; the difference does not matter."""


def contains_quote(values: tuple[str, ...], quote: str) -> bool:
    """Return whether `quote` occurs in one of `values`. White space, Unicode forms and kinds of marks do not matter."""
    wanted = comparable(quote)
    return bool(wanted) and any(wanted in comparable(value) for value in values)


def comparable(text: str) -> str:
    """Return the form in which a quote and its source are compared: NFC, one kind of each mark, single spaces."""
    plain = text if text.isascii() else unicodedata.normalize("NFC", text).translate(_ALIKE)
    return " ".join(plain.split())
