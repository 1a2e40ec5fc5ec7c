"""The types of a protocol: steps, groups, what a step may see, what it must return.

A protocol is a table and pure functions; the tables live in `rounds/protocols/`. Everything here is data, so that a
brief, a validator and a diagram can be made from the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final, Literal

import msgspec

from ledger.events import Decision, Event, RunOpened
from ledger.events.ids import StepName
from ledger.events.run import CloseReason, PlanRow
from ledger.state.book import Book
from ledger.state.state import State
from roles.replies import Reply


class Column(StrEnum):
    """What a brief can quote (the columns of FORMAT 5)."""

    QUESTION = "question"
    PLAN = "plan"
    DECISIONS = "decisions"
    OLD_CLAIMS = "old_claims"
    PROPOSAL = "proposal"
    SUPPLEMENTS = "supplements"
    ARTIFACTS = "artifacts"
    CLAIMS = "claims"
    POSITIONS = "positions"
    VERDICTS = "verdicts"
    FLIPS = "flips"
    AMENDMENTS = "amendments"
    RECORD = "record"
    """What earlier steps handed in, by `Sight.picks`."""
    MOVED = "moved"
    """What has become of claims that are shown as they were before; no view names it, it follows from the claims."""
    BEFORE = "before"
    """What the protocol tells everybody behind the question (`Protocol.tells`)."""
    TOLD = "told"
    """What the protocol tells this step alone."""
    PLACES = "places"
    """The passages that the claims under test name, where the artifacts that are shown do not hold them."""
    UNANSWERED = "unanswered"
    """What the last drift check said, and questions that nobody has answered."""
    LATE = "late"
    """Of the round's claims those that were raised when its verdicts were known; no view names it either."""


Extent = Literal[
    "all",  # everything the column holds
    "goals",  # QUESTION: the goals alone
    "all_to_judge",  # QUESTION: all of it, for who judges
    "absent",  # PLAN: who is absent, nothing else
    "open_or_cited",  # OLD_CLAIMS: claims of earlier rounds that are open, or cited by a decision in force
    "pending",  # OLD_CLAIMS: pending claims of earlier rounds (with S: every pending claim)
    "may_move",  # OLD_CLAIMS: earlier claims that a check may move
    "every",  # OLD_CLAIMS: all claims of the run, this round's too
    "listed",  # ARTIFACTS: of the roles named; VERDICTS: of the checks named
    "cited",  # what the quoted claims, decisions or tensions cite
    "named",  # PLACES: what the claims that may move name
    "all_and_objections",  # FLIPS: all, and what each role holds against where the round is heading
    "last_tensions",  # FLIPS: the tensions of the last round, where cited as open
    "open_tensions",  # FLIPS: every tension that is not resolved
    "reviews_and_open_tensions",  # FLIPS: the same, and this round's retrospectives (S.review) of all roles
    "picked",  # RECORD: what `picks` name
]

Whose = Literal[
    "all",
    "own",  # what the role asked wrote itself
    "others",  # what any other role, or another repetition of this one, wrote
    "target",  # what the role named in the step's act (`on_safety`) wrote
    "aimed",  # what names an event of the role asked as its target
]


class Pick(msgspec.Struct, frozen=True):
    """What earlier steps of one phase handed in, as far as a brief quotes it. `kinds`: none is every kind."""

    phase: str
    kinds: tuple[str, ...] = ()
    whose: Whose = "all"
    back: int = 0
    """How many rounds back; 0 is this round."""
    sections: tuple[str, ...] = ()
    """Of statements only these sections, without a head; none is the whole statement."""


class Sight(msgspec.Struct, frozen=True):
    """How much of a column a step sees; `names` are roles or check ids for `listed`."""

    extent: Extent
    names: tuple[str, ...] = ()
    picks: tuple[Pick, ...] = ()


View = Mapping[Column, Sight]
"""Column → how much of it; a column that is not there is never shown."""


