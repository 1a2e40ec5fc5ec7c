"""Size of a plan: the replies that it asks for, and their size in a recorded run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, cast

from ledger.events import RoundOpened, RunOpened
from ledger.events.run import PlanRow
from ledger.events.verifications import CHECK_NEEDS
from ledger.state.state import State
from roles.protocol import Group, Protocol, Step, next_lead, open_steps
from rounds.protocols import protocol_of
from rounds.protocols.plans import AUTHORS

VERIFIER = "verifier"


class PlannedReply(NamedTuple):
    """One reply of a plan: its role, and the kind of its step, `phase` or `phase.act`."""

    role: str
    kind: str

    @property
    def phase(self) -> str:
        """Return the phase that the step belongs to."""
        return self.kind.partition(".")[0]


def asked_of(opening: RunOpened) -> Counter[PlannedReply]:
    """Return the replies that a run asks for when every step is answered and nothing stops it early."""
    protocol = protocol_of(opening)
    # For a watched protocol the plan alone gives the count; playing its rounds would need real verdicts.
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
    short way: the question is checked, one role answers, and the answer is written up and checked.
    """
    protocol, asked = protocol_of(opening), asked_of(opening)
    if protocol.watched:
        rows = [row for row in opening.plan if row.round <= opening.stop.not_before]
        return asked_at_most(rows, positions=_sealed(opening)) if rows else asked
    if protocol.widest is None:
        return asked
    first = {phase: next((reply for reply in asked if reply.phase == phase), None) for phase in _SHORT_WAY}
    return Counter({reply: _SHORT_WAY[phase] for phase, reply in first.items() if reply is not None})


_SHORT_WAY: Final[Mapping[str, int]] = {"A": 1, "B": 1, "S": 2}
"""Replies per phase of a run that takes its short way."""


def _kind(protocol: Protocol, step: Step) -> str:
    """Return the kind of a step of a short protocol, kept apart from kinds of `structured` in the same phase."""
    return f"{step.name.phase}.{protocol.name}" if protocol.widest else step.name.phase


def played(protocol: Protocol, opening: RunOpened) -> Iterator[tuple[State, tuple[Group, ...]]]:
    """Yield (state, groups) of each round of a short protocol in which everything that can be asked is answered."""
    state = State(opened=opening)
    for place, row in enumerate(opening.plan):
        state.round = row.round
        state.rounds[row.round] = RoundOpened(
            round=row.round, phase="A", by="controller", focus=opening.question, plan_row=place
        )
        # A protocol that follows replies cannot be played without any, so it states its widest rounds itself.
        if protocol.widest is not None:
            if groups := protocol.widest(state, row.round):
                yield state, groups
            continue
        # Every answer can open further steps, so steps are answered until no new one appears.
        while steps := open_steps(protocol, state):
            state.answered |= {step.id: 0 for step in steps}
        yield state, protocol.groups(state, row.round)


def waves_of(opening: RunOpened) -> int:
    """Return how often a run waits for replies that are given side by side, when every step is answered."""
    protocol = protocol_of(opening)
    if not protocol.watched:
        return sum(len(groups) for _, groups in played(protocol, opening))
    sealed = _sealed(opening)
    rounds = ([reply.kind for reply in _round(row, AUTHORS[0], sealed)] for row in opening.plan)
    return sum(len(set(kinds)) for kinds in rounds) + len({reply.kind for reply in _synthesis(AUTHORS[0])})


Sealed = Literal["beliefs", "sealed", "off"]
"""Values of the rule `positions`: what roles seal before the checks of a round."""


def _sealed(opening: RunOpened) -> Sealed:
    return cast("Sealed", opening.rules.get("positions", "sealed"))


def replies_at_most(plan: Sequence[PlanRow], *, positions: Sealed = "beliefs") -> int:
    """Return the replies of all rounds and of S, when nothing stops the run early and a claim is left to resolve."""
    return asked_at_most(plan, positions=positions).total()


def asked_at_most(plan: Sequence[PlanRow], *, positions: Sealed = "beliefs") -> Counter[PlannedReply]:
    """Return the same replies by role and kind of step; the lead of the last round leads S."""
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
    # Round 1 has no earlier decision, so its check 4 is never asked (SD-32).
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
    """Size of a step: bytes of a brief with its reply schema and without documents, and words of a reply.

    `documents`: whether the brief carries the documents of the deliberation too. A size that is not `measured` was not
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
"""Size of each kind of step."""

SHORT: Final = StepSize(9_000, 450, measured=False)
"""Size of a step of a short protocol, whose brief shows a few texts and no history."""


def size_of(kind: str) -> StepSize:
    """Return the size of a kind of step, `phase` or `phase.act`."""
    return SIZES.get(kind, SHORT)
