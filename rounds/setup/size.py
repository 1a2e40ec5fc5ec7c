"""Size of a run: the replies that it asks for, by role and kind of step, found by playing the protocol's own table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from ledger.events import RoundOpened, RunOpened
from ledger.events.run import PlanRow
from ledger.events.verifications import CHECK_NEEDS
from ledger.state.state import ClaimFacts, State
from roles.protocol import Group, Protocol, Step, StepSize, next_lead, open_steps
from rounds.protocols import protocol_of
from rounds.protocols.schedule import authors


class PlannedReply(NamedTuple):
    """One reply of a plan: its role, and the kind of its step, `phase` or `phase.act`."""

    role: str
    kind: str

    @property
    def phase(self) -> str:
        """Return the phase that the step belongs to."""
        return self.kind.partition(".")[0]


def replies_of(opening: RunOpened) -> Counter[PlannedReply]:
    """Return the replies that a run asks for when every step is answered and nothing stops it early."""
    return Counter(
        PlannedReply(step.role, _kind(step))
        for _, groups in played(protocol_of(opening), opening)
        for group in groups
        for step in group.steps
    )


def fewest_replies_of(opening: RunOpened) -> Counter[PlannedReply]:
    """Return the fewest replies with which a run can end by itself.

    Rounds that look at stop checks may end with the first look that is obeyed; a protocol that follows replies names
    the phases of its shortest run.
    """
    protocol = protocol_of(opening)
    if protocol.watched:
        rows = tuple(row for row in opening.plan if row.round <= opening.stop.not_before)
        return replies_of(msgspec.structs.replace(opening, plan=rows) if rows else opening)
    most = replies_of(opening)
    if not protocol.shortest:
        return most
    first = {
        phase: next((reply for reply in most if reply.phase == phase), None) for phase in protocol.shortest
    }
    return Counter({reply: protocol.shortest[phase] for phase, reply in first.items() if reply is not None})


def waves_of(opening: RunOpened) -> int:
    """Return how often a run waits for replies that are given side by side, when every step is answered."""
    return sum(len(groups) for _, groups in played(protocol_of(opening), opening))


def _kind(step: Step) -> str:
    act = (step.name.act or "").rstrip("0123456789")
    # The act of a short protocol names what its step is about, such as an option, and not a kind of its own.
    return (
        f"{step.name.phase}.{act}"
        if step.task.startswith(f"{step.name.phase}.{act}") and act
        else step.name.phase
    )


def played(protocol: Protocol, opening: RunOpened) -> Iterator[tuple[State, tuple[Group, ...]]]:
    """Yield (state, groups) of each round in which everything that can be asked is answered."""
    state = State(opened=opening)
    for place, row in enumerate(opening.plan):
        state.round = row.round
        state.rounds[row.round] = _opened(protocol, state, row, place)
        # A protocol that follows replies cannot be played without any, so it states its widest rounds itself.
        if protocol.widest is not None:
            if groups := protocol.widest(state, row.round):
                yield state, groups
            continue
        if protocol.watched:
            # In the largest run the rules find no error, and a claim is left for the synthesis to resolve.
            state.validated[row.round] = ["G"]
            state.claims["C-1-1"] = ClaimFacts(1, authors(state)[0], 0, anchored=True)
        # Every answer can open further steps, so steps are answered until no new one appears.
        while steps := open_steps(protocol, state):
            state.answered |= {step.id: 0 for step in steps}
        yield state, protocol.groups(state, row.round)


def _opened(protocol: Protocol, state: State, row: PlanRow, place: int) -> RoundOpened:
    """Return the opening of a round: after the first one there is a decision, so check 4 applies (SD-32)."""
    leads = [event.lead for event in state.rounds.values()]
    watched = protocol.watched
    return RoundOpened(
        round=row.round,
        phase="A",
        by="controller",
        focus=state.opening.question,
        plan_row=place,
        absent=row.absent,
        lead=next_lead(authors(state), leads, row.absent) if watched else None,
        applicable=tuple(
            check
            for check, needed in CHECK_NEEDS.items()
            if row.absent not in needed and (check != 4 or place)
        )
        if watched and "E" in row.phases
        else (),
    )


SHORT: Final = StepSize(9_000, 450, measured=False)
"""Size of a step whose protocol names none: its brief shows a few texts and no history."""


def size_of(protocol: Protocol, kind: str) -> StepSize:
    """Return the size of a kind of step, `phase` or `phase.act`."""
    return protocol.sizes.get(kind, SHORT)
