"""Step table: a protocol as rows, one per kind of step, and the functions of the protocol that follow from them.

A row names the roles that are asked, what their prompt quotes, the shape and the checks of the reply, the events that
the reply becomes, and what its loss means. The first event is written at once and carries the call. Events with a
number wait until all steps of the group are settled, and are numbered in role order: ids do not depend on which reply
arrived first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeVar

import msgspec

from ledger.events import (
    Concern,
    Decision,
    Envelope,
    Event,
    Statement,
)
from ledger.events.claims import StatementType
from ledger.events.decisions import Cite, Requirement
from ledger.events.envelope import Section
from ledger.events.ids import StepName, event_id, kind_of, number_of, round_of
from ledger.events.kinds import KINDS
from ledger.events.run import PlanRow
from ledger.language.words import word_count
from ledger.plain_json import converted
from ledger.state.book import Book, known_of
from ledger.state.decided import is_overruled
from ledger.state.state import VERIFIER, State
from roles.protocol import Column, Group, Loss, Pick, Protocol, RoleDefinition, Rules, Sight, Step, View
from roles.replies import Reply
from rounds.protocols.citations import Quotable

E = TypeVar("E", bound=Envelope)
ALL: Final = Sight("all")
COUNTED: Final[Mapping[type[Envelope], str]] = {
    row.model: kind for kind, row in KINDS.items() if row.is_counted
}
"""Kinds whose ids count the events of a round."""
ROUNDS_KEPT: Final = 1_000
"""Rounds whose groups a step table remembers."""
LOST_VERDICT: Final = Loss(
    "raw_side_by_side", "nobody judges what was handed in: that is left to a person", decides=True
)
"""Consequence of a missing verdict in protocols of one judge."""


class Numbering:
    """Maker of the events of one closing group: it numbers them, and knows the book that they are made from."""

    def __init__(self, book: Book, round_: int, closing: frozenset[str] = frozenset()) -> None:
        self.book = book
        self.closing = closing
        """Steps with a reply in the group that closes; the last of them is not on the ledger yet."""
        self._round = round_
        self._taken: dict[str, int] = {}

    def number(self, kind: type[Envelope]) -> str:
        """Return the next id of a kind in this round."""
        name = COUNTED[kind]
        # Counted once per kind and then in memory: the new events are not in the book
        # until they are committed.
        if name not in self._taken:
            before = (identity for identity in self.book.by_id if kind_of(identity) == name)
            self._taken[name] = sum(round_of(identity) == self._round for identity in before)
        self._taken[name] += 1
        return event_id(name, self._round, self._taken[name])

    def event(self, kind: type[E], step: Step, draft: Reply | None = None, **fields: Any) -> E:
        """Make an event of a step: it takes over the fields of `draft` that it has too, and `fields` go first."""
        taken = {name: getattr(draft, name) for name in kind.__struct_fields__ if hasattr(draft, name)}
        return self._convert(kind, by(step) | taken | fields)

    def computed(self, kind: type[E], phase: str = "", **fields: Any) -> E:
        """Make an event of the controller, in the phase that the run is in."""
        envelope = {"round": self._round, "phase": phase or self.book.state.phase, "by": "controller"}
        return self._convert(kind, envelope | fields)

    def _convert(self, kind: type[E], fields: dict[str, Any]) -> E:
        if kind in COUNTED and "id" not in fields:
            fields["id"] = self.number(kind)
        # Converted and not constructed, so that citations of a reply become those of an event on the way.
        return converted(fields, kind, from_attributes=True)

    def decision(self, step: Step, reply: Any, cites: Iterable[Cite], **fields: Any) -> Decision:
        """Make the final decision of the role that a protocol lets decide, with the conditions that it names."""
        fields.setdefault("text", getattr(reply, "decision", ""))
        needs = tuple(Requirement(text=text) for text in getattr(reply, "requirements", ()))
        final = {"type": "final", "made_by": "judge", "requirements": needs, "cites": tuple(cites)}
        return self.event(Decision, step, reply, **(final | fields))


Steps = Callable[[State, int, str], Iterable[StepName]]
"""Function from state, round and phase to the steps of a row."""
Later = Callable[[Numbering, Step, Any], Iterable[Event]]
"""Function from a reply to the events that wait for their number."""
Wrong = Callable[[Quotable, Any], Iterable[str]]
"""Function from a reply to its problems, quotes aside."""
When = Callable[[State, int], bool]
"""Condition of a row, from state and round."""
FieldOf = str | Callable[[Step, Any], object]
"""Field of an event: the same for every entry of a reply, or a function of step and entry."""


class StepRow(msgspec.Struct, frozen=True):
    """One kind of step. `task` names its template and its row; `at_once` gives the event that carries the call."""

    task: str
    steps: Steps
    reply: type[Reply] | Callable[[State], type[Reply]]
    at_once: Callable[[Numbering, Step, Any], tuple[Event, ...]]
    later: Later = lambda _numbering, _step, _reply: ()
    wrong: Wrong = lambda _known, _reply: ()
    """Its problems; that every quote stands where the reply says is checked for all rows alike."""
    loss: Loss | Mapping[str, Loss] = {}
    """Consequence of its loss; by kind of step where that depends on role or repetition (`roles.protocol.loss_of`)."""
    sees: tuple[Pick, ...] = ()
    question: Sight | None = ALL
    when: When = lambda _state, _round: True
    stand_in: Callable[[Book, Step], tuple[Event, ...]] = lambda _book, _step: ()
    """Events that replace a lost reply."""
    group: str = ""
    """Rows of one group that follow each other are asked side by side; an empty name is a group of its own."""
    columns: View | None = None
    """Columns of the brief, where they are more than the question and `sees`; they replace both."""
    needs_answers: bool = False
    """Whether the run waits for a person's answer to every question of its replies."""
    planned: bool = True
    """Whether the plan's row must have the phase; otherwise `when` alone decides."""
    widest: Steps | None = None
    """Steps of the largest run, for prices and waits, where replies decide who is asked; None: those of `steps`."""

    @property
    def phase(self) -> str:
        """Return the phase of its steps: the task's first word."""
        return self.task.partition(".")[0]

    @property
    def view(self) -> View:
        """Return what the brief of such a step quotes."""
        if self.columns is not None:
            return self.columns
        record: View = {Column.RECORD: Sight("picked", picks=self.sees)}
        return {Column.QUESTION: self.question, **record} if self.question else record


