"""A sheet: a short protocol as rows, one per kind of step, and the protocol that follows from them.

A row names the roles that are asked, the quotes of the brief, the reply's shape and checks, and the events it
yields: the first at once, numbered ones when the group closes, in role order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import msgspec

from ledger.events import Argument, Concern, Event, Statement
from ledger.events.claims import StatementType
from ledger.events.decisions import Cite
from ledger.events.ids import StepName, event_id, kind_of, round_of
from ledger.events.run import PlanRow
from ledger.events.values import Evidence, Section
from ledger.language.words import word_count
from ledger.state.book import Book
from ledger.state.state import ConcernFacts, State
from roles.protocol import Column, Group, Pick, Protocol, RoleDefinition, Rules, Sight, Step, View
from roles.replies import Cited, Reply
from rounds.protocols.losses import LOSSES
from rounds.protocols.quotable import Quotable, known_to

ALL: Final = Sight("all")
ROUNDS_KEPT: Final = 1_000
"""Rounds whose groups a sheet remembers."""


class Numbering:
    """Counter that numbers the events of a closing group, with the book they are made from."""

    def __init__(self, book: Book, round_: int, closing: frozenset[str] = frozenset()) -> None:
        self.book = book
        self.closing = closing
        """Steps with a reply in the group that closes; the last of them is not on the ledger yet."""
        self._round = round_
        self._taken: dict[str, int] = {}

    def number(self, kind: str) -> str:
        """Return the next id of a kind in this round."""
        # Counted once per kind and then in memory: the new events are not in the book
        # until they are committed.
        if kind not in self._taken:
            before = (identity for identity in self.book.by_id if kind_of(identity) == kind)
            self._taken[kind] = sum(round_of(identity) == self._round for identity in before)
        self._taken[kind] += 1
        return event_id(kind, self._round, self._taken[kind])


Steps = Callable[[State, int, str], Iterable[StepName]]
"""Function from state, round and phase to the steps of a row."""


def nothing_wrong(known: Quotable, reply: Any) -> Iterator[str]:
    """Find no problem: the shape of the reply is its only check."""
    del known, reply
    return iter(())


def nothing_later(numbering: Numbering, step: Step, reply: Any) -> Iterator[Event]:
    """Yield no numbered event."""
    del numbering, step, reply
    return iter(())


def always(state: State, round_: int) -> bool:
    """Return True: the row belongs to every run."""
    del state, round_
    return True


def nothing_is_needed(question: ConcernFacts) -> bool:
    """Return False: questions of the row may stay open."""
    del question
    return False


def is_a_question(question: ConcernFacts) -> bool:
    """Return whether a concern is a question; all of them are needed then."""
    return question.type == "question"


def side_by_side(book: Book, step: Step) -> tuple[Event, ...]:
    """Return a question to a person when no judge is left, with what was handed in side by side (AD-8)."""
    state, round_ = book.state, step.name.round
    opened = state.opening
    numbering = Numbering(book, round_)
    handed = [event for event in book.events if event.step and event.kind in ("statement", "concern")]
    shown_ids = [event.id for event in handed if event.id]
    # The step that is lost now is not on the ledger yet, so it is added.
    lost = [
        step_id
        for step_id in (*state.given_up, step.id)
        if step_id.startswith(f"r{round_}.{step.name.phase}.")
    ]
    # With several judged rounds the question must name its round; a person would not know which one is meant.
    judged_again = sum(step.name.phase in row.phases for row in opened.plan) > 1
    what = f"Round {round_} was not judged" if judged_again else "Nobody judged"
    given_up = f"step {lost[0]} was given up" if len(lost) == 1 else f"steps {', '.join(lost)} were given up"
    text = f"{what} ({given_up}): what was handed in stands side by side. Decide."
    return (
        Concern(
            id=numbering.number("concern"),
            round=step.name.round,
            phase=step.name.phase,
            by="controller",
            type="question",
            text=text,
            between=tuple(shown_ids),
            for_human=True,
        ),
    )


def no_stand_in(book: Book, step: Step) -> tuple[Event, ...]:
    """Return no event: a lost reply of the row has no replacement."""
    del book, step
    return ()


class StepRow(msgspec.Struct, frozen=True):
    """One kind of step. `task` names its template and its row; `at_once` gives the event that carries the call."""

    task: str
    steps: Steps
    reply: type[Reply] | Callable[[State], type[Reply]]
    at_once: Callable[[Numbering, Step, Any], tuple[Event, ...]]
    later: Callable[[Numbering, Step, Any], Iterable[Event]] = nothing_later
    wrong: Callable[[Quotable, Any], Iterator[str]] = nothing_wrong
    sees: tuple[Pick, ...] = ()
    question: Sight | None = ALL
    when: Callable[[State, int], bool] = always
    stand_in: Callable[[Book, Step], tuple[Event, ...]] = no_stand_in
    group: str = ""
    """Rows of one group that follow each other are asked side by side; an empty name is a group of its own."""
    columns: View | None = None
    """Columns of the brief, where they are more than the question and `sees`; they replace both."""
    needs: Callable[[ConcernFacts], bool] = nothing_is_needed
    """Test for questions of its replies to a person that must be answered before the run ends."""
    planned: bool = True
    """Whether the plan's row must have the phase; otherwise `when` alone decides."""

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


