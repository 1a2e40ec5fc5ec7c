"""The status of a run and its reason, by one rule for every protocol, and what became of its decisions later (AD-6).

Only typed facts count: who is awaited, how the run was closed, rulings, votes, scores, dispositions, open
questions, sealed forecasts and claims. No status is parsed from a sentence. The first line of `standing_of` that
applies decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from ledger.events import Concern, Decision, Disposition
from ledger.events.ids import parse_step
from ledger.plain_text import counted, one_line, some
from ledger.result import Result
from ledger.state.book import Book, grouped
from ledger.state.decided import replacement
from ledger.state.lifecycle import OPEN
from ledger.state.state import State
from moot.view.agreement import pools_without
from moot.view.judgements import ballot_of, has_beliefs, majority, option_of
from moot.view.questions import open_questions_merged
from moot.view.words import PHASES
from roles.outcome_status import OutcomeStatus
from rounds.protocols import awaited_of, experiments_awaited
from rounds.run.acceptance import Fate, FateSaid, became_of
from rounds.run.outcome import LOST_SHOWN, quorum_of

SERIOUS: Final = 4
"""Minimum severity of an open question that is mentioned next to the status."""


class StatusWhy(NamedTuple):
    """A status, and its reason in a clause; empty where the status needs none."""

    status: OutcomeStatus
    why: str = ""


def standing_of(book: Book, chief: Decision | None, finals: list[Decision]) -> StatusWhy:
    """Return the status of a run. `chief` is its main decision, `finals` are the final ones in force."""
    state = book.state
    # An import has no steps left to run, however its source system ended.
    if state.opening.origin.type != "import" and not state.finished:
        return _unfinished(state)
    # A person's override settles the question even where votes were split, and so does an answer that replaces a
    # lost verdict.
    if chief and chief.type in ("override", "answer"):
        return StatusWhy(OutcomeStatus.DECIDED, "by a person")
    # A decision that was written without its deciding reply is only a placeholder.
    quorum = quorum_of(state)
    if chief is None or quorum.kind == "unanswered":
        # Without what an earlier step was to hand in, the step that decides was never asked for.
        decides = any(loss.decides for loss in quorum.lost)
        ended = (
            "the step that decides has no reply" if decides else "the run ended before the step that decides"
        )
        return StatusWhy(
            OutcomeStatus.NOBODY_ANSWERED, "; ".join((ended, *_missing(book))) if quorum.lost else ""
        )
    if has_beliefs(book):
        from rounds.protocols.crux.closing import status_of_answer
        from rounds.protocols.crux.standing import standing_at, table_at

        status, forecasts = status_of_answer(state), standing_at(state)
        if forecasts.status is status is OutcomeStatus.YOUR_CALL and forecasts.margin is not None:
            return StatusWhy(status, f"the first two options are {float(forecasts.margin):.1f} points apart")
        if status is OutcomeStatus.YOUR_CALL:
            return StatusWhy(status, "the memo answers with another option than the group forecast")
        due = [crux.claim for crux in forecasts.worth(table_at(state).terms.tau)]
        return StatusWhy(status, _first(due) if status is OutcomeStatus.RUN_THIS_FIRST else "")
    open_claims = open_under(book, finals or [chief])
    # An untested claim under the decision could still overturn it, so the test comes first.
    if open_claims or (state.closing and state.closing.reason == "hand_over"):
        return StatusWhy(OutcomeStatus.RUN_THIS_FIRST, _first(open_claims))
    undecided = next(_undecided(book, chief, finals), None)
    return StatusWhy(OutcomeStatus.DECIDED if undecided is None else OutcomeStatus.YOUR_CALL, undecided or "")


def _missing(book: Book) -> list[str]:
    """Return in clauses whose replies were lost by phase, and the phases that this kept from being asked for."""
    state = book.state
    if not state.given_up:
        return []
    steps = [name for step in (*state.answered, *state.given_up) if (name := parse_step(step))]
    if state.opening.protocol == "crux":
        # Its phases have no words of their own, and it skips some for other reasons than a loss.
        roles = dict.fromkeys(name.role for name in steps[len(state.answered) :])
        return [f"replies lost: {len(state.given_up)} of {len(steps)} ({some([*roles], LOST_SHOWN)})"]
    titles = {member.role: member.title for member in state.opening.cast}
    asked = Counter(name.phase for name in steps)
    lost = grouped((name.phase, titles.get(name.role, name.role)) for name in steps[len(state.answered) :])
    # To open a round (A) asks for nothing.
    planned = dict.fromkeys(phase for row in state.opening.plan for phase in row.phases)
    never = some([PHASES.get(phase, phase) for phase in planned if phase not in (*asked, "A")], LOST_SHOWN)
    parts = [
        f"{len(who)} of {asked[phase]} in {PHASES.get(phase, phase)} ({some([*dict.fromkeys(who)], LOST_SHOWN)})"
        for phase, who in lost.items()
    ]
    listed = f"replies lost: {some(parts, LOST_SHOWN)}"
    return [listed, f"never asked for: {never}"] if never else [listed]


def _first(claims: list[str]) -> str:
    """Return that a test of these claims could change the answer; empty without one."""
    return f"a test of {some(claims, LOST_SHOWN)} could change the answer" if claims else ""


def open_under(book: Book, decisions: list[Decision]) -> list[str]:
    """Return the claims under decisions that no test of the run settled, in order."""
    claims = book.state.claims
    cited = (cite.id for decision in decisions for cite in decision.cites if cite.id in claims)
    # Several decisions may cite one claim, and its order of first mention is kept.
    return [claim for claim in dict.fromkeys(cited) if claims[claim].status in OPEN]


def caveats(book: Book) -> list[str]:
    """Return how many open questions to a person are severe, and what was lost, each in a clause."""
    severe = {question.id for question in _open_questions(book) if (question.severity or 0) >= SERIOUS}
    # What asks the same counts once.
    serious = sum(not severe.isdisjoint(ids) for ids in open_questions_merged(book))
    return [f"{counted(serious, 'serious question')} open"] * bool(serious) + _missing(book)


def _unfinished(state: State) -> StatusWhy:
    """Return the status of a run that goes on, waits or was stopped."""
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
    """Return the questions to a person that are not answered."""
    return (
        concern for concern in book.of(Concern) if concern.for_human and concern.id not in book.state.resolved
    )


def _undecided(book: Book, chief: Decision, finals: list[Decision]) -> Iterator[str]:
    """Yield the reasons why a person has to decide after a run that has ended, the plainest first."""
    state, members, ballot = book.state, majority(book), ballot_of(book)
    if members is None and not finals:
        yield "nothing final was decided"
    if members is not None and members.option is None:
        yield f"{counted(len(members.plans), 'member')}, and nobody joins their answers"
    # Members whose replies were lost might have chosen another option.
    elif members is not None and 2 * members.most <= (total := len({**state.answered, **state.given_up})):
        yield f"no option has more than half of {total} members"
    # No way to vote has more than half, and no veto decides.
    if ballot is not None and ballot.is_split:
        yield "the votes are split"
    # A single judge cannot disagree with another one, and decides alone.
    if state.opening.protocol == "debate" and chief.made_by == "rule":
        # Only debates with several judges pay for loading this module.
        from rounds.protocols.debate_judging import side_preferred

        if side_preferred(book) is None:
            yield "the judges came to no determination"
    # The rule names both options exactly when their totals lie within 5% (AD-16).
    if state.opening.protocol == "comparative" and chief.made_by == "rule" and chief.about:
        from rounds.protocols.comparative import is_settled  # as above

        if is_settled(book, chief.about[0]):
            return  # its questions are about rounds without scores
        if chief.about[1:]:
            yield f"{' and '.join(chief.about)} are within five per cent"
        yield "rounds without scores could change the recommendation"
    # Levels far apart are put to a person, and one lens alone cannot be far from another.
    if state.opening.protocol == "priority" and state.given_up:
        yield "one lens was lost, so whether both agree is not known"
    # Runs without sealed answers have no lead to measure.
    if pools_without(book):
        from detectors.forecasts.arithmetic import group_forecast
        from detectors.parameters import gate_parameters
        from detectors.stopping.readiness import last_answers

        last = last_answers(state)
        margin = None if last is None else group_forecast(last.by_role.values()).margin
        if margin is not None and margin < gate_parameters().settled.margin_at_least:
            yield f"the group forecast leads by {float(margin):.1f} points"
    escalated = {event.of for event in book.of(Disposition) if event.disposition == "escalated"}
    # The controller writes questions for the rule; a disposition escalates on behalf of a role (JB-4).
    handed = {
        question.id
        for question in _open_questions(book)
        if question.by == "controller" or escalated.intersection(question.between)
    }
    # What asks the same counts once.
    if number := sum(not handed.isdisjoint(group) for group in open_questions_merged(book)):
        yield f"{counted(number, 'question')} to you {'is' if number == 1 else 'are'} open"


class Became(Result, frozen=True):
    """What a person said later of one decision.

    `overruled_by`: the decision that has stood in its place since, null while it is in force. `points`: how likely
    the run called it, of 100, null where it gave no number; `brier`: (points / 100 − came true)², 0 best and 1
    worst, null where nothing can be scored.
    """

    decision: str
    fate: Fate
    text: str
    by: str | None
    on: str
    points: float | None
    brier: float | None
    overruled_by: str | None


def became_of_decisions(book: Book) -> list[Became]:
    """Return the latest statement about each decision that has one."""
    return [_became(book, statement) for statement in became_of(book).values()]


def _became(book: Book, statement: FateSaid) -> Became:
    """Return what a person said of a decision, with the group forecast that it confirms or refutes."""
    points, brier = points_of(book, statement.decision), None
    # Only clear results are scored: a mixed or unknown result has no truth value to score against.
    if points is not None and statement.fate in ("held", "failed"):
        # The Brier score is 0 for a sure hit and 1 for a sure miss.
        brier = round((points / 100 - (statement.fate == "held")) ** 2, 4)
    # A statement may name a decision that a hostile or partial ledger does not have.
    known = statement.decision in book.state.decisions
    now = replacement(book.state, statement.decision) if known else statement.decision
    return Became(
        decision=statement.decision,
        fate=statement.fate,
        text=one_line(statement.text),
        by=statement.name,
        on=statement.at[:10],
        points=points,
        brier=brier,
        overruled_by=None if now == statement.decision else now,
    )


def points_of(book: Book, identity: str) -> float | None:
    """Return the group forecast, of 100 points, of the option that a decision names; None without forecasts."""
    decision = book.by_id.get(identity)
    # A person's decision is not what the group forecast, so its points would score the wrong thing.
    if not has_beliefs(book) or not isinstance(decision, Decision) or decision.by != "controller":
        return None
    # An override took this decision out of force, and the forecasts may have moved on since.
    if replacement(book.state, identity) != identity:
        return None
    # Few runs have forecasts, and every verb shows the outcome, so their arithmetic loads late.
    from moot.view.forecasts import leader_of_group, points_for

    # A decision that names no option answers with the leader of the group forecast.
    return points_for(book, option_of(book, decision) or leader_of_group(book))


WORDS: dict[Fate, str] = {
    "held": "It held",
    "failed": "It failed",
    "mixed": "Held in part",
    "unknown": "Not known",
}


def became_line(became: Became) -> str:
    """Return one line: `It failed: we lost a file. (D-1-1, Ada, 2026-11-23; it was called 83 of 100 likely, …)`."""
    scored = "" if became.points is None else f"; it was called {became.points:g} of 100 likely"
    scored += "" if became.brier is None else f", Brier score {became.brier:.2f}"
    who = f"{became.by}, " if became.by else ""
    since = f", since overruled by {became.overruled_by}" if became.overruled_by else ""
    return f"{WORDS[became.fate]}: {became.text} ({became.decision}{since}, {who}{became.on}{scored})"