# ---------------------------------------------------------------- who is asked, and when


def asks(*roles: str) -> Steps:
    """Build the steps of a row: one for each of some roles of the cast."""
    # The cast decides and not the row: a variant may leave roles out, and their order is the cast's.
    return asks_each(lambda state, _round: tuple(role for role in state.roles if role in roles))


def asks_each(who: Callable[[State, int], Iterable[str]], act: str | None = None, repeat: int = 1) -> Steps:
    """Build the steps of a row: one for each role that `who` names in a round."""
    return lambda state, round_, phase: (
        StepName(round_, phase, act, role, repeat) for role in who(state, round_)
    )


# The verifier frames, merges and checks. It gives no forecast, so its replies never move the group forecast.
def verifier_alone(_state: State, _round: int) -> tuple[str, ...]:
    """Return the verifier, whom alone a row asks."""
    return (VERIFIER,)


def repeated_step(role: str, times: Callable[[State], int]) -> Steps:
    """Build the steps of a row: the same step several times side by side, each with a context of its own."""
    return lambda state, round_, phase: (
        StepName(round_, phase, None, role, repeat) for repeat in range(1, times(state) + 1)
    )


def handed_in(state: State, round_: int, phase: str) -> int:
    """Return how many replies of a phase were handed in."""
    prefix = f"r{round_}.{phase}."
    return sum(step.startswith(prefix) for step in state.answered)


def after(phase: str, least: int = 1) -> When:
    """Build the condition of a row that follows from replies of an earlier phase."""
    return lambda state, round_: handed_in(state, round_, phase) >= least


# ---------------------------------------------------------------- what a reply becomes


@cache
def step_of(name: StepName, group: str, task: str) -> Step:
    """Return the step of that name, cached because the same few are asked about again and again."""
    return Step(name, group, task)


def by(step: Step) -> dict[str, Any]:
    """Return the envelope of an event that a step yields."""
    return {"round": step.name.round, "phase": step.name.phase, "step": step.id, "by": step.role}


def statement_id(step: Step) -> str:
    """Return the id of the text that a step hands in (FORMAT 3)."""
    name = step.name
    return event_id("statement", name.round, name.phase, name.act, name.role, repeat=name.repeat)


def statement(
    step: Step, kind: StatementType, sections: Mapping[str, str], **fields: Any
) -> tuple[Statement, ...]:
    """Return the prose of a reply, which carries its call. Sections without words are left out."""
    filled = {name: text for name, text in sections.items() if text}
    return (
        Statement(
            **by(step),
            id=statement_id(step),
            type=kind,
            sections=tuple(Section(name=name, text=text) for name, text in filled.items()),
            # Words are counted here and never taken from the reply: limits on length are judged by this number.
            words=sum(map(word_count, filled.values())),
            **fields,
        ),
    )


def says(kind: StatementType, *fields: str) -> Callable[[Numbering, Step, Any], tuple[Event, ...]]:
    """Build the statement of a row from texts of its reply; a section has the name of its field."""
    return lambda _, step, reply: statement(step, kind, {name: getattr(reply, name) for name in fields})


