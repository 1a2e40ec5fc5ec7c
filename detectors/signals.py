"""Stop checks of a run: the gates or, as published, the six signals; their count, and the verdict (SD-60)."""

from __future__ import annotations

from typing import Final

import msgspec

from detectors.observations import observe
from detectors.parameters import PROFILES, GateParameters, parameters_of, published_parameters
from detectors.published_signals import SIGNALS, published_alarms
from detectors.report import SignalReport, StepQuorum, StopVerdict
from detectors.stopping.gates import StopJudgement, judge
from detectors.stopping.questions import deciding_questions
from ledger.events.decisions import Advice
from ledger.state.book import Blobs, Book
from ledger.state.fold import fold
from ledger.state.state import State

ADVICE: Final[dict[int, Advice]] = {6: "strong_stop", 5: "wrap_up", 4: "borderline"}
"""Signals satisfied → advice; fewer say `continue`."""


class UnknownProfile(ValueError):
    """Profile that is not installed."""


def signals(book: Book, profile: str, at: int | None = None, *, run: str = "") -> SignalReport:
    """Return the stop checks of `book` as they read after event `at` (a seq; None: after the last event).

    `run` is the name that the report carries; a book does not know where it was read from.
    """
    # The folded state of the whole run exists already; only an earlier point needs a second fold.
    if at is None or at >= book.state.seq:
        return signals_of_state(book.state, profile, book.blobs, run=run)
    prefix = fold(event for event in book.events if event.seq <= at)
    return signals_of_state(prefix, profile, book.blobs, run=run)


def signals_of_state(
    state: State,
    profile: str,
    blobs: Blobs | None = None,
    *,
    run: str = "",
    parameters: GateParameters | None = None,
) -> SignalReport:
    """Return the same from a folded state alone; `parameters` replace the run's own in the profile `gates`."""
    if profile not in PROFILES:
        raise UnknownProfile(f"no profile {profile!r}: gates or published")
    seen, rule = observe(state), published_parameters()
    readings = [read(seen, rule) for read in SIGNALS]
    satisfied = sum(signal.satisfied for signal in readings)
    if profile == "gates":
        judged = judge(state, parameters or parameters_of(state, blobs))
    else:
        stops = satisfied >= rule.stop["satisfied_at_least"]
        advice = ADVICE.get(satisfied, "continue")
        judged = StopJudgement(stops, stops, advice, [], list(published_alarms(seen, satisfied)))
    verdict: StopVerdict = "stop" if judged.ready else "wait" if judged.stop else "go_on"
    # A finished run cannot go on or wait, whatever its gates say.
    if state.finished and not judged.ready:
        verdict = "ended"
    return SignalReport(
        run=run,
        profile=profile,
        at=state.seq,
        round=state.round,
        verdict=verdict,
        headline="",
        waits_for=[question.id for question in deciding_questions(state)] if verdict == "wait" else [],
        satisfied=satisfied,
        of=len(readings),
        quorum=StepQuorum(declared=state.quorum.declared, actual=state.quorum.actual),
        signals=readings,
        **msgspec.structs.asdict(judged),
    )