def asks(*roles: str) -> Steps:
    """Build the steps of a row: one for each of some roles of the cast."""

    def steps(state: State, round_: int, phase: str) -> Iterator[StepName]:
        # The cast decides and not the row: a variant may leave roles out, and their order is the cast's.
        for role in state.roles:
            if role in roles:
                yield StepName(round_, phase, None, role)

    return steps


def asks_each(who: Callable[[State, int], tuple[str, ...]], act: str | None = None, repeat: int = 1) -> Steps:
    """Build the steps of a row: one for each role that `who` names in a round."""

    def steps(state: State, round_: int, phase: str) -> Iterator[StepName]:
        for role in who(state, round_):
            yield StepName(round_, phase, act, role, repeat)

    return steps


def repeated_step(role: str, times: Callable[[State], int]) -> Steps:
    """Build the steps of a row: the same step several times side by side, each with a context of its own."""

    def steps(state: State, round_: int, phase: str) -> Iterator[StepName]:
        for repeat in range(1, times(state) + 1):
            yield StepName(round_, phase, None, role, repeat)

    return steps


def one_round(phases: tuple[str, ...]) -> Callable[[Rules, int], tuple[PlanRow, ...]]:
    """Build a plan of one round with these phases."""

    def plan(rules: Rules, options: int) -> tuple[PlanRow, ...]:
        del rules, options
        return (PlanRow(round=1, phases=phases),)

    return plan


def handed_in(state: State, round_: int, phase: str) -> int:
    """Return how many replies of a phase were handed in."""
    prefix = f"r{round_}.{phase}."
    return sum(step.startswith(prefix) for step in state.answered)


class Sheet(msgspec.Struct, frozen=True, eq=False):
    """The rows of a protocol in order, and what follows from them."""

    rows: tuple[StepRow, ...]
    closing_order: tuple[str, ...] = ()
    """Kinds of events in the order of a closing group; empty for the order of the steps."""
    follows_from: Callable[[State, int], Hashable] | None = None
    """Key of everything that the groups of a round depend on, where building them is slow."""
    _made: dict[Hashable, tuple[Group, ...]] = msgspec.field(
        default_factory=dict[Hashable, tuple[Group, ...]]
    )

    _of_task: dict[str, StepRow] = msgspec.field(default_factory=dict[str, StepRow])

    def __post_init__(self) -> None:
        # Reversed, so that of rows with the same task the first one wins.
        self._of_task.update((row.task, row) for row in reversed(self.rows))

    def groups(self, state: State, round_: int) -> tuple[Group, ...]:
        """Return the groups of a round in order, as far as rows apply and ask at least one role."""
        if self.follows_from is None:
            return self._groups(state, round_)
        key = self.follows_from(state, round_)
        if key not in self._made:
            # A long process opens many runs; without a limit this memory would grow with each of them.
            if len(self._made) >= ROUNDS_KEPT:
                self._made.clear()
            self._made[key] = self._groups(state, round_)
        return self._made[key]

    def _groups(self, state: State, round_: int) -> tuple[Group, ...]:
        phases = state.opening.plan[state.rounds[round_].plan_row].phases
        by_name: dict[str, list[Step]] = {}
        for row in self.rows:
            if (not row.planned or row.phase in phases) and row.when(state, round_):
                name = row.group or row.task
                steps = by_name.setdefault(name, [])
                steps += (
                    step_of(step_name, name, row.task) for step_name in row.steps(state, round_, row.phase)
                )
        # Groups that ask no role are left out: an empty group would never be complete.
        return tuple(
            Group(name, steps[0].name.phase, tuple(steps)) for name, steps in by_name.items() if steps
        )

    def row(self, step: Step) -> StepRow:
        """Return the row of a step."""
        return self._of_task[step.task]

    def view(self, state: State, step: Step) -> View:
        """Return what the brief of a step quotes."""
        del state
        return self.row(step).view

    def reply_type(self, state: State, step: Step) -> type[Reply]:
        """Return the row's shape, which a named variant may choose."""
        reply = self.row(step).reply
        return reply if isinstance(reply, type) else reply(state)

    def problems(self, book: Book, step: Step, reply: Reply, saw: frozenset[int]) -> tuple[str, ...]:
        """Return the problems that the row finds."""
        row = self.row(step)
        return tuple(row.wrong(known_to(book, step, saw, documents=_shows_documents(row.view)), reply))

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
        """Return what the last round of a waiting run still needs: the questions that rows mark as needed."""
        # Questions of earlier rounds can still be settled by a later one, so only the last round waits.
        is_last = state.rounds[state.round].plan_row + 1 == len(state.opening.plan)
        return self.marked(state) if state.waits and is_last else ()

    def marked(self, state: State) -> tuple[str, ...]:
        """Return needed questions without an answer; none where a person decided instead."""
        # A person who overrides the final decision has answered every question that it was waiting for.
        if any(facts.type == "override" and facts.rank == "final" for facts in state.decisions.values()):
            return ()
        marks = {row.phase: row.needs for row in self.rows if row.needs is not nothing_is_needed}
        return tuple(
            identity
            for identity, concern in state.concerns.items()
            if concern.for_human and concern.by in state.roles and identity not in state.resolved
            if concern.phase in marks and marks[concern.phase](concern)
        )

    def give_up(self, book: Book, step: Step) -> tuple[Event, ...]:
        """Return what replaces a lost reply of the row."""
        return self.row(step).stand_in(book, step)

    def protocol(
        self,
        name: str,
        summary: str,
        roles: tuple[RoleDefinition, ...],
        *,
        plan: Callable[[Rules, int], tuple[PlanRow, ...]] | None = None,
        **more: Any,
    ) -> Protocol:
        """Return the protocol; without a plan it is one round with the phases of all rows, in order."""
        phases = tuple(dict.fromkeys(row.phase for row in self.rows))
        return Protocol(
            name=name,
            summary=summary,
            roles=roles,
            groups=self.groups,
            view=more.pop("view", self.view),
            reply_type=self.reply_type,
            problems=self.problems,
            record=self.record,
            close=self.close,
            give_up=self.give_up,
            needed=more.pop("needed", self.needed),
            losses=LOSSES[name],
            plan=plan or one_round(phases),
            prompts=more.pop("prompts", name),
            **more,
        )


