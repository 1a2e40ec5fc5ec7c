"""Assignments: who plans the test of which crux, which programs get a repair or a second program, who writes the memo.

A program that ends in an error, or with a predicate that cannot be read, goes back to its planner once. A verdict that
surprised all four roles is tested again: the next doubter writes a second program without seeing the first. Both
together may take three replies. They are asked for in waves, each after the programs of the one before were run.

A writer of the memo who does not know why a claim stayed open guesses, and a sentence such as "it was not measured" has
nothing to be held against. So its prompt and that of its sentence check say of each crux what tested it, or why not.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Final, NamedTuple

from detectors.forecasts.arithmetic import Numbers, distance_to
from detectors.forecasts.standing import (
    Crux,
    ForecastStanding,
    all_expected_otherwise,
    cruxes_to_test,
    doubters,
    numbers_about,
)
from detectors.parameters import Level, forecast_parameters
from ledger.events.envelope import HowTested
from ledger.events.ids import StepName, number_of
from ledger.state.book import Book, per_state
from ledger.state.state import AGENDA_STEP, VERIFIER, ExperimentFacts, State
from rounds.protocols.crux.standing import (
    cruxes_of,
    disagreeing,
    first_answer_ends,
    kept_cruxes,
    look_of,
    numbers_end,
    short_way_is_open,
    table_at,
)
from rounds.protocols.plans import AUTHORS

REPAIR: Final = "_repair"
"""Suffix of the act of a step that mends a program. A repeat would see only what the first step saw."""
WAVES: Final = (1, 2, 3)


class Assignment(NamedTuple):
    """A crux that is tested here, with the roles that doubt it; the most doubtful one plans the test."""

    claim: str
    how: HowTested
    planners: tuple[str, ...]

    @property
    def act(self) -> str:
        """Return the act in the ids of its steps: `c2` of C-1-2."""
        return f"c{self.claim.rpartition('-')[2]}"

    def step(self, planner: int, kind: str = "") -> StepName:
        """Return the step in which a planner writes a program or an expression, or with `REPAIR` mends a program."""
        return StepName(1, "D", f"{self.act}{kind}", self.planners[planner])


@per_state
def assignments(state: State) -> tuple[Assignment, ...]:
    """Return the tests of the run, as they were due when the numbers were complete; none before."""
    end = numbers_end(state)
    if end is None:
        return ()
    # The table of that moment is read, not the newest one: a verdict that arrives during the tests must not
    # change which steps exist, or steps on the ledger would lose their place in the table.
    table = table_at(state, end)
    by_claim = {crux.claim: crux for crux in table.cruxes}
    # What a person had settled by then needs no test.
    wanted = [by_claim[claim] for claim in kept_cruxes(state) if by_claim[claim].verdict is None]
    return tuple(
        Assignment(crux.claim, crux.how, _planners(numbers_about(table, crux), crux))
        for crux in cruxes_to_test(table, wanted)
    )


def _planners(numbers: Mapping[str, Numbers], crux: Crux) -> tuple[str, ...]:
    # Where the numbers show no doubter, the proposals may: a role that proposed a crux gave
    # numbers of its own.
    first = doubters(numbers, AUTHORS) or doubters(crux.proposed, AUTHORS)
    # The others follow in role order, so a second program always has a planner.
    return (*first, *(role for role in AUTHORS if role not in first))


def assigned(state: State, step: StepName) -> Assignment:
    """Return the assignment of a planning step."""
    act = (step.act or "").removesuffix(REPAIR)
    return next(assignment for assignment in assignments(state) if assignment.act == act)


def planned_by(how: HowTested) -> Callable[[State, int, str], Iterator[StepName]]:
    """Build the steps that write the first program, or the expression, of each crux of a kind."""
    return lambda state, _round, _phase: (
        assignment.step(0) for assignment in assignments(state) if assignment.how == how
    )


def to_read(state: State) -> tuple[str, ...]:
    """Return the cruxes that documents may settle."""
    return tuple(assignment.claim for assignment in assignments(state) if assignment.how == "document")


def readers(state: State, _round: int) -> tuple[str, ...]:
    """Return the verifier where there is something to read."""
    return (VERIFIER,) if to_read(state) else ()


# ---------------------------------------------------------------- repairs and second programs


class ExtraProgram(NamedTuple):
    """A further program of a crux: `broken` names the experiment that it mends, None for a second opinion."""

    step: StepName
    claim: str
    broken: str | None


@per_state
def extra_programs(state: State) -> dict[int, list[ExtraProgram]]:
    """Map each wave to the further programs that are due in it, at most three overall; crux by crux in each wave."""
    chains = [
        list(_chain(state, assignment)) for assignment in assignments(state) if assignment.how == "execution"
    ]
    waves: dict[int, list[ExtraProgram]] = {}
    # The limit is over all waves, because the price announced before the run counts on it (docs/crux.md).
    room = forecast_parameters().limits.extra_programs_at_most
    for wave in WAVES:
        due = [chain[wave - 1] for chain in chains if len(chain) >= wave][:room]
        room -= len(due)
        waves[wave] = due
    return waves


def _chain(state: State, assignment: Assignment) -> Iterator[ExtraProgram]:
    """Yield what follows the first program of a crux: its repair, a second program, and the repair of that."""
    first = yield from _mended(state, assignment, 0)
    # A program that decides nothing is not tested again: only a verdict can be a surprise.
    if first is None or first.verdict not in ("holds", "fails"):
        return
    table = table_at(state, numbers_end(state))
    # The numbers are sealed before any program runs, so what was expected cannot be adjusted to the result.
    crux = next(crux for crux in table.cruxes if crux.claim == assignment.claim)
    if all_expected_otherwise(numbers_about(table, crux), first.verdict == "holds", AUTHORS):
        yield ExtraProgram(assignment.step(1), assignment.claim, None)
        yield from _mended(state, assignment, 1)


def _mended(
    state: State, assignment: Assignment, planner: int
) -> Generator[ExtraProgram, None, ExperimentFacts | None]:
    """Yield the repair of a planner's program where it needs one; return the experiment that counts once judged."""
    programs = programs_of(state, assignment.claim, assignment.planners[planner])
    if not programs:
        return None
    identity, facts = programs[0]
    # One readable predicate can be enough for a verdict; such a program needs no repair.
    is_unread = bool(facts.unreadable) and facts.verdict not in ("holds", "fails")
    if facts.judged and (facts.verdict == "error" or is_unread):
        yield ExtraProgram(assignment.step(planner, REPAIR), assignment.claim, identity)
        facts = programs[1][1] if len(programs) > 1 else facts
    return facts if facts.judged else None