class Step(msgspec.Struct, frozen=True):
    """One act asked of one role. `task` names the template of the brief's last block; `group` the siblings."""

    name: StepName
    group: str
    task: str
    id: str = ""
    """The stable id, `r3.E.check1.verifier`."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "id", str(self.name))

    @property
    def role(self) -> str:
        """Who is asked."""
        return self.name.role


class Group(msgspec.Struct, frozen=True):
    """Steps that can run side by side; their numbers are assigned when the last one is answered or given up."""

    name: str
    phase: str
    steps: tuple[Step, ...]


class RoleDefinition(msgspec.Struct, frozen=True):
    """A role of a protocol: its question and its charter's template."""

    id: str
    question: str
    charter: str
    title: str = ""
    """Who holds the seat, where the protocol has no castings by domain."""


Instead = Literal["skipped", "unclear", "refuse", "survivor_only", "raw_side_by_side"]
"""What a fallback says that the run does without a reply (FORMAT 2)."""


class Loss(msgspec.Struct, frozen=True):
    """What a protocol does without the reply of one kind of step; `means` says it to people, in a clause."""

    instead: Instead
    means: str
    decides: bool = False
    """The outcome is this step's: when no such step is answered, nobody decided."""


def loss_of(losses: Mapping[str, Loss], step: StepName) -> Loss:
    """The row of a table of losses for a step: the narrowest that fits."""
    phase, again = step.phase, "~" if step.repeat > 1 else ""
    acts = (f"{phase}.{step.act}{again}", f"{phase}.{step.act}")
    return next(
        losses[kind] for kind in (*acts, f"{phase}.{step.role}", f"{phase}{again}", phase) if kind in losses
    )


Rules = Mapping[str, str | int | bool | None]
"""`run_opened.rules`: the named variants in force."""


def nothing_owed(book: Book) -> tuple[Event, ...]:
    """The controller of most protocols writes nothing inside a round."""
    del book
    return ()


def nothing_told(book: Book, step: Step, column: Column) -> tuple[tuple[str, str, tuple[int, ...]], ...]:
    """What most protocols tell beside what their tables pick."""
    del book, step, column
    return ()


def nothing_after_answer(book: Book, answer: Decision) -> tuple[Event, ...]:
    """A person's answer computes nothing in most protocols."""
    del book, answer
    return ()


def nothing_brought(reply: Reply) -> Mapping[str, bytes]:
    """The replies of most protocols bring no files."""
    del reply
    return {}


def nothing_set_aside(state: State) -> frozenset[str]:
    """Every experiment that is planned is run."""
    del state
    return frozenset()


def nothing_first(state: State, group: Group) -> tuple[str, ...]:
    """No step of most protocols waits for an experiment; who is asked next follows from what came out."""
    del state, group
    return ()


def nothing_needed(state: State) -> tuple[str, ...]:
    """Most protocols end with whatever a person was asked left open."""
    del state
    return ()


AfterRound = CloseReason | Literal["next", "wait", "steps"]
"""What follows a round: its end, the next one, nothing until somebody answers, or steps that are still to be asked."""