def each(
    part: str, kind: type[E], order: str = "", *, ranked: bool = False, **fields: FieldOf
) -> Callable[[Numbering, Step, Any], Iterator[E]]:
    """Build the events of a row: one for each entry of a list in the reply.

    `order` names the field with the id that the entries answer, by whose number they are sorted: the ledger must not
    depend on the order in which a reply lists them.
    """

    def later(numbering: Numbering, step: Step, reply: Any) -> Iterator[E]:
        entries = getattr(reply, part)
        if order:
            entries = sorted(entries, key=lambda entry: number_of(getattr(entry, order)))
        for rank, entry in enumerate(entries, 1):
            more = {name: value(step, entry) if callable(value) else value for name, value in fields.items()}
            yield numbering.event(kind, step, entry, **more, **({"rank": rank} if ranked else {}))

    return later


def revised(section: str, outcome: str) -> Callable[[Step, Any], str | None]:
    """Build the reference to the text as revised, for answers with that outcome: a reader finds there what changed."""
    return lambda step, answer: f"{statement_id(step)}#{section}" if answer.outcome == outcome else None


def side_by_side(book: Book, step: Step) -> tuple[Event, ...]:
    """Return a question to a person when no judge is left, with what was handed in side by side (AD-8)."""
    state, round_ = book.state, step.name.round
    # Role by role, each role's in order: which role answered first must not matter.
    texts = sorted(
        (event for event in book.events if event.step and event.kind in ("statement", "concern")),
        key=lambda event: state.roles.index(event.by),
    )
    # A person cannot decide between nothing.
    if not texts:
        return ()
    # The step that is lost now is not on the ledger yet, so it is added.
    prefix = f"r{round_}.{step.name.phase}."
    lost = sorted(step_id for step_id in (*state.given_up, step.id) if step_id.startswith(prefix))
    # With several judged rounds the question must name its round; a person would not know which one is meant.
    judged_again = sum(step.name.phase in row.phases for row in state.opening.plan) > 1
    what = f"Round {round_} was not judged" if judged_again else "Nobody judged"
    given_up = f"step {lost[0]} was given up" if len(lost) == 1 else f"steps {', '.join(lost)} were given up"
    text = f"{what} ({given_up}): what was handed in stands side by side. Decide."
    question = {"type": "question", "text": text, "between": [event.ref for event in texts]}
    return (Numbering(book, round_).computed(Concern, step.name.phase, **question, for_human=True),)


def rule(state: State, name: str) -> str:
    """Return a named variant in force."""
    return str(state.opening.rules.get(name))


def as_many(roles: tuple[str, ...], name: str, last: str) -> Callable[[Rules], tuple[str, ...]]:
    """Build a cast: as many of `roles` as the named variant says, and the role that comes after them."""

    def cast(rules: Rules) -> tuple[str, ...]:
        return (*roles[: int(str(rules[name]))], last)

    return cast


# ---------------------------------------------------------------- the protocol


