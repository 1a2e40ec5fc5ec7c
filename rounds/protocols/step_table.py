"""A sheet: a short protocol as rows, one a kind of step, and the protocol that follows from them.

A row says who is asked, what the brief quotes, the reply's shape, what is wrong with a reply and which events it
yields: the first at once, numbered ones when the group closes, in role order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ledger.events import Concern, Event, Statement
from ledger.events.claims import StatementType
from ledger.events.decisions import PlanRow
from ledger.events.ids import StepName
from ledger.events.values import Section
from ledger.state.book import Book
from ledger.state.state import State
from roles.protocol import Column, Group, Pick, Protocol, RoleDefinition, Rules, Sight, Step, View
from roles.replies import Reply
from rounds.protocols.known import Known, known_to
from rounds.protocols.losses import LOSSES, VERSION
from rounds.protocols.losses import RULE as LOST
from rounds.protocols.made import statement_id

ALL: Final = Sight("all")
LETTERS: Final[Mapping[str, str]] = {
    "claim": "C",
    "concern": "N",
    "assumption": "Q",
    "argument": "R",
    "challenge": "X",
    "response": "Y",
    "decision": "D",
}
"""Kind → the letter of its numbered id (FORMAT 3)."""
SHEET_VERSION: Final = 2
"""What a run is opened with. Runs of version 1 are not held to the order of a ranking (AD-4), nor to a follow-up
question for each argument (XS-5), and their briefs name lost steps that they would not have shown; their judged
decisions cite every argument that was heard, and any lost judge of several is put to a person."""


class Desk:
    """Where the events of a closing group get their numbers, and what they need to be made of."""

    def __init__(self, book: Book, round_: int) -> None:
        self.book = book
        self._round = round_
        self._taken: dict[str, int] = {}

    def number(self, kind: str) -> str:
        """The next id of a kind in this round."""
        letter = LETTERS[kind]
        prefix = f"{letter}-{self._round}-"
        if letter not in self._taken:
            self._taken[letter] = sum(identity.startswith(prefix) for identity in self.book.by_id)
        self._taken[letter] += 1
        return f"{prefix}{self._taken[letter]}"


Steps = Callable[[State, int, str], Iterable[StepName]]
"""(state, round, phase) → the steps of a row."""


def nothing_wrong(known: Known, reply: Any) -> Iterator[str]:
    """A reply whose shape says all."""
    del known, reply
    return iter(())


def nothing_later(desk: Desk, step: Step, reply: Any) -> Iterator[Event]:
    """A reply that yields no numbered event."""
    del desk, step, reply
    return iter(())


def always(state: State, round_: int) -> bool:
    """A row of every run."""
    del state, round_
    return True


def side_by_side(book: Book, step: Step) -> tuple[Event, ...]:
    """Nobody judges: what was handed in stands side by side, and a person is asked (AD-8)."""
    state, round_ = book.state, step.name.round
    opened = state.opening
    desk = Desk(book, round_)
    handed = [event for event in book.events if event.step and event.kind in ("statement", "concern")]
    if opened.protocol_version == 1:
        shown = [event.id for event in handed if event.id][:16]
        text = f"Nobody judged (step {step.id} was given up): what was handed in stands side by side. Decide."
    else:
        shown = [event.id for event in handed if event.id]
        lost = [one for one in (*state.given_up, step.id) if one.startswith(f"r{round_}.{step.name.phase}.")]
        judged_again = sum(step.name.phase in row.phases for row in opened.plan) > 1
        what = f"Round {round_} was not judged" if judged_again else "Nobody judged"
        given_up = (
            f"step {lost[0]} was given up" if len(lost) == 1 else f"steps {', '.join(lost)} were given up"
        )
        text = f"{what} ({given_up}): what was handed in stands side by side. Decide."
    return (
        Concern(
            id=desk.number("concern"),
            round=step.name.round,
            phase=step.name.phase,
            by="controller",
            type="question",
            text=text,
            between=tuple(shown),
            for_human=True,
        ),
    )


def no_stand_in(book: Book, step: Step) -> tuple[Event, ...]:
    """A lost reply that nothing stands in for."""
    del book, step
    return ()


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of step. `task` and brief template are `phase`; `at_once` gives the event that carries the call."""

    phase: str
    steps: Steps
    reply: type[Reply] | Callable[[State], type[Reply]]
    at_once: Callable[[Step, Any], tuple[Event, ...]]
    later: Callable[[Desk, Step, Any], Iterator[Event]] = nothing_later
    wrong: Callable[[Known, Any], Iterator[str]] = nothing_wrong
    sees: tuple[Pick, ...] = ()
    question: Sight | None = ALL
    when: Callable[[State, int], bool] = always
    stand_in: Callable[[Book, Step], tuple[Event, ...]] = no_stand_in
    beside: bool = False
    """Side by side with the row before it."""


def asks(*roles: str) -> Steps:
    """One step for each of some roles of the cast."""

    def steps(state: State, round_: int, phase: str) -> Iterator[StepName]:
        for role in state.roles:
            if role in roles:
                yield StepName(round_, phase, None, role)

    return steps


