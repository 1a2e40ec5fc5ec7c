"""A run's first page: why it stopped, its decisions, and the sentences that they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ledger.events import Decision, Ruling, RunClosed, RunOpened
from ledger.events.run import Labelled
from ledger.state.decided import final_in_force, outcome
from ledger.state.state import State
from ledger.store.failures import BlobMissing
from moot.view.costs import RunCosts, costs_of
from moot.view.decisions import DecisionTold, tell_decision
from moot.view.events import EventWords, words_of
from moot.view.experiments import ExperimentShown, experiments_of
from moot.view.grounds import Ground
from moot.view.judgements import ScoreRow, scores_of
from moot.view.labels import Label
from moot.view.seats import answered_by, one_family_told, seats_told
from moot.view.stop_checks import why_it_stopped
from moot.web.followed import Followed, isolation_of, labels_shown
from moot.web.views.claims import claims_by_status
from moot.web.views.forecasts import ForecastsShown, forecasts_shown
from moot.web.views.rounds import RoundLine, RoundPage, round_lines, round_page
from rounds.protocols import is_watched

if TYPE_CHECKING:
    from detectors.report import SignalReport

DECISIONS_SHOWN: Final = 8
GROUNDS_SHOWN: Final = 6
ROUNDS_SHOWN: Final = 60
SHORT_ROUNDS: Final = 3
SHORT_EVENTS: Final = 120


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision with its grounds; `more` counts those that are not shown."""

    decision: DecisionTold
    grounds: tuple[Ground, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The page."""

    opened: RunOpened
    question: str
    more_question: str
    labels: tuple[Label, ...]
    why: str
    closing: RunClosed | None
    answered_by: str
    one_family: str | None
    isolation: str
    goals: tuple[Labelled, ...]
    decided: tuple[Decided, ...]
    overturned: tuple[DecisionTold, ...]
    undecided: bool
    hidden_decisions: int
    rulings: tuple[EventWords, ...]
    scores: tuple[ScoreRow, ...]
    signals: SignalReport | None
    rounds: tuple[RoundLine, ...]
    hidden_rounds: int
    shown_rounds: tuple[RoundPage, ...]
    """Rounds of a short run in full, with a column per seat."""
    claims: dict[str, int]
    costs: RunCosts
    forecasts: ForecastsShown | None
    experiments: tuple[ExperimentShown, ...]
    events: int
    began: str
    last: str
    state: State


def overview(run: Followed) -> Overview:
    """Return the content of a run's first page."""
    book, state = run.book(), run.state
    opened = state.opening
    seats = seats_told(book)
    events_shown, final, hidden = _listed(run)
    lines = tuple(round_lines(run))
    question, _, more = opened.question.strip().partition("\n")
    return Overview(
        opened=opened,
        question=question,
        more_question=more.strip(),
        labels=labels_shown(run),
        why=why_it_stopped(state),
        closing=state.closing,
        answered_by=answered_by(seats) if opened.origin.type != "import" else "an import does not say",
        one_family=one_family_told(seats),
        isolation=isolation_of(run),
        goals=opened.goals,
        decided=tuple(_decided(run, event) for event in events_shown),
        overturned=tuple(_overturned(run)),
        # Decisions that are shown without a final one must not look like the answer.
        undecided=bool(events_shown) and not final,
        hidden_decisions=hidden,
        rulings=tuple(words_of(event, book) for event in book.of(Ruling)),
        scores=scores_of(book),
        signals=signals_now(run),
        # The last rounds: a run of hundreds has a page of its own for the others.
        rounds=lines[-ROUNDS_SHOWN:],
        hidden_rounds=max(0, len(lines) - ROUNDS_SHOWN),
        shown_rounds=tuple(_short(run)),
        claims=claims_by_status(state),
        costs=costs_of(book),
        forecasts=forecasts_shown(run.path.name, book),
        experiments=tuple(experiments_of(run.path.name, book)),
        events=run.seq + 1,
        began=book.events[0].at,
        last=book.events[-1].at,
        state=state,
    )


def signals_now(run: Followed) -> SignalReport | None:
    """Return the stop signals at the head.

    None for a protocol without rounds of checks, and when the run's own parameters are missing (`lacks_parameters`).
    """
    from detectors.signals import signals_of_state
    from moot.view.stop_checks import worded

    opened = run.state.opening
    # Forecasts are shown in a block of their own, and protocols of fixed steps have nothing to measure.
    if opened.stop.profile == "crux" or not (run.state.checks or is_watched(opened)):
        return None
    if lacks_parameters(run):
        return None
    report = signals_of_state(run.state, opened.stop.profile, run.blobs, run=run.path.name)
    return worded(report, run.state)


def lacks_parameters(run: Followed) -> bool:
    """Return whether the thresholds of the run are missing: no other thresholds are used instead."""
    from detectors.parameters import parameters_of

    try:
        parameters_of(run.state, run.blobs)
    # Other thresholds would give other signals than the run was stopped by, so none are shown.
    except BlobMissing:
        return True
    return False


def _short(run: Followed) -> Iterator[RoundPage]:
    """Yield the rounds of a run that is short enough to be read on one page."""
    rounds = run.state.rounds
    # A short run is read on one page; a click for each of two rounds would only be in the way.
    if 0 < len(rounds) <= SHORT_ROUNDS and run.seq <= SHORT_EVENTS:
        yield from (round_page(run, number) for number in sorted(rounds))


def _listed(run: Followed) -> tuple[list[Decision], bool, int]:
    """Return the decisions to show, whether they are final, and how many more there are."""
    book, state = run.book(), run.state
    final, ids = final_in_force(state), outcome(state)
    events = (
        [book.by_id[identity] for identity in reversed(ids)]
        # Without a final decision the latest round decision comes first: it is the closest to an answer.
        if not final
        else [book.by_id[identity] for identity in ids]
    )
    decisions = [event for event in events if isinstance(event, Decision)]
    return decisions[:DECISIONS_SHOWN], bool(final), max(0, len(decisions) - DECISIONS_SHOWN)


def _overturned(run: Followed) -> Iterator[DecisionTold]:
    """Yield final decisions that are no longer in force."""
    book, state = run.book(), run.state
    for event in book.of(Decision):
        if event.type == "final" and state.decisions[event.id].overturned_by is not None:
            yield tell_decision(book, event, run.sources.sections, 1)


def _decided(run: Followed, event: Decision) -> Decided:
    summary = tell_decision(run.book(), event, run.sources.sections, 1)
    return Decided(summary, summary.rests_on[:GROUNDS_SHOWN], max(0, len(summary.rests_on) - GROUNDS_SHOWN))
