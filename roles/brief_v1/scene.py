"""The scene: the book as it stood when the group opened, who is asked, and what several columns look up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from ledger.book import Book
from ledger.events import Claim, Concern, Decision, Event, RunOpened, Verification
from ledger.ids import number_of
from ledger.state import State
from roles import quoting
from roles.prompt_set import PromptSet, template
from roles.protocol import Column, Protocol, Sight, Step, View
from roles.quoting import Quoted
from roles.templates import Values, render

PHASES: Final = ("open", "A", "B", "C", "D", "E", "F", "G", "H", "S", "close")
NUMBERED: Final = ("claim", "decision", "concern", "verification")
"""Kinds whose number says their place among siblings; the others go by role."""

E = TypeVar("E", bound=Event)


@dataclass(slots=True)
class Shared:
    """What briefs of one ledger have in common, kept while several are derived one after another.

    `quotes` hold for the whole ledger: by seq, for a claim with the number of its moves. `columns` hold for the steps
    of one group; `begin_group` forgets them.
    """

    quotes: dict[tuple[int, ...], Quoted] = field(default_factory=dict[tuple[int, ...], Quoted])
    columns: dict[tuple[Column, Sight, Sight | None, bool], Any] = field(
        default_factory=dict[tuple[Column, Sight, "Sight | None", bool], Any]
    )
    group: tuple[int, str] | None = None

    def begin_group(self, step: Step) -> None:
        """Forget the columns when the step belongs to another group than the last one."""
        group = (step.name.round, step.group)
        if group != self.group:
            self.group = group
            self.columns.clear()


class BriefUnavailable(ValueError):
    """A brief that cannot be derived here; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What the quoting functions read."""

    book: Book
    opened: RunOpened
    protocol: Protocol
    step: Step
    prompt_set: PromptSet
    shared: Shared

    def quoted(self, event: Event) -> Quoted:
        """An event that is quoted by itself."""
        found = self.shared.quotes.get((event.seq,))
        if found is None:
            found = self.shared.quotes[(event.seq,)] = quoting.BY_ITSELF[event.kind](event)
        return found

    def quoted_claim(self, event: Claim, *, whole: bool = True) -> Quoted:
        """A claim as it stood when the group opened."""
        key = (event.seq, len(self.state.claims[str(event.id)].moves), whole)
        found = self.shared.quotes.get(key)
        if found is None:
            found = self.shared.quotes[key] = quoting.claim(event, self.state, whole=whole)
        return found

    @property
    def round(self) -> int:
        """The round of the step."""
        return self.step.name.round

    @property
    def state(self) -> State:
        """What stood when the group opened."""
        return self.book.state

    @property
    def view(self) -> View:
        """What the step may see."""
        return self.protocol.view(self.state, self.step)

    def ordered(self, events: Iterable[E]) -> list[E]:
        """Law 2: by round, phase, role and n."""
        roles = self.protocol.role_ids()
        return sorted(events, key=lambda event: _place(event, roles))

    def rendered(self, path: str, values: Values) -> str:
        """A template of the run's prompt set, ending with one line feed."""
        return render(template(self.prompt_set, path), values).rstrip("\n") + "\n"

    def decisions_in_force(self) -> list[Decision]:
        """Decisions that no later one overturned or superseded."""
        ids = set(self.state.in_force())
        return self.ordered(event for event in self.book.of(Decision) if event.id in ids)

    def cited_by_decisions(self) -> set[str]:
        """Ids that a decision in force rests on."""
        return {cite.id for event in self.decisions_in_force() for cite in event.cites}

    def pending_claims(self) -> list[Claim]:
        """Claims of any round that nothing has tested."""
        claims = self.state.claims
        return [event for event in self.book.of(Claim) if claims[str(event.id)].status == "pending"]

    def checks_of_pending_claims(self) -> list[Verification]:
        """Verifications that looked at a pending claim without moving it."""
        pending = {str(claim.id) for claim in self.pending_claims()}
        return [check for check in self.book.of(Verification) if pending.intersection(check.claims_affected)]

    def open_tensions(self) -> list[Concern]:
        """Tensions of any round that nothing resolved."""
        concerns, resolved = self.book.of(Concern), self.state.resolved
        return [event for event in concerns if event.type == "tension" and event.id not in resolved]


def _place(event: Event, roles: tuple[str, ...]) -> tuple[int, int, int, int, str]:
    phase = PHASES.index(event.phase) if event.phase in PHASES else len(PHASES)
    role = roles.index(event.by) if event.by in roles else len(roles)
    identity = str(event.id)
    if event.kind in NUMBERED:
        return (event.round, phase, 0, number_of(identity), identity)
    return (event.round, phase, role, 0, identity)