class Protocol(msgspec.Struct, frozen=True):
    """A protocol: its table and its pure functions. All of them compute from the book alone."""

    name: str
    summary: str
    roles: tuple[RoleDefinition, ...]
    groups: Callable[[State, int], tuple[Group, ...]]
    """(state, round) → the groups of that round in order, as far as they are determined."""
    view: Callable[[State, Step], View]
    """What the brief of a step quotes."""
    reply_type: Callable[[State, Step], type[Reply]]
    """The shape that a reply must have."""
    problems: Callable[[Book, Step, Reply, frozenset[int]], tuple[str, ...]]
    """(book, step, reply, saw) → what is wrong with a well-shaped reply, in words that name only what the brief
    quoted: an id that exists but was not quoted reads "unknown", exactly like one that does not exist."""
    record: Callable[[Book, Step, Reply], tuple[Event, ...]]
    """The events that a reply yields at once; the first one will carry the call."""
    close: Callable[[Book, Group, Mapping[str, Reply]], tuple[Event, ...]]
    """(book, group, replies) → the events that closing a group yields: what is numbered in role order. Replies by step
    id (a given-up step has none). `via` is filled in by the engine from the event's step."""
    give_up: Callable[[Book, Step], tuple[Event, ...]]
    """(book, step) → events that stand in for the missing reply."""
    losses: Mapping[str, Loss]
    """Kind of step → what its loss means (`rounds/protocols/losses.py`)."""
    plan: Callable[[Rules, int], tuple[PlanRow, ...]]
    """(named variants, number of options) → the rounds, where the deliberation file writes none."""
    prompts: str
    """Which installed prompt set a new run opens with."""
    tells: Callable[[Book, Step, Column], Iterable[tuple[str, str, tuple[int, ...]]]] = nothing_told
    """(book at the opening of the step, step, column) → (name, text as it stands in the brief, seqs of the events
    shown), where the table's picks cannot say it."""
    widest: Callable[[State, int], tuple[Group, ...]] | None = None
    """(state, round) → the groups of a round that asks for all it can, where what is asked follows from replies; None:
    `groups` says it."""
    look: Callable[[Book, str], tuple[Event, ...]] | None = None
    """(book, phase) → what is read of the run behind the validation of a round, where that is not the stop signals."""
    after_round: Callable[[State], AfterRound] | None = None
    """Whether the next round opens, the run waits, or why it ends; None: as the plan says."""
    needed: Callable[[State], tuple[str, ...]] = nothing_needed
    """Questions to a person that have to be answered before the run goes on, when nobody else is asked for anything."""
    profile: str = ""
    """The stop profile of every run, where the protocol has one of its own."""
    owed: Callable[[Book], tuple[Event, ...]] = nothing_owed
    """What the controller writes inside a round as soon as it is due, beyond what closing a group yields."""
    after_answer: Callable[[Book, Decision], tuple[Event, ...]] = nothing_after_answer
    """(book with a person's answer, the answer) → what follows from it at once, in the same commit."""
    brought: Callable[[Reply], Mapping[str, bytes]] = nothing_brought
    """Files that a reply brings, by hash: they are kept beside it."""
    set_aside: Callable[[State], frozenset[str]] = nothing_set_aside
    """Planned experiments that are not to be run."""
    runs_first: Callable[[State, Group], tuple[str, ...]] = nothing_first
    """(state, group) → experiments that are run before anybody of the group is asked."""
    fixed_plan: bool = True
    """Whether these are all rounds that there can be, so that no file may write others and nobody is ever absent."""
    watched: bool = False
    """Whether the run looks at the stop signals, raises alarms and ends with a synthesis."""
    raises_claims: bool = False
    """Whether its roles raise claims, which a program can test."""
    has_castings: bool = False
    """Whether the roles have titles and charges by domain; otherwise they are the same everywhere."""
    variants: Mapping[str, tuple[str, ...]] = {}
    """Named variant → its values, the first the default: what `[rules]` can choose here."""
    options_wanted: tuple[int, int] = (0, 64)
    """Least and most options that the protocol can compare."""
    cast: Callable[[Rules], tuple[str, ...]] | None = None
    """Named variants → the roles of a run in protocol order; None: all."""
    fits: str = ""
    """Which question deserves it, in a clause."""
    calls: str = ""
    """How many replies a run asks for, in words."""

    def role_ids(self) -> tuple[str, ...]:
        """Role ids in protocol order."""
        return tuple(role.id for role in self.roles)


UNLAWFUL: Final = (LookupError, ValueError, TypeError, AttributeError, AssertionError)
"""What a protocol's functions may raise on a ledger that breaks the rules: they assume a lawful one."""


