"""The status of a run and its reason, by one rule for every protocol.

Only typed facts count: who is awaited, how the run was closed, rulings, votes, scores, dispositions, open
questions, sealed forecasts and claims. No status is parsed from a sentence. The first line of `standing_of` that
applies decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from ledger.events import Concern, Decision, Disposition
from ledger.plain_text import counted
from ledger.state.book import Book
from ledger.state.lifecycle import OPEN
from ledger.state.state import State
from moot.view.judged import is_split, majority, ruling_of, votes_of
from moot.view.memo import has_beliefs
from moot.view.questions import open_questions_merged
from moot.view.without import pools_without
from roles.outcome_status import OutcomeStatus
from rounds.protocols import awaited_of, experiments_awaited
from rounds.protocols.step_table import rule
from rounds.run.outcome import outcome_of as quorum_of

MARGIN: Final = 10
"""Minimum lead, in points of the group forecast, that decides by itself."""
SERIOUS: Final = 4
"""Minimum severity of an open question that is mentioned next to the status."""


class StatusWhy(NamedTuple):
    """A status, and its reason in a clause; empty where the status needs none."""

    status: OutcomeStatus
    why: str = ""


class _Ended(NamedTuple):
    """A run that has ended: its main decision, and the final ones in force."""

    book: Book
    chief: Decision
    finals: list[Decision]


def standing_of(book: Book, chief: Decision | None, finals: list[Decision]) -> StatusWhy:
    """Return the status of a run. `chief` is its main decision, `finals` are the final ones in force."""
    state = book.state
    # An import has no steps left to run, however its source system ended.
    if state.opening.origin.type != "import" and not state.finished:
        return _unfinished(state)
    # A person's override settles the question even where votes were split.
    if finals and finals[0].type == "override":
        return StatusWhy(OutcomeStatus.DECIDED, "by a person")
    # A decision that was written without its deciding reply is only a placeholder.
    if chief is None or quorum_of(state).kind == "unanswered":
        return StatusWhy(OutcomeStatus.NOBODY_ANSWERED)
    if has_beliefs(book):
        from rounds.protocols.crux.closing import status_of_answer

        return StatusWhy(status_of_answer(state))
    reason = state.closing.reason if state.closing else ""
    open_claims = open_under(book, finals or [chief])
    # An untested claim under the decision could still overturn it, so the test comes first.
    if reason == "hand_over" or open_claims:
        return StatusWhy(OutcomeStatus.RUN_THIS_FIRST)
    undecided = next((why for find in _UNDECIDED if (why := find(_Ended(book, chief, finals)))), None)
    if undecided is not None:
        return StatusWhy(OutcomeStatus.YOUR_CALL, undecided)
    return StatusWhy(OutcomeStatus.DECIDED)


def open_under(book: Book, decisions: list[Decision]) -> list[str]:
    """Return the claims under decisions that no test of the run settled, in order."""
    claims = book.state.claims
    cited = (cite.id for decision in decisions for cite in decision.cites if cite.id in claims)
    # Several decisions may cite one claim, and its order of first mention is kept.
    return [claim for claim in dict.fromkeys(cited) if claims[claim].status in OPEN]


def serious_questions(book: Book) -> int:
    """Count the open questions to a person that their authors call severe; what asks the same counts once."""
    severe = {question.id for question in _open_questions(book) if (question.severity or 0) >= SERIOUS}
    return sum(not severe.isdisjoint(ids) for ids in open_questions_merged(book))


def _unfinished(state: State) -> StatusWhy:
    # A stopped run waits for nothing until someone resumes it, so this comes first.
    if state.stopped_by is not None:
        return StatusWhy(OutcomeStatus.STOPPED)
    # Nothing else may go on while a screening or an error blocks the run.
    if state.held_up:
        return StatusWhy(OutcomeStatus.WAITING, "held up until a person decides")
    if awaited_of(state):
        return StatusWhy(OutcomeStatus.WAITING, "for a person's answer")
    if experiments_awaited(state):
        return StatusWhy(OutcomeStatus.WAITING, "for programs to be run here")
    return StatusWhy(OutcomeStatus.RUNNING)


def _open_questions(book: Book) -> Iterator[Concern]:
    return (
        concern for concern in book.of(Concern) if concern.for_human and concern.id not in book.state.resolved
    )


def _no_majority(run: _Ended) -> str:
    """Return a clause when the members of a council name no common option."""
    members = majority(run.book)
    if members is None or 2 * members.most > members.members:
        return ""
    if members.option is None:
        return f"{members.members} members, and nobody joins their answers"
    return f"no option has more than half of {members.members} members"


def _nothing_final(run: _Ended) -> str:
    """Return a clause when a run ended without a final decision."""
    return "" if run.finals or majority(run.book) is not None else "nothing final was decided"


def _split_votes(run: _Ended) -> str:
    """Return a clause when no way to vote has more than half and no veto decides."""
    ruling = ruling_of(run.book)
    if ruling is None:
        return ""
    return "the votes are split" if is_split(votes_of(run.book, ruling)) else ""


def _no_determination(run: _Ended) -> str:
    """Return a clause when the judges of a debate do not agree enough."""
    state = run.book.state
    # A single judge cannot disagree with another one.
    if state.opening.protocol != "debate" or rule(state, "judges") in ("1", "None"):
        return ""
    # Only debates with several judges pay for loading this module.
    from rounds.protocols.debate_judging import side_preferred

    return "the judges came to no determination" if side_preferred(run.book) is None else ""


def _close_options(run: _Ended) -> str:
    """Return a clause when a rule calls two options too close, as its decision about both shows."""
    is_by_rule = run.book.state.opening.protocol == "comparative" and run.chief.made_by == "rule"
    # The rule names both options exactly when their totals lie within 5% (AD-16).
    if not is_by_rule or len(run.chief.about) != 2:
        return ""
    return f"{' and '.join(run.chief.about)} are within five per cent"


def _narrow_lead(run: _Ended) -> str:
    """Return a clause when the leader of the sealed forecasts is less than `MARGIN` points ahead."""
    # Runs without sealed answers have no lead to measure.
    if not pools_without(run.book):
        return ""
    from detectors.forecasts.points import group_forecast
    from detectors.stopping.readiness import last_answers

    last = last_answers(run.book.state)
    margin = MARGIN if last is None else group_forecast(last.by_role.values()).margin
    return f"the group forecast leads by {float(margin):.1f} points" if margin < MARGIN else ""


def _handed_over(run: _Ended) -> str:
    """Return a clause when the rule or the deciding role put questions to a person that are still open."""
    escalated = {
        disposition.of for disposition in run.book.of(Disposition) if disposition.disposition == "escalated"
    }
    ids = {
        question.id
        for question in _open_questions(run.book)
        # The controller writes questions for the rule; a disposition escalates on behalf of a role (JB-4).
        if question.by == "controller" or escalated.intersection(question.between)
    }
    handed = [group for group in open_questions_merged(run.book) if not ids.isdisjoint(group)]
    return (
        f"{counted(len(handed), 'question')} to you {'is' if len(handed) == 1 else 'are'} open"
        if handed
        else ""
    )


_UNDECIDED: Final[tuple[Callable[[_Ended], str], ...]] = (
    _nothing_final, _no_majority, _split_votes, _no_determination, _close_options, _narrow_lead, _handed_over,
)  # fmt: skip
"""Reasons why a person has to decide, the plainest first; each returns a clause, or nothing where it does not apply."""
