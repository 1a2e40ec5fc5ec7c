"""How large a plan is: the replies that it asks for, before anything is run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ledger.events import RoundOpened, RunOpened
from ledger.events.decisions import PlanRow
from ledger.state.state import State
from roles.protocol import Group, Protocol, open_steps
from roles.rotation import next_lead
from rounds.protocols import protocol_of
from rounds.run.schedule import NEEDS
from rounds.setup.plans import STRUCTURED_ROLES

VERIFIER = "verifier"


class Asked(NamedTuple):
    """One reply of a plan: who gives it, and the kind of its step, `phase` or `phase.act`."""

    role: str
    kind: str

    @property
    def phase(self) -> str:
        """The phase that the step belongs to."""
        return self.kind.partition(".")[0]


def asked_of(opening: RunOpened) -> Counter[Asked]:
    """The replies that a run asks for when every step is answered and nothing stops it early."""
    protocol = protocol_of(opening)
    if protocol.watched:
        again = int(str(opening.rules.get("rejudge", "0")))
        sealed = opening.rules.get("positions") != "off"
        return asked_at_most(opening.plan, positions=sealed, rejudged=again)
    return Counter(
        Asked(step.role, step.name.phase)
        for _, groups in played(protocol, opening)
        for group in groups
        for step in group.steps
    )


def played(protocol: Protocol, opening: RunOpened) -> Iterator[tuple[State, tuple[Group, ...]]]:
    """(state, groups) of each round of a short protocol in which every step is answered."""
    state = State(opened=opening)
    for place, row in enumerate(opening.plan):
        state.round = row.round
        state.rounds[row.round] = RoundOpened(
            round=row.round, phase="A", by="controller", focus=opening.question, plan_row=place
        )
        while steps := open_steps(protocol, state):
            state.answered |= {step.id: 0 for step in steps}
        yield state, protocol.groups(state, row.round)


def replies_at_most(plan: Sequence[PlanRow], *, positions: bool = True) -> int:
    """Replies of all rounds and of S, when nothing stops the run early and a claim is left to be resolved."""
    return asked_at_most(plan, positions=positions).total()


def asked_at_most(plan: Sequence[PlanRow], *, positions: bool = True, rejudged: int = 0) -> Counter[Asked]:
    """The same replies by role and kind of step, S led by whom the last round's turn falls to.

    `rejudged` checks of every round are judged a second time.
    """
    asked: Counter[Asked] = Counter()
    leads: list[str] = []
    for row in plan:
        leads.append(next_lead(STRUCTURED_ROLES, leads, row.absent))
        asked.update(_round(row, leads[-1], positions, rejudged))
    asked.update(_synthesis(leads[-1]))
    return asked


def _round(row: PlanRow, lead: str, positions: bool, rejudged: int) -> Iterator[Asked]:
    if "B" not in row.phases:
        return
    active = [role for role in STRUCTURED_ROLES if role != row.absent]
    checks = sum(row.absent not in roles for roles in NEEDS.values()) - (row.round == 1)
    yield Asked(lead, "B")
    for role in active:
        if role != lead:
            yield Asked(role, "C")
        yield Asked(role, "D")
        if positions and checks:
            yield Asked(role, "E.position")
        yield Asked(role, "F")
    yield from [Asked(VERIFIER, "E.check")] * (checks + min(checks, rejudged))
    yield Asked(lead, "G")
    if row.drift:
        yield Asked(VERIFIER, "H")


def _synthesis(lead: str) -> Iterator[Asked]:
    yield Asked(VERIFIER, "S.resolve")
    yield from (Asked(role, "S.review") for role in STRUCTURED_ROLES)
    yield Asked(lead, "S.close")
