"""Types of a protocol: steps, groups, the columns a step may see, and the reply it must return.

A protocol is a table and pure functions; the tables are in `rounds/protocols/`. Everything here is data, so that
briefs, validators and diagrams use the same rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
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
    """Columns that a brief can quote (FORMAT 5)."""

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
    """Replies of earlier steps, as selected by `Sight.picks`."""
    MOVED = "moved"
    """Status changes of shown claims. No view names this column; it follows from the shown claims."""
    BEFORE = "before"
    """Quotations of the protocol for all steps, after the question (`Protocol.tells`)."""
    TOLD = "told"
    """Quotations of the protocol for this step only."""
    PLACES = "places"
    """Passages that claims under test name, unless a shown artifact contains them."""
    UNANSWERED = "unanswered"
    """The last drift check, and open questions."""
    LATE = "late"
    """Claims of the round that were raised after its verdicts were known. No view names this column either."""


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
    """Selection of records from earlier steps of one phase. `kinds`: empty for every kind."""

    phase: str
    kinds: tuple[str, ...] = ()
    whose: Whose = "all"
    back: int = 0
    """Number of rounds back; 0 is this round."""
    sections: tuple[str, ...] = ()
    """Sections of statements to quote, without a head; empty for the whole statement."""


class Sight(msgspec.Struct, frozen=True):
    """Extent of a column that a step sees; `names` are roles or check ids for `listed`."""

    extent: Extent
    names: tuple[str, ...] = ()
    picks: tuple[Pick, ...] = ()


View = Mapping[Column, Sight]
"""Column → its visible extent; a missing column is never shown."""


class Step(msgspec.Struct, frozen=True):
    """Request to one role. `task` names the template of the brief's last block, `group` the group of siblings."""

    name: StepName
    group: str
    task: str
    id: str = ""
    """The stable id, `r3.E.check1.verifier`."""

    def __post_init__(self) -> None:
        # The id is computed once, because it is compared far more often than steps are created.
        msgspec.structs.force_setattr(self, "id", str(self.name))

    @property
    def role(self) -> str:
        """Return the role of the step."""
        return self.name.role


class Group(msgspec.Struct, frozen=True):
    """Steps that can run in parallel; ids are numbered when the last of them is answered or given up."""

    name: str
    phase: str
    steps: tuple[Step, ...]


class RoleDefinition(msgspec.Struct, frozen=True):
    """Role of a protocol, with its question and the template of its charter."""

    id: str
    question: str
    charter: str
    title: str = ""
    """Title of the role, for protocols without castings by domain."""


Instead = Literal["skipped", "unclear", "refuse", "survivor_only", "raw_side_by_side"]
"""Action that a fallback takes in place of a reply (FORMAT 2)."""


class Loss(msgspec.Struct, frozen=True):
    """Consequence of a missing reply for one kind of step; `means` describes it in a clause.

    A loss is never read as agreement, and each meaning holds whichever other steps are lost too. The engine writes
    `instead` into a fallback, the verdict lines say `means`, and the exit code follows from `decides`.
    """

    instead: Instead
    means: str
    decides: bool | Callable[[State], bool] = False
    """Whether this step decides the outcome, or how to tell from the state.

    Without any reply to such a step, the run has no decision.
    """


def loss_of(losses: Mapping[str, Loss], step: StepName) -> Loss:
    """Return the most specific row for a step: of `phase.act~`, `phase.act`, `phase.role`, `phase~` and `phase`."""
    # Tables name a repeated step with `~` when its loss has another consequence than that of the first.
    phase, again = step.phase, "~" if step.repeat > 1 else ""
    acts = (f"{phase}.{step.act}{again}", f"{phase}.{step.act}")
    return next(
        losses[kind] for kind in (*acts, f"{phase}.{step.role}", f"{phase}{again}", phase) if kind in losses
    )


class StepSize(msgspec.Struct, frozen=True):
    """Size of a step: bytes of a prompt with its reply schema and without documents, and words of a reply.

    `documents`: whether the prompt carries the documents of the deliberation too. A size that is not `measured` was not
    recorded when the table was made, and is taken from the kinds that it resembles.
    """

    brief_bytes: int
    reply_words: int
    documents: bool = True
    measured: bool = True


class QuestionKind(msgspec.Struct, frozen=True):
    """Kind of question that the gate gives to a protocol; `means` describes it in a clause.

    A new kind is one more column of `rounds/setup/gate_cues.tsv`, learned from questions with its label.
    """

    name: str
    means: str


Rules = Mapping[str, str | int | bool | None]
"""Named variants in force, as in `run_opened.rules`."""