def programs_of(state: State, claim: str, role: str) -> list[tuple[str, ExperimentFacts]]:
    """Return the programs that a role wrote for a crux, in order."""
    programs = [
        (identity, facts)
        for identity, facts in state.experiments.items()
        if facts.by == role and claim in facts.claims
    ]
    # The order is that of the numbers: as text, E-1-10 sorts before E-1-2.
    return sorted(programs, key=lambda entry: number_of(entry[0]))


def extra_steps(wave: int) -> Callable[[State, int, str], Iterator[StepName]]:
    """Build the steps of a wave, as a row of the table asks for them."""

    def steps(state: State, _round: int, _phase: str) -> Iterator[StepName]:
        return (extra.step for extra in extra_programs(state)[wave])

    return steps


def broken_program(state: State, step: StepName) -> str | None:
    """Return the experiment that a step mends."""
    extras = (extra for wave in extra_programs(state).values() for extra in wave)
    return next((extra.broken for extra in extras if extra.step == step), None)


def tests_are_done(state: State) -> bool:
    """Return whether every test of the run has ended or cannot go on."""
    # Without complete numbers the tests are not known yet, which is not the same as done.
    if numbers_end(state) is None:
        return False
    steps = [assignment.step(0) for assignment in assignments(state) if assignment.how != "document"]
    steps += [extra.step for wave in extra_programs(state).values() for extra in wave]
    steps += [StepName(1, "D", None, role) for role in readers(state, 1)]
    if not all(state.is_done(str(step)) for step in steps):
        return False
    # With experiments off, programs that were written stay unjudged forever and must not hold up the run.
    return state.experiments_at(state.seq) == "off" or not any(
        state.experiments[identity].by in AUTHORS for identity in state.unjudged
    )


