"""Context of a brief: the layout, the book when the group opened, the step, and lookups that several columns share.

Scopes only get narrower from the first row to the last, so that two briefs share a prefix as long as possible, and a
prefix cache can end where a scope ends (`roles/seats/prompt.py`). A different order is a different layout, not
different code: layouts are part of prompt sets (`roles/prompts/<set>/layout.json`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal, TypeVar, cast, get_args

import msgspec

from ledger.events import Claim, Concern, Decision, Event, Identified, RunOpened, Verification
from ledger.events.ids import number_of
from ledger.plain_json import converted
from ledger.state.book import Book, once
from ledger.state.decided import quoted
from ledger.state.state import ClaimFacts, State
from ledger.store.blobs import hash_of
from roles.asof import at_opening
from roles.brief import quote
from roles.brief.quote import Quoted
from roles.prompt_set import PromptSet, PromptSetError, Values, rendered
from roles.protocol import Column, Protocol, Step, View

Scope = Literal[
    "run",  # the same in every brief of the run that shows it
    "earlier",  # what earlier rounds left: the same for a round, and all but the last block for later rounds too
    "round",  # the same for the round's steps of that reader
    "group",  # the same for the siblings of a group
    "step",  # this step's alone
]
"""Scope in which a block stays the same, from the widest to the narrowest."""
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

Reader = Literal[
    "writer",  # sees the question
    "judge",  # judges, and sees the question or the goals alone
    "reviewer",  # looks back in the synthesis
    "resolver",  # judges in the synthesis
]


class LayoutRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Consecutive columns of one scope. `by_round`: merged, with one block per round, the oldest first."""

    scope: Scope
    columns: tuple[Column, ...]
    by_round: bool = False


class ReaderLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows between the frame and the role for one kind of reader; a column without a row is not shown.

    A run keeps its layout with its prompt set, so a column that is new since then changes no brief of that run.
    """

    rows: tuple[LayoutRow, ...]
    claims: Literal["as_found", "as_they_stand"]
    """Status of shown claims: at the start of the round (or when raised), so that the column is the same for every step
    of the round and `moved` shows the changes; or when the step opens."""


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Layouts of all readers, and the ids that a task can name: of shown columns, or of picked records."""

    readings: Mapping[Reader, ReaderLayout]
    words: Literal["columns", "records"] = "columns"


def layout_of(prompt_set: PromptSet) -> Layout:
    """Return the layout in a run's prompt set. Raises `PromptSetError` when it is missing or invalid."""
    try:
        layout = converted(prompt_set.get("layout"), Layout)
    except msgspec.ValidationError as error:
        raise PromptSetError(f"the layout of {prompt_set['name']!r} cannot be read: {error}") from None
    _judge(layout, str(prompt_set["name"]))
    return layout


def _judge(layout: Layout, name: str) -> None:
    if missing := set(get_args(Reader)) - set(layout.readings):
        raise PromptSetError(f"the layout of {name!r} has nothing for {', '.join(sorted(missing))}")
    for reader, reading in layout.readings.items():
        reach = [SCOPES.index(row.scope) for row in reading.rows]
        columns = [column for row in reading.rows for column in row.columns]
        # A wider scope after a narrower one would break the shared prefix without any visible error.
        if reach != sorted(reach) or len(columns) != len(set(columns)):
            raise PromptSetError(
                f"the layout of {name!r} has scopes out of order, or a column twice, for {reader}"
            )


PHASES: Final = ("open", "A", "B", "C", "D", "E", "F", "G", "H", "S", "close")
NUMBERED: Final = ("claim", "decision", "concern", "verification")
"""Kinds that are ordered by their number; all others are ordered by role."""

E = TypeVar("E", bound=Event)
N = TypeVar("N", bound=Identified)
_Place = tuple[int, int, int, int, str]


@dataclass(frozen=True)
class Block:
    """Named piece of a brief, stored as a blob under `sha256`."""

    name: str
    text: str
    scope: Scope = field(compare=False)
    """Scope in which it stays the same."""

    @cached_property
    def bytes(self) -> bytes:
        """Return the text as its blob holds it."""
        return self.text.encode()

    # Computed once: blocks are shared by many briefs, and each brief lists all its hashes.
    @cached_property
    def sha256(self) -> str:
        """Return the name of the blob."""
        return hash_of(self.bytes)