AfterRound = CloseReason | Literal["next", "wait", "steps"]
"""Continuation after a round: end, next round, wait for an answer, or steps that are still open."""


def _nothing(*_: object) -> tuple[()]:
    return ()


class Protocol(msgspec.Struct, frozen=True):
    """Protocol, with its table and its pure functions, which depend on the book alone."""

    name: str
    summary: str
    roles: tuple[RoleDefinition, ...]
    groups: Callable[[State, int], tuple[Group, ...]]
    """(state, round) → the groups of that round in order, as far as they are determined."""
    view: Callable[[State, Step], View]
    """(state, step) → the columns that the brief of the step quotes."""
    reply_type: Callable[[State, Step], type[Reply]]
    """(state, step) → the type of the reply."""
    problems: Callable[[Book, Step, Reply, frozenset[int]], tuple[str, ...]]
    """(book, step, reply, saw) → errors of a reply that parses. They name only ids that the brief quoted: an id that
    exists but was not quoted is "unknown", exactly like one that does not exist."""
    record: Callable[[Book, Step, Reply], tuple[Event, ...]]
    """(book, step, reply) → the events that a reply yields at once; the first one will carry the call."""
    close: Callable[[Book, Group, Mapping[str, Reply]], tuple[Event, ...]]
    """(book, group, replies by step id) → the events that close a group, which are numbered in role order. A given-up
    step has no reply. The engine sets `via` from the event's step."""
    give_up: Callable[[Book, Step], tuple[Event, ...]]
    """(book, step) → events that replace the missing reply."""
    losses: Mapping[str, Loss]
    """Kind of step → consequence of its loss."""
    plan: Callable[[Rules, int], tuple[PlanRow, ...]]
    """(named variants, number of options) → the default rounds, if the deliberation file has none."""
    prompts: str
    """Name of the installed prompt set of a new run."""
    tells: Callable[[Book, Step, Column], Iterable[tuple[str, str, tuple[int, ...]]]] = _nothing
    """(book at the opening of the step, step, column) → (name, text in the brief, seqs of the events shown), for
    quotations that the table's picks cannot express."""
    widest: Callable[[State, int], tuple[Group, ...]] | None = None
    """(state, round) → the groups of the largest possible round, for protocols whose steps depend on replies; None: use
    `groups`."""
    shortest: Mapping[str, int] = {}
    """Phase → replies of the shortest run, for protocols that may end early; empty where every step is asked."""
    sizes: Mapping[str, StepSize] = {}
    """Kind of step, `phase` or `phase.act` → its size, for estimates; other steps are those of a short protocol."""
    sizes_from: str = ""
    """Where the sizes were measured, in a clause."""
    look: Callable[[Book, str], tuple[Event, ...]] | None = None
    """(book, phase) → events after the validation of a round, for protocols that replace the stop signals."""
    after_round: Callable[[State], AfterRound] | None = None
    """(state) → whether the next round opens, the run waits, or why it ends; None: follow the plan."""
    needed: Callable[[State], tuple[str, ...]] = _nothing
    """(state) → questions to a person that must be answered before the run continues, when no step is open."""
    profile: str = ""
    """Stop profile of every run, if the protocol has its own."""
    owed: Callable[[Book], tuple[Event, ...]] = _nothing
    """(book) → events that the controller writes inside a round as soon as they are due, beyond those of closings."""
    after_answer: Callable[[Book, Decision], tuple[Event, ...]] = _nothing
    """(book with a person's answer, the answer) → consequences in the same commit."""
    brought: Callable[[Reply], Mapping[str, bytes]] = lambda _: {}
    """(reply) → hash → files in the reply, which are stored as blobs."""
    runs_first: Callable[[State, Group], tuple[str, ...]] = _nothing
    """(state, group) → experiments that must run before the steps of the group open."""
    fixed_plan: bool = True
    """Whether the rounds are fixed: no file may plan others, and no role is ever absent."""
    watched: bool = False
    """Whether the run evaluates stop signals, raises alarms and ends with a synthesis."""
    raises_claims: bool = False
    """Whether its roles raise claims that a program can test."""
    has_castings: bool = False
    """Whether the roles have titles and charges by domain."""
    variants: Mapping[str, tuple[str, ...]] = {}
    """Named variant → its values, default first, as `[rules]` can choose them."""
    options_wanted: tuple[int, int] = (0, 64)
    """Minimum and maximum number of options."""
    cast: Callable[[Rules], tuple[str, ...]] | None = None
    """(named variants) → the roles of a run in protocol order; None: all."""
    questions: tuple[QuestionKind, ...] = ()
    """Kinds of questions that the gate gives to it; empty where a person has to name it."""
    sides: Callable[[Book], Counter[str]] = lambda _: Counter()
    """(book) → side → how often decisions followed it, for the value of having several roles (AD-6)."""
    disputed: Callable[[Book], int] | None = None
    """(book) → points that stayed in dispute, where the form fixes how many are raised; None: all of `sides`."""
    rivals: tuple[str, str] | None = None
    """The two sides of which one idles if the other always wins; a person, an option or a verdict is no side."""
    fits: str = ""
    """Kind of question it suits, in a clause."""
    calls: str = ""
    """Number of replies in a run, in words."""

    def role_ids(self) -> tuple[str, ...]:
        """Return the role ids in protocol order."""
        return tuple(role.id for role in self.roles)