def repeated_step(role: str, times: Callable[[State], int]) -> Steps:
    """The same step several times side by side, each a repetition with a context of its own."""

    def steps(state: State, round_: int, phase: str) -> Iterator[StepName]:
        for repeat in range(1, times(state) + 1):
            yield StepName(round_, phase, None, role, repeat)

    return steps


def one_round(phases: tuple[str, ...]) -> Callable[[Rules, int], tuple[PlanRow, ...]]:
    """The plan of one round with these phases."""

    def plan(rules: Rules, options: int) -> tuple[PlanRow, ...]:
        del rules, options
        return (PlanRow(round=1, phases=phases),)

    return plan


def handed_in(state: State, round_: int, phase: str) -> int:
    """How many replies of a phase were handed in."""
    prefix = f"r{round_}.{phase}."
    return sum(step.startswith(prefix) for step in state.answered)


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of a protocol in order, and what follows from them."""

    rows: tuple[Row, ...]

    def groups(self, state: State, round_: int) -> tuple[Group, ...]:
        """A group a row, as far as the plan's round has its phase and the row applies."""
        phases = state.opening.plan[state.rounds[round_].plan_row].phases
        found: list[Group] = []
        for row in self.rows:
            if row.phase in phases and row.when(state, round_):
                joined = found.pop() if row.beside and found else Group(row.phase, row.phase, ())
                steps = tuple(
                    Step(name, joined.name, row.phase) for name in row.steps(state, round_, row.phase)
                )
                found.append(Group(joined.name, joined.phase, (*joined.steps, *steps)))
        return tuple(group for group in found if group.steps)

    def row(self, step: Step) -> Row:
        """The row of a step."""
        return next(row for row in self.rows if row.phase == step.name.phase)

    def view(self, state: State, step: Step) -> View:
        """The question where the row has it, and the row's picks."""
        del state
        row = self.row(step)
        record: View = {Column.RECORD: Sight("picked", picks=row.sees)}
        return {Column.QUESTION: row.question, **record} if row.question else record

    def reply_type(self, state: State, step: Step) -> type[Reply]:
        """The row's shape, which a named variant may choose."""
        reply = self.row(step).reply
        return reply if isinstance(reply, type) else reply(state)

    def problems(self, book: Book, step: Step, reply: Reply, saw: frozenset[int]) -> tuple[str, ...]:
        """What the row finds wrong."""
        row = self.row(step)
        return tuple(row.wrong(known_to(book, step, saw, documents=row.question == ALL), reply))

    def record(self, book: Book, step: Step, reply: Reply) -> tuple[Event, ...]:
        """What the row yields at once."""
        del book
        return self.row(step).at_once(step, reply)

    def close(self, book: Book, group: Group, replies: Mapping[str, Reply]) -> tuple[Event, ...]:
        """What waits for its number, in the order of the steps."""
        desk = Desk(book, group.steps[0].name.round)
        return tuple(
            event
            for step in group.steps
            if step.id in replies
            for event in self.row(step).later(desk, step, replies[step.id])
        )

    def give_up(self, book: Book, step: Step) -> tuple[Event, ...]:
        """What stands in for a lost reply of the row."""
        return self.row(step).stand_in(book, step)

    def protocol(
        self,
        name: str,
        summary: str,
        roles: tuple[RoleDefinition, ...],
        plan: Callable[[Rules, int], tuple[PlanRow, ...]] | None = None,
        **more: Any,
    ) -> Protocol:
        """The protocol; without a plan it is one round with the phases of all rows, in order."""
        phases = tuple(dict.fromkeys(row.phase for row in self.rows))
        return Protocol(
            name=name,
            version=SHEET_VERSION,
            summary=summary,
            roles=roles,
            groups=self.groups,
            view=self.view,
            reply_type=self.reply_type,
            problems=self.problems,
            record=self.record,
            close=self.close,
            give_up=self.give_up,
            losses=LOSSES[name],
            plan=plan or one_round(phases),
            brief_version=2,
            prompts=more.pop("prompts", name),
            **more,
        )


def by(step: Step) -> dict[str, Any]:
    """The envelope of an event that a step yields."""
    return {"round": step.name.round, "phase": step.name.phase, "step": step.id, "by": step.role}


def statement(
    step: Step, kind: StatementType, sections: Mapping[str, str], responds_to: tuple[str, ...] = ()
) -> tuple[Event, ...]:
    """The prose of a reply: what carries its call. Sections without words are left out."""
    said = {name: text for name, text in sections.items() if text}
    return (
        Statement(
            **by(step),
            id=statement_id(step),
            type=kind,
            sections=tuple(Section(name=name, text=text) for name, text in said.items()),
            words=sum(len(text.split()) for text in said.values()),
            responds_to=responds_to,
        ),
    )


def names_losses(state: State) -> bool:
    """Whether what follows by rule says what was lost; runs of moot 0.1 counted a lost reply like a given one."""
    return state.opening.rules.get(LOST) == VERSION


def rule(state: State, name: str) -> str:
    """A named variant in force."""
    return str(state.opening.rules.get(name))