class BriefUnavailable(ValueError):
    """Error for a brief that cannot be derived; the message says what is missing."""

    exit_code = 2
    fix = "`moot verify` says whether it was redacted; what was lost is restored from a copy"

    @property
    def what(self) -> str:
        """Return the message."""
        return str(self)


class BriefCache:
    """Cache for deriving several briefs of one ledger, protocol and prompt set one after another.

    It has one drawer per scope. A value depends only on the drawer's basis and its key, so a drawer is emptied when its
    basis changes. The cache saves work and never changes a brief.
    """

    def __init__(self) -> None:
        self._drawers: dict[str, tuple[Hashable, dict[Hashable, Any]]] = {}

    def drawer(self, scope: str, basis: Hashable) -> dict[Hashable, Any]:
        """Return the cached values of a scope, or an empty drawer if its basis changed."""
        kept = self._drawers.get(scope)
        if kept is None or kept[0] != basis:
            kept = self._drawers[scope] = (basis, {})
        return kept[1]


class _Kinds:
    """Index of a ledger's events by type, extended as briefs look at longer prefixes."""

    def __init__(self) -> None:
        self._events: dict[Any, list[Any]] = {}
        self._seen = 0

    def through(self, events: Sequence[Event], kind: type[E]) -> Sequence[E]:
        """Return the events of one type in a prefix of the ledger."""
        for event in events[self._seen :]:
            self._events.setdefault(type(event), []).append(event)
        self._seen = max(self._seen, len(events))
        of_kind: list[E] = self._events.get(kind, [])
        # The index may already hold later events, which a brief of an earlier group must not see.
        return of_kind[: bisect_left(of_kind, len(events), key=lambda event: event.seq)]