def opening_problem(protocol: Protocol, opened: RunOpened) -> str | None:
    """What an opening says that this protocol cannot run, in one clause; None when it can, and for an import."""
    if opened.origin.type == "import":
        return None
    for rule, values in protocol.variants.items():
        if rule in opened.rules and opened.rules[rule] not in values:
            return f"rule {rule} is {opened.rules[rule]!r}; {protocol.name} knows {', '.join(values)}"
    try:
        roles = protocol.cast(opened.rules) if protocol.cast else protocol.role_ids()
        plan = protocol.plan(opened.rules, len(opened.options)) if protocol.fixed_plan else None
    except UNLAWFUL as error:
        return f"its rules do not say what {protocol.name} needs: {error}"
    cast = tuple(member.role for member in opened.cast)
    is_part = (
        not protocol.fixed_plan and cast and set(cast) <= set(roles)
    )  # a ledger of rounds that a file wrote can be read with fewer
    if cast != roles and not is_part:
        return f"the cast is {', '.join(cast) or 'nobody'}; {protocol.name} needs {', '.join(roles)}"
    if not opened.plan:
        return "the plan has no round"
    numbers = [row.round for row in opened.plan]
    if numbers != sorted(set(numbers)) or numbers[0] < 1:
        return f"the plan's rounds are {', '.join(map(str, numbers))}, which do not rise from 1"
    if plan is not None:
        least, most = protocol.options_wanted
        if not least <= len(opened.options) <= most:
            return f"{len(opened.options)} options; {protocol.name} compares {least} to {most}"
        due = [(row.round, row.phases) for row in plan]
        if [(row.round, row.phases) for row in opened.plan] != due:
            return f"the plan is none of {protocol.name} with these rules"
    return None


def open_steps(protocol: Protocol, state: State) -> tuple[Step, ...]:
    """The steps that can run now: those of the open group that are not done."""
    group = open_group(protocol, state)
    return tuple(step for step in group.steps if not state.is_done(step.id)) if group else ()


def awaited_experiments(protocol: Protocol, state: State) -> tuple[str, ...]:
    """Experiments that the run waits for: planned, not forbidden, never judged, and no step is open now."""
    if state.experiments_at(state.seq) == "off" or state.finished or state.held_up or not state.unjudged:
        return ()
    set_aside = protocol.set_aside(state)
    waiting = tuple(experiment for experiment in state.unjudged if experiment not in set_aside)
    return waiting if waiting and not open_steps(protocol, state) else ()


def awaited_answers(protocol: Protocol, state: State) -> tuple[str, ...]:
    """Questions whose answer by a person the run waits for, nobody else being asked for anything."""
    if not state.rounds or state.finished or state.held_up or not state.waits:
        return ()
    return () if open_steps(protocol, state) else protocol.needed(state)


def open_step(protocol: Protocol, state: State, step_id: str) -> Step | None:
    """The open step with that id."""
    return next((step for step in open_steps(protocol, state) if step.id == step_id), None)


def open_group(protocol: Protocol, state: State) -> Group | None:
    """The first group of the round with a step that is not done; an import asks nobody."""
    if state.opened is None or state.finished or state.round not in state.rounds:
        return None
    if state.opened.origin.type == "import" or state.held_up:
        return None
    group = next(
        (group for group in protocol.groups(state, state.round) if not is_complete(state, group)), None
    )
    return None if group is None or protocol.runs_first(state, group) else group


def is_complete(state: State, group: Group) -> bool:
    """Whether every step of a group is answered or given up."""
    return all(state.is_done(step.id) for step in group.steps)


def find_group(protocol: Protocol, state: State, step_id: str) -> Group | None:
    """The group of the current round that has this step."""
    for group in protocol.groups(state, state.round):
        if any(step.id == step_id for step in group.steps):
            return group
    return None


def find_step(protocol: Protocol, state: State, step_id: str) -> Step | None:
    """The step of the current round with that id, open or not."""
    group = find_group(protocol, state, step_id)
    return next((step for step in group.steps if step.id == step_id), None) if group else None