# ---------------------------------------------------------------- the closing


def writers(standing: ForecastStanding) -> tuple[str, ...]:
    """Return roles by how near their forecast is to the group, the nearest first; ties in role order."""
    group = standing.group
    if group is None:
        return ()
    near = standing.forecasts
    return tuple(sorted(near, key=lambda role: (distance_to(near[role], group), AUTHORS.index(role))))


def objector(standing: ForecastStanding, writer: str) -> str | None:
    """Return the role that is least convinced of the leader, the writer aside; ties in role order."""
    leader = standing.leader
    others = [role for role in AUTHORS if role in standing.forecasts and role != writer]
    return (
        min(others, key=lambda role: standing.forecasts[role][leader])
        if others and leader is not None
        else None
    )


# ---------------------------------------------------------------- what was tested, for the memo


_TESTED: Final[Mapping[Level, str]] = {
    "measured": "a person measured or looked it up",
    "reproduced": "a program was run at least three times, alike each time",
    "ran": "a program was run",
    "calculated": "moot calculated it",
    "quoted": "a document says so, word for word",
}
_NOT_SETTLED: Final = "not settled:"


def why_nothing_was_tested(state: State) -> str | None:
    """Return why the run has no crux that a test could settle; None where it has one."""
    if cruxes_of(state):
        return None
    if short_way_is_open(state):
        who = "the first answer was" if first_answer_ends(state) else "all answers were"
        return f"{who} sure enough, and no test that was proposed is worth making"
    if AGENDA_STEP in state.given_up:
        return "the reply that lists the claims worth testing was lost"
    return "nobody named a claim whose test could change the answer"


def test_of(book: Book, claim: str, round_: int) -> str:
    """Return what settled a crux at the look of a round and which way, or why it is not settled."""
    state = book.state
    look = look_of(state, round_)
    table = table_at(state, None if look is None else look.seq)
    crux = next(crux for crux in table.cruxes if crux.claim == claim)
    if crux.verdict is not None:
        return f"it {'holds' if crux.verdict.holds else 'fails'}: {_TESTED[crux.verdict.level]}"
    if disagreeing(state, claim):
        return f"{_NOT_SETTLED} two programs were run and came out differently"
    assignment = next((assignment for assignment in assignments(state) if assignment.claim == claim), None)
    reason = _why_not_here(state, crux) if assignment is None else _why_without_result(state, assignment)
    return f"{_NOT_SETTLED} {reason}"


def _why_not_here(state: State, crux: Crux) -> str:
    """Return why no test of a crux was asked for, by what was known when the numbers were complete."""
    # Experiments may have been allowed since; the memo must give the reason that held when
    # the tests were chosen.
    terms = table_at(state, numbers_end(state)).terms
    if crux.claim not in kept_cruxes(state):
        at_most = terms.parameters.limits.kept_at_most
        return f"no test was made: it is worth less than the {at_most} claims that this run kept for tests"
    if terms.here(crux.how) is None:
        return _HERE_NOT[crux.how]
    return "no test was made: none is worth making here"


_HERE_NOT: Final[Mapping[str, str]] = {
    "execution": "no test was made: programs are not run in this run (experiments are off)",
    "document": "no test was made: the question came without a document",
    "person": "no test was made: only a person can measure it or look it up, and nobody has yet",
}


def _why_without_result(state: State, assignment: Assignment) -> str:
    """Return why a test that was asked for settled nothing."""
    if assignment.how == "document":
        lost = f"r1.D.{VERIFIER}" in state.given_up
        return "the reply about the documents was lost" if lost else "the documents do not say it"
    if str(assignment.step(0)) in state.given_up:
        return "no test was made: the reply that plans it was lost"
    if assignment.how == "calculation":
        return "it was not calculated: a number that it needs is written nowhere"
    programs = [
        facts for role in assignment.planners for _, facts in programs_of(state, assignment.claim, role)
    ]
    # A second program comes from another planner, so the programs of all planners are looked at.
    if not any(facts.runs for facts in programs):
        return "a program was written and was not run: a person has not allowed it"
    return "a program was run, and its runs or its controls do not decide it"