def _shows_documents(view: View) -> bool:
    """Return whether a brief quotes the documents, so that a reply may."""
    question = view.get(Column.QUESTION)
    return question is not None and question.extent != "goals"


@cache
def step_of(name: StepName, group: str, task: str) -> Step:
    """Return the step of that name, cached because the same few are asked about again and again."""
    return Step(name, group, task)


def by(step: Step) -> dict[str, Any]:
    """Return the envelope of an event that a step yields."""
    return {"round": step.name.round, "phase": step.name.phase, "step": step.id, "by": step.role}


def statement(
    step: Step, kind: StatementType, sections: Mapping[str, str], responds_to: tuple[str, ...] = ()
) -> tuple[Event, ...]:
    """Return the prose of a reply, which carries its call. Sections without words are left out."""
    filled = {name: text for name, text in sections.items() if text}
    return (
        Statement(
            **by(step),
            id=statement_id(step),
            type=kind,
            sections=tuple(Section(name=name, text=text) for name, text in filled.items()),
            words=sum(map(word_count, filled.values())),
            responds_to=responds_to,
        ),
    )


def rule(state: State, name: str) -> str:
    """Return a named variant in force."""
    return str(state.opening.rules.get(name))


def evidence_of(cited: Iterable[Cited]) -> tuple[Evidence, ...]:
    """Return the citations of a reply, as events keep them."""
    return tuple(Evidence(ref=entry.ref, quote=entry.quote) for entry in cited)


UPHELD: Final = frozenset({"UPHELD", "SURVIVE"})
STANDS: Final = UPHELD | {"PARTIALLY_UPHELD"}
"""Standings with which an argument carries a decision."""


def cites_of_winner(
    arguments: Iterable[Argument], winner: str | None, standings: Mapping[str, Sequence[str]]
) -> tuple[Cite, ...]:
    """Return the arguments that a judged decision rests on: the winner's that stand, or both sides' without a winner.

    `standings` maps each argument to its standings by all judges; an unjudged argument stands, and more than half of
    the judges decide. Where nothing stands the decision rests on no argument, and settles them all.
    """
    heard = [(event.id, event.side) for event in arguments]
    cites = tuple(
        Cite(
            type="argument",
            id=identity,
            relation="supported-by" if _most(standings.get(identity, ()), UPHELD) else "builds-on",
        )
        for identity, side in heard
        if winner in (None, side) and _most(standings.get(identity, ()), STANDS)
    )
    # A decision needs at least one cite (SD-47), even where no argument of the winner survived.
    return cites or tuple(Cite(type="argument", id=identity, relation="resolves") for identity, _ in heard)


def _most(standings: Sequence[str], wanted: frozenset[str]) -> bool:
    # An argument that no judge mentions was not attacked, so it stands.
    return not standings or 2 * sum(standing in wanted for standing in standings) > len(standings)


def statement_id(step: Step) -> str:
    """Return the id of the text that a step hands in (FORMAT 3)."""
    name = step.name
    return event_id("statement", name.round, name.phase, name.act, name.role, repeat=name.repeat)
