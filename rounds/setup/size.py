"""How large a plan is: the replies that it asks for before anything is run, and how large each is in a recorded run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, cast

from ledger.events import RoundOpened, RunOpened
from ledger.events.run import PlanRow
from ledger.events.verifications import CHECK_NEEDS
from ledger.state.state import State
from roles.protocol import Group, Protocol, Step, open_steps
from roles.rotation import next_lead
from rounds.protocols import protocol_of
from rounds.protocols.plans import AUTHORS

VERIFIER = "verifier"


class PlannedReply(NamedTuple):
    """One reply of a plan: who gives it, and the kind of its step, `phase` or `phase.act`."""

    role: str
    kind: str

    @property
    def phase(self) -> str:
        """The phase that the step belongs to."""
        return self.kind.partition(".")[0]


def asked_of(opening: RunOpened) -> Counter[PlannedReply]:
    """The replies that a run asks for when every step is answered and nothing stops it early."""
    protocol = protocol_of(opening)
    if protocol.watched:
        return asked_at_most(opening.plan, positions=_sealed(opening))
    return Counter(
        PlannedReply(step.role, _kind(protocol, step))
        for _, groups in played(protocol, opening)
        for group in groups
        for step in group.steps
    )


def least_asked_of(opening: RunOpened) -> Counter[PlannedReply]:
    """Return the fewest replies with which a run can end by itself.

    Rounds that look at stop checks may end with the first look that is obeyed; a run that follows replies may take its
    short way: the question is looked at, one role answers, and the answer is written up and checked.
    """
    protocol, asked = protocol_of(opening), asked_of(opening)
    if protocol.watched:
        rows = [row for row in opening.plan if row.round <= opening.stop.not_before]
        return asked_at_most(rows, positions=_sealed(opening)) if rows else asked
    if protocol.widest is None:
        return asked
    first = {phase: next((one for one in asked if one.phase == phase), None) for phase in _SHORT_WAY}
    return Counter({one: _SHORT_WAY[phase] for phase, one in first.items() if one is not None})


_SHORT_WAY: Final[Mapping[str, int]] = {"A": 1, "B": 1, "S": 2}
"""Phase → replies of a run that takes its short way."""


def _kind(protocol: Protocol, step: Step) -> str:
    """The kind of a step of a short protocol; where phases are those of `structured`, its steps are no such steps."""
    return f"{step.name.phase}.{protocol.name}" if protocol.widest else step.name.phase


def played(protocol: Protocol, opening: RunOpened) -> Iterator[tuple[State, tuple[Group, ...]]]:
    """(state, groups) of each round of a short protocol in which all that can be asked is asked and answered."""
    state = State(opened=opening)
    for place, row in enumerate(opening.plan):
        state.round = row.round
        state.rounds[row.round] = RoundOpened(
            round=row.round, phase="A", by="controller", focus=opening.question, plan_row=place
        )
        if protocol.widest is not None:
            if groups := protocol.widest(state, row.round):
                yield state, groups
            continue
        while steps := open_steps(protocol, state):
            state.answered |= {step.id: 0 for step in steps}
        yield state, protocol.groups(state, row.round)


def waves_of(opening: RunOpened) -> int:
    """How often a run waits for replies that are given side by side, when every step is answered."""
    protocol = protocol_of(opening)
    if not protocol.watched:
        return sum(len(groups) for _, groups in played(protocol, opening))
    sealed = _sealed(opening)
    rounds = ([one.kind for one in _round(row, AUTHORS[0], sealed)] for row in opening.plan)
    return sum(len(set(kinds)) for kinds in rounds) + len({one.kind for one in _synthesis(AUTHORS[0])})


Sealed = Literal["beliefs", "sealed", "off"]
"""What roles seal before the checks of a round."""


def _sealed(opening: RunOpened) -> Sealed:
    return cast("Sealed", opening.rules.get("positions", "sealed"))


def replies_at_most(plan: Sequence[PlanRow], *, positions: Sealed = "beliefs") -> int:
    """Replies of all rounds and of S, when nothing stops the run early and a claim is left to be resolved."""
    return asked_at_most(plan, positions=positions).total()


def asked_at_most(plan: Sequence[PlanRow], *, positions: Sealed = "beliefs") -> Counter[PlannedReply]:
    """The same replies by role and kind of step, S led by whom the last round's turn falls to."""
    asked: Counter[PlannedReply] = Counter()
    leads: list[str] = []
    for row in plan:
        leads.append(next_lead(AUTHORS, leads, row.absent))
        asked.update(_round(row, leads[-1], positions))
    asked.update(_synthesis(leads[-1]))
    return asked


def _round(row: PlanRow, lead: str, positions: Sealed) -> Iterator[PlannedReply]:
    if "B" not in row.phases:
        return
    active = [role for role in AUTHORS if role != row.absent]
    checks = sum(row.absent not in roles for roles in CHECK_NEEDS.values()) - (row.round == 1)
    yield PlannedReply(lead, "B")
    for role in active:
        if role != lead:
            yield PlannedReply(role, "C")
        yield PlannedReply(role, "D")
        if positions != "off" and checks:
            yield PlannedReply(role, "E.position" if positions == "sealed" else "E.belief")
        yield PlannedReply(role, "F")
    yield from [PlannedReply(VERIFIER, "E.check")] * checks
    yield PlannedReply(lead, "G")
    if row.drift:
        yield PlannedReply(VERIFIER, "H")


def _synthesis(lead: str) -> Iterator[PlannedReply]:
    yield PlannedReply(VERIFIER, "S.resolve")
    yield from (PlannedReply(role, "S.review") for role in AUTHORS)
    yield PlannedReply(lead, "S.close")


SOURCE: Final = "measured on storage-minimum-8, a run of moot 0.1"


class StepSize(NamedTuple):
    """Bytes of a brief with its reply schema and without documents, and words of a reply.

    `documents`: whether the brief carries the documents of the deliberation too. What is not `measured` was not
    recorded when the table was made, and is taken from the kinds that it resembles.
    """

    brief_bytes: int
    reply_words: int
    documents: bool = True
    measured: bool = True


SIZES: Final[Mapping[str, StepSize]] = {
    "B": StepSize(46_000, 850),
    "C": StepSize(48_000, 420),
    "D": StepSize(56_000, 800),
    "E.position": StepSize(55_000, 170),
    "E.belief": StepSize(55_000, 60, measured=False),
    "E.check": StepSize(58_000, 270),
    "F": StepSize(79_000, 560),
    "G": StepSize(93_000, 1_450),
    "H": StepSize(18_000, 350, documents=False),
    "S.resolve": StepSize(190_000, 6_460),
    "S.review": StepSize(144_000, 560),
    "S.close": StepSize(250_000, 1_740),
}
"""Kind of step → its size."""

SHORT: Final = StepSize(9_000, 450, measured=False)
"""A step of a short protocol: its brief shows a few texts and no history."""


def size_of(kind: str) -> StepSize:
    """The size of a kind of step, `phase` or `phase.act`."""
    return SIZES.get(kind, SHORT)
