"""The scene: the book as it stood when the group opened, who is asked, and what several columns look up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from ledger.book import Book
from ledger.events import Claim, Concern, Decision, Event, RunOpened, Verification
from ledger.ids import number_of
from ledger.state import State
from roles.prompt_set import PromptSet, template
from roles.protocol import Protocol, Step, View
from roles.templates import Values, render

PHASES: Final = ("open", "A", "B", "C", "D", "E", "F", "G", "H", "S", "close")
NUMBERED: Final = ("claim", "decision", "concern", "verification")
"""Kinds whose number says their place among siblings; the others go by role."""

E = TypeVar("E", bound=Event)


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
