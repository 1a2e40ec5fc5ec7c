"""Programs that seats of `crux` plan: what they hand in, what is wrong with it, the experiment that it becomes.

A program is planned by the role that doubts a claim most, its result is forecast sealed by all, and in a run that was
opened for experiments it is run when the forecasts are in; a plan that two call unfair is not run. Where nothing is run
here, it is planned for what is handed over: the work order then has a command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Final

from msgspec import Meta

from detectors.beliefs.parameters import RUN_HERE
from ledger.events import Claim, Event
from ledger.state.book import Book
from ledger.state.state import State
from roles.protocol import Step
from roles.replies import Part, Reply
from rounds.protocols.crux.asked import programs_wanted, unfair
from rounds.protocols.crux.replies import PlansReply, TestPlan
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import (
    PlannedProgram,
    experiment,
    files_of,
    how_to_write,
    plans_programs,
    wrong_program,
)
from rounds.protocols.quotable import Quotable
from rounds.protocols.step_table import Numbering


class RunnablePlan(TestPlan, frozen=True, kw_only=True):
    """How one crux would be tested, with its program where a program decides it."""

    program: PlannedProgram | None


class ProgramsReply(Part, frozen=True, kw_only=True):
    """D: one plan for each crux, with a program for each that a program decides."""

    plans: Annotated[tuple[RunnablePlan, ...], Meta(max_length=5)]


def plans_reply(state: State) -> type[Reply]:
    """What a planning role hands in: with programs where the run was opened for them, or a work order wants one."""
    wanted = plans_programs(state) or any(programs_wanted(state, state.round, role) for role in AUTHORS)
    return ProgramsReply if wanted else PlansReply


# ---------------------------------------------------------------- what a reply brings


def wrong_programs(known: Quotable, reply: PlansReply | ProgramsReply) -> Iterator[str]:
    """What is wrong with the programs of plans: one for each claim that a program decides, and able to decide it."""
    wanted = programs_wanted(known.state, known.step.name.round, known.step.role)
    for n, plan in enumerate(reply.plans):
        if not isinstance(plan, RunnablePlan):
            continue
        claim = known.state.claims.get(plan.claim)
        if claim is None:
            continue
        if plan.program is None:
            if plan.claim in wanted:
                yield f"plans[{n}].program: {plan.claim} is decided by {claim.how}; write the program"
            continue
        if plan.claim not in wanted:
            why = f"decided by a {claim.how}" if claim.how not in RUN_HERE else "argued about here"
            yield f"plans[{n}].program: {plan.claim} is {why}; leave the program out"
            continue
        problems = wrong_program(known.step, plan.program, known.opened.seed)
        yield from (f"plans[{n}].program: {problem}" for problem in problems)


def programs(numbering: Numbering, step: Step, reply: PlansReply | ProgramsReply) -> Iterator[Event]:
    """The experiments of a reply, numbered when all plans of the round are in."""
    for plan in reply.plans:
        if isinstance(plan, RunnablePlan) and plan.program is not None:
            claim = numbering.book.by_id[plan.claim]
            assert isinstance(claim, Claim), plan.claim
            number, seed = numbering.number("experiment_planned"), numbering.book.state.opening.seed
            yield experiment(step, plan.claim, claim.testable_as, plan.program, number, seed)


def brought(reply: Reply) -> Mapping[str, bytes]:
    """The files of a reply's programs, by hash."""
    plans = reply.plans if isinstance(reply, ProgramsReply) else ()
    return files_of(plan.program for plan in plans if plan.program is not None)


# ---------------------------------------------------------------- what is run, and when


def set_aside(state: State) -> frozenset[str]:
    """Experiments that are not run: two roles or more called the plan unfair."""
    return frozenset(
        identity
        for identity, facts in state.experiments.items()
        if facts.by != "human" and any(unfair(state, facts.round, claim) >= 2 for claim in facts.claims)
    )


def still_to_run(state: State, round_: int) -> tuple[str, ...]:
    """The experiments of a round whose results are waited for before anybody goes on."""
    if not state.runs_programs:
        return ()
    aside = set_aside(state)
    return tuple(one for one in state.unjudged if state.experiments[one].round == round_ and one not in aside)


# ---------------------------------------------------------------- what briefs say


def told_to_write(book: Book, step: Step) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """What a role needs to write a program, where it plans a claim that a program decides."""
    wanted = ", ".join(programs_wanted(book.state, step.name.round, step.role))
    if wanted:
        head = RUN if plans_programs(book.state) else ORDERED
        yield "programs", how_to_write(book.state, head.format(claims=wanted)), ()


RUN: Final = (
    "programs can be run here: write one in `program` for {claims}; for any other claim `program` is null"
)
ORDERED: Final = """\
no program is run here, and {claims} can be settled by nothing else: write in `program` the one that somebody else will
run, shut in as said below; for any other claim `program` is null"""