UNLAWFUL: Final = (LookupError, ValueError, TypeError, AttributeError, AssertionError)
"""Errors that a protocol's functions may raise on a ledger that breaks the rules, because they assume a valid one."""


def opening_problem(protocol: Protocol, opened: RunOpened) -> str | None:
    """Return in one clause why the protocol cannot run an opening; None when it can, and for an import."""
    if opened.origin.type == "import":
        return None
    # A ledger may come from anywhere, so an opening is checked in full before the protocol's functions run on it.
    for rule, values in protocol.variants.items():
        if rule in opened.rules and opened.rules[rule] not in values:
            return f"rule {rule} is {opened.rules[rule]!r}; {protocol.name} knows {', '.join(values)}"
    try:
        roles = protocol.cast(opened.rules) if protocol.cast else protocol.role_ids()
        plan = protocol.plan(opened.rules, len(opened.options)) if protocol.fixed_plan else None
    except UNLAWFUL as error:
        return f"its rules do not say what {protocol.name} needs: {error}"
    cast = tuple(member.role for member in opened.cast)
    # A deliberation file with rounds of its own may leave roles out.
    is_part = not protocol.fixed_plan and cast and set(cast) <= set(roles)
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
    """Return the steps that can run now: those of the open group that are not done."""
    group = open_group(protocol, state)
    return tuple(step for step in group.steps if not state.is_done(step.id)) if group else ()


def awaited_experiments(protocol: Protocol, state: State) -> tuple[str, ...]:
    """Return the experiments that the run waits for: planned, allowed and unjudged, while no step is open."""
    if state.experiments_at(state.seq) == "off" or state.finished or state.held_up or not state.unjudged:
        return ()
    return () if open_steps(protocol, state) else tuple(state.unjudged)


def awaited_answers(protocol: Protocol, state: State) -> tuple[str, ...]:
    """Return the questions to a person that the run waits for, while no step is open."""
    if not state.rounds or state.finished or state.held_up or not state.waits:
        return ()
    return () if open_steps(protocol, state) else protocol.needed(state)


def open_step(protocol: Protocol, state: State, step_id: str) -> Step | None:
    """Return the open step with an id, or None."""
    return next((step for step in open_steps(protocol, state) if step.id == step_id), None)


def open_group(protocol: Protocol, state: State) -> Group | None:
    """Return the first group of the round with a step that is not done; None for an import, which has no open steps."""
    if state.finished or state.round not in state.rounds or state.is_import or state.held_up:
        return None
    group = next(
        (group for group in protocol.groups(state, state.round) if not is_complete(state, group)), None
    )
    # The group opens only after these experiments, because its steps may depend on the results.
    return None if group is None or protocol.runs_first(state, group) else group


def is_complete(state: State, group: Group) -> bool:
    """Return whether every step of a group is answered or given up."""
    return all(state.is_done(step.id) for step in group.steps)


def find_group(protocol: Protocol, state: State, step_id: str) -> Group | None:
    """Return the group of the current round that contains a step, or None."""
    groups = protocol.groups(state, state.round)
    return next((group for group in groups if any(step.id == step_id for step in group.steps)), None)


def find_step(protocol: Protocol, state: State, step_id: str) -> Step | None:
    """Return the step of the current round with an id, open or not, or None."""
    group = find_group(protocol, state, step_id)
    return next((step for step in group.steps if step.id == step_id), None) if group else None


def next_lead(roles: Sequence[str], leads_so_far: Iterable[str | None], absent: str | None = None) -> str:
    """Return the lead of the next round: the present role with the fewest leads so far (SD-52).

    `roles`: the roles that can lead, in protocol order, which breaks ties. `leads_so_far`: the leads of all earlier
    rounds, stress rounds included; other names are ignored. The absent role cannot lead. At least one role must be
    present.
    """
    led = list(leads_so_far)
    present = [role for role in roles if role != absent]
    assert present, "a round needs a role that is present"
    # `min` returns the first of equals, so ties go to the role that is earlier in protocol order.
    return min(present, key=led.count)