class BriefContext(msgspec.Struct, frozen=True):
    """Inputs of the quoting functions."""

    book: Book
    opened: RunOpened
    protocol: Protocol
    step: Step
    prompt_set: PromptSet
    view: View
    """Columns that the step may see."""
    layout: Layout
    reader: Reader
    of_run: dict[Hashable, Any]
    """Cached values that depend on the opening, on single events and on templates."""
    of_group: dict[Hashable, Any]
    """Cached values that also depend on the book when the group opened."""

    @property
    def reading(self) -> ReaderLayout:
        """Return the layout for this reader."""
        return self.layout.readings[self.reader]

    @property
    def round(self) -> int:
        """Return the round of the step."""
        return self.step.name.round

    @property
    def state(self) -> State:
        """Return the state when the group opened."""
        return self.book.state

    def of(self, kind: type[E], round_: int | None = None) -> tuple[E, ...]:
        """Return the events of one kind in order, of all rounds or of one."""
        by_kind: _Kinds = once(self.of_run, "events", _Kinds)
        events = by_kind.through(self.book.events, kind)
        return tuple(events if round_ is None else [event for event in events if event.round == round_])

    def quoted(self, event: Event) -> Quoted:
        """Return the quotation of an event that needs nothing but itself."""
        return once(self.of_run, ("event", event.seq), lambda: self._quote(event))

    def _quote(self, event: Event) -> Quoted:
        if isinstance(event, Decision):
            if self.state.decisions[event.id].rank == "answer":
                return quote.person_answer(self.book, event)
            return quote.decision(event, self._decision_words())
        return quote.BY_ITSELF[event.kind](event)

    def _decision_words(self) -> quote.DecisionWords:
        """Return the labels in the run's prompt set, or the names of the fields if it has none."""
        if "words/falsifiers" not in self.prompt_set["templates"]:
            return quote.FIELD_NAMES
        paths = ("words/falsifiers", "words/requirements")
        return quote.DecisionWords(*(self.rendered(path, {}).rstrip("\n") for path in paths))

    def quoted_claim(
        self, event: Claim, facts: ClaimFacts, *, whole: bool = True, placed: bool = True
    ) -> Quoted:
        """Return the quotation of a claim with the status in `facts`, which may be older than the group's opening."""
        # A status follows from the moves alone, so their number identifies it within a run.
        key = (event.seq, len(facts.moves), whole, placed)
        quoted: Quoted | None = self.of_run.get(key)
        if quoted is None:
            checks = self.state.checks
            quoted = self.of_run[key] = quote.claim(event, facts, checks, whole=whole, placed=placed)
        return quoted

    def ordered(self, events: Collection[N]) -> list[N]:
        """Return events ordered by round, phase, role and n, never by seq."""
        # Seqs depend on which reply arrived first; briefs must not, or a replay would differ.
        places = cast("dict[int, _Place]", once(self.of_run, "places", dict))
        unplaced = [event for event in events if event.seq not in places]
        places.update((event.seq, _place(event, self.protocol.role_ids())) for event in unplaced)
        return sorted(events, key=lambda event: places[event.seq])

    def turned(self, events: list[E]) -> list[E]:
        """Return events as they are, or in reverse order for every second repetition of a step."""
        # A judge may favor whatever comes first.
        return events[::-1] if self.step.name.repeat % 2 == 0 else events

    def rendered(self, path: str, values: Values) -> str:
        """Render a template of the run's prompt set, with one final line feed. Raises `PromptSetError` on failure."""
        return rendered(self.prompt_set, path, values).rstrip("\n") + "\n"

    def decisions_in_force(self) -> list[Decision]:
        """Return the decisions that no later one overturned or superseded."""
        ids = set(quoted(self.state))
        return self.ordered([event for event in self.of(Decision) if event.id in ids])

    def cited_by_decisions(self) -> set[str]:
        """Return the ids that decisions in force cite."""
        return {cite.id for event in self.decisions_in_force() for cite in event.cites}

    def pending_claims(self) -> list[Claim]:
        """Return the claims of any round that are still pending."""
        claims = self.state.claims
        return [event for event in self.of(Claim) if claims[event.id].status == "pending"]

    def checks_of_pending_claims(self) -> list[Verification]:
        """Return the verifications that examined a pending claim without moving it."""
        pending = {claim.id for claim in self.pending_claims()}
        return [check for check in self.of(Verification) if pending.intersection(check.claims_affected)]

    def open_tensions(self) -> list[Concern]:
        """Return the unresolved tensions of all rounds."""
        concerns, resolved = self.of(Concern), self.state.resolved
        return [event for event in concerns if event.type == "tension" and event.id not in resolved]


def context_of(
    ledger: Book, protocol: Protocol, step: Step, prompt_set: PromptSet, memo: BriefCache
) -> BriefContext:
    """Return the inputs of a step's brief. Raises `BriefUnavailable` for a run that was never opened."""
    if ledger.state.opened is None:
        raise BriefUnavailable("the run was never opened")
    key = (step.name.round, step.group, step.name.repeat)
    # Finding the opening walks through the ledger, so siblings share the result.
    base: Book = once(
        memo.drawer("asked", (*key, len(ledger.events))),
        "book",
        lambda: at_opening(ledger, protocol, step),
    )
    opened = base.state.opening
    of_run = memo.drawer("run", opened.seq)
    view = protocol.view(base.state, step)
    return BriefContext(
        book=base,
        opened=opened,
        protocol=protocol,
        step=step,
        prompt_set=prompt_set,
        view=view,
        layout=once(of_run, "layout", lambda: layout_of(prompt_set)),
        reader=_reader(step, view),
        of_run=of_run,
        of_group=memo.drawer("group", (*key, len(base.events))),
    )


def _reader(step: Step, view: View) -> Reader:
    question = view.get(Column.QUESTION)
    judges = question is not None and question.extent in ("goals", "all_to_judge")
    if step.name.phase == "S":
        return "resolver" if judges else "reviewer"
    return "judge" if judges else "writer"


def _place(event: Identified, roles: tuple[str, ...]) -> _Place:
    phase = PHASES.index(event.phase) if event.phase in PHASES else len(PHASES)
    role = roles.index(event.by) if event.by in roles else len(roles)
    identity = event.id
    # These kinds are numbered in role order already, and several of them come from one role.
    if event.kind in NUMBERED:
        return (event.round, phase, 0, number_of(identity), identity)
    return (event.round, phase, role, 0, identity)
