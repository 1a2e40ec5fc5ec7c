"""Reasons to stop or go on: signals and gates over time, disagreement by round, alarms, status of each option."""

from __future__ import annotations

from collections import Counter
from typing import Any

from markupsafe import Markup

from detectors.course import Series, course
from detectors.observations import deliberation_rounds
from detectors.signals import exact_slope, slope_alarm
from ledger.events import Claim, Decision, DriftCheck, Score, Standing, Verification
from ledger.events.run import Labelled
from ledger.state.book import Book
from moot.run_view import RunView
from moot.view.events import words_of
from moot.view.text import numbers
from moot.web.drawing import disagreement, small_bars
from moot.web.links import Links
from rounds.protocols import is_watched


def signals_page(view: RunView, links: Links) -> dict[str, Any]:
    """Return the signals of a run. `alarms` are those that were raised, each with what closed it."""
    book, state, now = view.book, view.book.state, view.signals
    tallies = deliberation_rounds(state)
    # A round without a role is an experiment on the group: its verdicts say nothing about the trend.
    calm = [(tally.round, tally.disagreement) for tally in tallies if not tally.stress]
    slope = float(exact_slope(calm)) if len(calm) > 1 else None
    # An alarm names the one that it closes by sequence number, since a failure mode may alarm more than once.
    closed = {alarm.closes: alarm for alarm in state.alarms if alarm.action == "closed"}
    return {
        "now": now,
        # A chart of a single round shows nothing that its number does not.
        "courses": [_drawn(series) for series in course(state)] if now and len(tallies) > 1 else [],
        "lacks_parameters": now is None and is_watched(state.opening),
        "looks": state.looks,
        "chart": disagreement(tallies, slope, links) if tallies else None,
        "slope": slope,
        "fading": slope_alarm(state) if tallies else None,
        "alarms": [(alarm, closed.get(alarm.seq)) for alarm in state.alarms if alarm.action == "raised"],
        "drift": book.of(DriftCheck),
        "options": [_option(book, option) for option in state.opening.options],
    }


def _drawn(series: Series) -> tuple[str, Markup, str]:
    """Return the name of a number, a small chart of it over the rounds, and the numbers, R1 first."""
    # Shares are drawn against 1, so that two charts compare; counts only against their own maximum.
    known = [value for value in series.values if value is not None]
    top = 1.0 if series.share else max(known, default=0.0)
    listed = numbers(series.values, series.share)
    return series.name, small_bars(series.values, top, f"{series.name} by round: {listed}"), listed


def _option(book: Book, option: Labelled) -> dict[str, Any]:
    """Return an option with its claims by status, verdicts by result, decisions, and what judges said."""
    claims = [event for event in book.of(Claim) if option.id in event.about]
    judged: list[Score | Standing] = [*book.of(Score), *book.of(Standing)]
    return {
        "option": option,
        "claims": Counter(book.state.claims[event.id].status for event in claims),
        "verdicts": Counter(event.result for event in book.of(Verification) if option.id in event.about),
        "decisions": [event.id for event in book.of(Decision) if option.id in event.about],
        "judged": [words_of(event, book) for event in judged if event.of == option.id],
    }