class StepTable(msgspec.Struct, frozen=True, eq=False):
    """The rows of a protocol in order, and what follows from them."""

    rows: tuple[StepRow, ...]
    closing_order: tuple[str, ...] = ()
    """Kinds of events in the order of a closing group; empty for the order of the steps."""
    follows_from: Callable[[State, int], Hashable] | None = None
    """Key of everything that the groups of a round depend on, where building them is slow."""
    _kept: dict[Hashable, tuple[Group, ...]] = msgspec.field(
        default_factory=dict[Hashable, tuple[Group, ...]]
    )
    _of_task: dict[str, StepRow] = msgspec.field(default_factory=dict[str, StepRow])

    def __post_init__(self) -> None:
        # Reversed, so that of rows with the same task the first one wins.
        self._of_task.update((row.task, row) for row in reversed(self.rows))

    def groups(self, state: State, round_: int) -> tuple[Group, ...]:
        """Return the groups of a round in order, as far as rows apply and ask at least one role."""
        if self.follows_from is None:
            return known_of(state, (self, round_), lambda: self._groups(state, round_))
        key = self.follows_from(state, round_)
        if key not in self._kept:
            # A long process opens many runs; without a limit this memory would grow with each of them.
            if len(self._kept) >= ROUNDS_KEPT:
                self._kept.clear()
            self._kept[key] = self._groups(state, round_)
        return self._kept[key]

    def _groups(self, state: State, round_: int) -> tuple[Group, ...]:
        phases = state.opening.plan[state.rounds[round_].plan_row].phases
        # Once a person overrides the final decision, no further reply is asked for; replies already given stay. Groups
        # kept by `follows_from` are shared by runs, and their key does not hold what a person did.
        is_over = self.follows_from is None and is_overruled(state)
        return _grouped(
            (
                row,
                [
                    step
                    for step in row.steps(state, round_, row.phase)
                    if not is_over or state.is_done(f"{step}")
                ],
            )
            for row in self.rows
            if (not row.planned or row.phase in phases) and row.when(state, round_)
        )

    def widest(self, state: State, round_: int) -> tuple[Group, ...]:
        """Return the groups of the largest run; later rounds follow from a person's results and have no price."""
        rows = self.rows if round_ == 1 else ()
        return _grouped((row, (row.widest or row.steps)(state, round_, row.phase)) for row in rows)

    def row(self, step: Step) -> StepRow:
        """Return the row of a step."""
        return self._of_task[step.task]

    def view(self, _state: State, step: Step) -> View:
        """Return what the brief of a step quotes."""
        return self.row(step).view

    def reply_type(self, state: State, step: Step) -> type[Reply]:
        """Return the row's shape, which a named variant may choose."""
        reply = self.row(step).reply
        return reply if isinstance(reply, type) else reply(state)

    def problems(self, book: Book, step: Step, reply: Reply, saw: frozenset[int]) -> tuple[str, ...]:
        """Return the problems that the row finds, then quotes that do not stand where the reply says."""
        row = self.row(step)
        question = row.view.get(Column.QUESTION)
        # Only a brief that quotes the documents lets a reply quote them.
        documents = question is not None and question.extent != "goals"
        quoted = {event.id: event for event in book.events if event.seq in saw and event.id is not None}
        known = Quotable(book, step, quoted, documents)
        return (*row.wrong(known, reply), *known.cited_problems(reply))

    def record(self, book: Book, step: Step, reply: Reply) -> tuple[Event, ...]:
        """Return what the row yields at once."""
        return self.row(step).at_once(Numbering(book, step.name.round), step, reply)

    def close(self, book: Book, group: Group, replies: Mapping[str, Reply]) -> tuple[Event, ...]:
        """Return what waits for its number, in the order of the steps."""
        # One numbering for the whole group: ids then follow the order of the steps and not
        # that of the replies.
        numbering = Numbering(book, group.steps[0].name.round, frozenset(replies))
        events = [
            event
            for step in group.steps
            if step.id in replies
            for event in self.row(step).later(numbering, step, replies[step.id])
        ]
        if self.closing_order:
            events.sort(key=lambda event: self.closing_order.index(event.kind))
        return tuple(events)

    def needed(self, state: State) -> tuple[str, ...]:
        """Return the questions to a person that a waiting run still needs answered in its last round."""
        # Questions of earlier rounds can still be settled by a later one, so only the last round waits.
        is_last = state.rounds[state.round].plan_row + 1 == len(state.opening.plan)
        if not (state.waits and is_last) or is_overruled(state):
            return ()
        phases = {row.phase for row in self.rows if row.needs_answers}
        return tuple(
            identity
            for identity, concern in state.concerns.items()
            if concern.for_human and concern.by in state.roles and identity not in state.resolved
            if concern.phase in phases and concern.type == "question"
        )

    def give_up(self, book: Book, step: Step) -> tuple[Event, ...]:
        """Return what replaces a lost reply of the row."""
        return self.row(step).stand_in(book, step)

    @property
    def losses(self) -> dict[str, Loss]:
        """Return the meaning of each loss, by kind of step: `phase`, `phase.role`, `phase.act` or `phase.act~`."""
        losses: dict[str, Loss] = {}
        for row in self.rows:
            losses |= {row.task: row.loss} if isinstance(row.loss, Loss) else row.loss
        return losses

    def protocol(self, name: str, summary: str, roles: tuple[RoleDefinition, ...], **more: Any) -> Protocol:
        """Return the protocol; without a plan it is one round with the phases of all rows, in order."""
        phases = tuple(dict.fromkeys(row.phase for row in self.rows))

        def plan(_rules: Rules, _options: int) -> tuple[PlanRow, ...]:
            return (PlanRow(round=1, phases=phases),)

        fields: dict[str, Any] = {
            "groups": self.groups,
            "view": self.view,
            "reply_type": self.reply_type,
            "problems": self.problems,
            "record": self.record,
            "close": self.close,
            "give_up": self.give_up,
            "needed": self.needed,
            "losses": self.losses,
            "plan": plan,
            "prompts": name,
        }
        return Protocol(name, summary, roles, **(fields | more))


def _grouped(rows: Iterable[tuple[StepRow, Iterable[StepName]]]) -> tuple[Group, ...]:
    """Return the steps of rows in their groups. One without a step is left out: it would never be complete."""
    by_name: dict[str, list[Step]] = {}
    for row, steps in rows:
        name = row.group or row.task
        by_name.setdefault(name, []).extend(step_of(step, name, row.task) for step in steps)
    return tuple(Group(name, steps[0].name.phase, tuple(steps)) for name, steps in by_name.items() if steps)
