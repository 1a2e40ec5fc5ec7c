"""The scene: the book as it stood when the group opened, who is asked, and what several columns look up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final, TypeVar

import msgspec

from ledger.book import Book
from ledger.conditions import meaning_of
from ledger.decided import quoted
from ledger.events import Claim, Concern, Decision, Event, RunOpened, Verification
from ledger.ids import number_of
from ledger.state import ClaimFacts, State
from roles import quoting
from roles.prompt_set import PromptSet, prompt_set_hash, template
from roles.protocol import Column, Protocol, Sight, Step, View
from roles.quoting import Quoted
from roles.templates import Values, render

PHASES: Final = ("open", "A", "B", "C", "D", "E", "F", "G", "H", "S", "close")
NUMBERED: Final = ("claim", "decision", "concern", "verification")
"""Kinds whose number says their place among siblings; the others go by role."""

E = TypeVar("E", bound=Event)
Place = tuple[int, int, int, int, str]
"""Where an event stands by law 2."""


class Block:
    """A named piece of a brief; stored as a blob of its own, under `sha256`."""

    __slots__ = ("bytes", "name", "sha256", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name: Final = name
        self.text: Final = text
        self.bytes: Final = text.encode()
        self.sha256: Final = hashlib.sha256(self.bytes).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and (self.name, self.text) == (other.name, other.text)

    def __hash__(self) -> int:
        return hash((self.name, self.text))

    def __repr__(self) -> str:
        return f"Block({self.name!r}, {self.text!r})"


class Shared:
    """What briefs of one ledger and prompt set have in common, kept while several are derived one after another.

    For the whole ledger hold `quotes`, by seq, for a claim with the number of its moves and how much is told;
    `places`, by seq; `question`, by how much of it is seen; the blocks in `fixed`, by name; `headings`; `rounds`, what
    is a round's. For the steps of one group hold `base`, the book at the opening, `kinds`, its events by type, and
    `columns`: `begin_group` forgets them.
    """

    def __init__(self) -> None:
        self.quotes: dict[tuple[int, ...], Quoted] = {}
        self.places: dict[int, Place] = {}
        self.fixed: dict[str, Block] = {}
        self.question: dict[Sight, tuple[Quoted, ...]] = {}
        self.headings: dict[tuple[Column, Sight, int, bool], str] = {}
        self.base: Book | None = None
        self.kinds: dict[type[Any], list[Any]] = {}
        self.columns: dict[tuple[Any, ...], Any] = {}
        self.rounds: dict[tuple[Any, ...], Any] = {}
        self._blocks: dict[tuple[str, str], Block] = {}
        self._sorted = 0
        """How many events of the ledger are in `kinds`."""
        self._group: tuple[int, str, int] | None = None
        self._prompt_set: tuple[PromptSet, str] | None = None

    def begin_group(self, step: Step, ledger: Book) -> None:
        """Forget what holds for one group when the step belongs to another one, or the ledger has grown."""
        group = (step.name.round, step.group, len(ledger.events))
        if group != self._group:
            self._group = group
            self.base = None
            self.columns.clear()

    def open_at(self, base: Book) -> Book:
        """Keep the book at the opening of the group; it is returned. Most groups open where the last one ended."""
        if len(base.events) < self._sorted:
            self.kinds.clear()
            self._sorted = 0
        for event in base.events[self._sorted :]:
            self.kinds.setdefault(type(event), []).append(event)
        self._sorted = len(base.events)
        self.base = base
        return base

    def hash_of(self, prompt_set: PromptSet) -> str:
        """The hash of the prompt set, computed once."""
        if self._prompt_set is None or self._prompt_set[0] is not prompt_set:
            self._prompt_set = (prompt_set, prompt_set_hash(prompt_set))
        return self._prompt_set[1]

    def block_of(self, quoted: Quoted) -> Block:
        """The block of one quotation."""
        key = (quoted.name, quoted.text)
        found = self._blocks.get(key)
        if found is None:
            found = self._blocks[key] = Block(quoted.name, quoted.text + "\n")
        return found


class BriefUnavailable(ValueError):
    """A brief that cannot be derived here; the message says what is missing."""

    exit_code = 2
    mend = "`moot verify` says whether it was redacted; what was lost is restored from a copy"

    @property
    def what(self) -> str:
        """The message."""
        return str(self)


class Scene(msgspec.Struct, frozen=True):
    """What the quoting functions read."""

    book: Book
    opened: RunOpened
    protocol: Protocol
    step: Step
    prompt_set: PromptSet
    shared: Shared
    view: View
    """What the step may see."""

    def of(self, kind: type[E], round_: int | None = None) -> tuple[E, ...]:
        """The events of one kind, in order, of one round when given."""
        found: list[E] = self.shared.kinds.get(kind, [])
        return tuple(found if round_ is None else [event for event in found if event.round == round_])

    def quoted(self, event: Event) -> Quoted:
        """An event that is quoted by itself."""
        found = self.shared.quotes.get((event.seq,))
        if found is None:
            found = self.shared.quotes[(event.seq,)] = self._quote(event)
        return found

    def _quote(self, event: Event) -> Quoted:
        if isinstance(event, Decision):
            return quoting.decision(event, self._decision_words())
        return quoting.BY_ITSELF[event.kind](event)

    def _decision_words(self) -> quoting.DecisionWords:
        """The words of the run's prompt set, which says what its protocol's conditions are; older sets have none."""
        if "words/stances" not in self.prompt_set["templates"]:
            return quoting.FIELD_NAMES
        paths = (f"words/{meaning_of(self.protocol.name)}", "words/stances")
        return quoting.DecisionWords(*(self.rendered(path, {}).rstrip("\n") for path in paths))

    def quoted_claim(
        self, event: Claim, facts: ClaimFacts, *, whole: bool = True, placed: bool = True
    ) -> Quoted:
        """A claim as `facts` have it: as it stood when the group opened, or before."""
        key = (event.seq, len(facts.moves), whole, placed)
        found = self.shared.quotes.get(key)
        if found is None:
            found = self.shared.quotes[key] = quoting.claim(
                event, facts, self.state.checks, whole=whole, placed=placed
            )
        return found

    @property
    def round(self) -> int:
        """The round of the step."""
        return self.step.name.round

    @property
    def state(self) -> State:
        """What stood when the group opened."""
        return self.book.state

    def ordered(self, events: Iterable[E]) -> list[E]:
        """Law 2: by round, phase, role and n."""
        return sorted(events, key=self._place)

    def _place(self, event: Event) -> Place:
        found = self.shared.places.get(event.seq)
        if found is None:
            found = self.shared.places[event.seq] = _place(event, self.protocol.role_ids())
        return found

    def rendered(self, path: str, values: Values) -> str:
        """A template of the run's prompt set, ending with one line feed."""
        return render(template(self.prompt_set, path), values).rstrip("\n") + "\n"

    def decisions_in_force(self) -> list[Decision]:
        """Decisions that no later one overturned or superseded."""
        ids = set(quoted(self.state))
        return self.ordered(event for event in self.of(Decision) if event.id in ids)

    def cited_by_decisions(self) -> set[str]:
        """Ids that a decision in force rests on."""
        return {cite.id for event in self.decisions_in_force() for cite in event.cites}

    def pending_claims(self) -> list[Claim]:
        """Claims of any round that nothing has tested."""
        claims = self.state.claims
        return [event for event in self.of(Claim) if claims[str(event.id)].status == "pending"]

    def checks_of_pending_claims(self) -> list[Verification]:
        """Verifications that looked at a pending claim without moving it."""
        pending = {str(claim.id) for claim in self.pending_claims()}
        return [check for check in self.of(Verification) if pending.intersection(check.claims_affected)]

    def open_tensions(self) -> list[Concern]:
        """Tensions of any round that nothing resolved."""
        concerns, resolved = self.of(Concern), self.state.resolved
        return [event for event in concerns if event.type == "tension" and event.id not in resolved]


def _place(event: Event, roles: tuple[str, ...]) -> Place:
    phase = PHASES.index(event.phase) if event.phase in PHASES else len(PHASES)
    role = roles.index(event.by) if event.by in roles else len(roles)
    identity = str(event.id)
    if event.kind in NUMBERED:
        return (event.round, phase, 0, number_of(identity), identity)
    return (event.round, phase, role, 0, identity)
