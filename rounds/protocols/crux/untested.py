"""Tests of each crux, or the reason why there was none, for the prompts of the memo and of its sentence check.

A writer who does not know why a claim stayed open guesses, and a sentence such as "it was not measured" has nothing to
be held against. Both are shown this list, made by code from the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from detectors.forecasts.standing import Crux
from detectors.parameters import Level
from ledger.state.book import Book
from ledger.state.state import VERIFIER, State
from rounds.protocols.crux.assignments import Assignment, assignments, programs_of
from rounds.protocols.crux.standing import (
    cruxes_of,
    disagreeing,
    first_answer_ends,
    kept_cruxes,
    numbers_end,
    short_way_is_open,
    table_at,
)

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
    if f"r1.C.{VERIFIER}" in state.given_up:
        return "the reply that lists the claims worth testing was lost"
    return "nobody named a claim whose test could change the answer"


def test_of(book: Book, claim: str, round_: int) -> str:
    """Return what settled a crux at the look of a round and which way, or why it is not settled."""
    state = book.state
    crux = next(crux for crux in table_at(state, _through(state, round_)).cruxes if crux.claim == claim)
    if crux.verdict is not None:
        return f"it {'holds' if crux.verdict.holds else 'fails'}: {_TESTED[crux.verdict.level]}"
    if disagreeing(state, claim):
        return f"{_NOT_SETTLED} two programs were run and came out differently"
    assignment = next((assignment for assignment in assignments(state) if assignment.claim == claim), None)
    reason = _why_not_here(state, crux) if assignment is None else _why_without_result(state, assignment)
    return f"{_NOT_SETTLED} {reason}"


def _through(state: State, round_: int) -> int | None:
    return next((look.seq for look in reversed(state.looks) if look.round == round_), None)


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
