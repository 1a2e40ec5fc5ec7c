"""Reasons to stop or go on: signals and gates over time, disagreement by round, alarms, status of each option."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from detectors.course import Series, course
from detectors.observations import deliberation_rounds
from detectors.published_signals import SlopeAlarm, exact_slope, slope_alarm
from detectors.report import AlarmReading, SignalReport
from ledger.events import Alarm, Claim, Decision, DriftCheck, Score, Signals, Standing, Verification
from ledger.events.run import Labelled
from moot.view.events import EventWords, words_of
from moot.view.text import numbers
from moot.web.drawing import Bar, disagreement, small_bars
from moot.web.followed import Followed
from moot.web.links import Links
from moot.web.views.overview import lacks_parameters, signals_now


@dataclass(frozen=True, slots=True)
class AlarmTold:
    """An alarm that was raised; `closed` is what closed it."""

    alarm: Alarm
    closed: Alarm | None


@dataclass(frozen=True, slots=True)
class OptionStands:
    """An option: its claims by status, verdicts about it by result, decisions about it, and what judges said."""

    option: Labelled
    claims: dict[str, int]
    verdicts: dict[str, int]
    decisions: tuple[str, ...]
    judged: tuple[EventWords, ...]


@dataclass(frozen=True, slots=True)
class CourseDrawn:
    """A small chart of one number over the rounds; `told` lists the numbers, R1 first."""

    name: str
    chart: Markup
    told: str


@dataclass(frozen=True, slots=True)
class SignalsPage:
    """The page."""

    now: SignalReport | None
    open_alarms: tuple[AlarmReading, ...]
    courses: tuple[CourseDrawn, ...]
    lacks_parameters: bool
    looks: tuple[Signals, ...]
    chart: Markup | None
    slope: float | None
    fading: SlopeAlarm | None
    rounds: tuple[Bar, ...]
    alarms: tuple[AlarmTold, ...]
    drift: tuple[DriftCheck, ...]
    options: tuple[OptionStands, ...]
    not_before: int
    check_every: int


def signals_page(run: Followed, links: Links) -> SignalsPage:
    """Return the signals of a run."""
    state, book = run.state, run.book()
    bars, slope = bars_of(run, links)
    # An alarm names the one that it closes by sequence number, since a failure mode may alarm more than once.
    closed = {alarm.closes: alarm for alarm in state.alarms if alarm.action == "closed"}
    opened = state.opening
    now = signals_now(run)
    return SignalsPage(
        now=now,
        open_alarms=tuple(alarm for alarm in now.alarms if alarm.is_open) if now else (),
        # A chart of a single round shows nothing that its number does not.
        courses=tuple(_drawn(series) for series in course(state)) if now and len(bars) > 1 else (),
        lacks_parameters=lacks_parameters(run),
        looks=tuple(state.looks),
        chart=disagreement(bars, slope) if bars else None,
        slope=slope,
        fading=slope_alarm(state) if bars else None,
        rounds=bars,
        alarms=tuple(
            AlarmTold(alarm, closed.get(alarm.seq)) for alarm in state.alarms if alarm.action == "raised"
        ),
        drift=book.of(DriftCheck),
        options=tuple(_option(run, option) for option in opened.options),
        not_before=opened.stop.not_before,
        check_every=opened.stop.check_every,
    )


def _drawn(series: Series) -> CourseDrawn:
    # Shares are drawn against 1, so that two charts compare; counts only against their own maximum.
    known = [value for value in series.values if value is not None]
    top = 1.0 if series.share else max(known, default=0.0)
    listed = numbers(series.values, series.share)
    return CourseDrawn(
        series.name, small_bars(series.values, top, f"{series.name} by round: {listed}"), listed
    )


def bars_of(run: Followed, links: Links) -> tuple[tuple[Bar, ...], float | None]:
    """Return verdicts by round, and the slope of disagreement over the rounds without an absent role."""
    tallies = deliberation_rounds(run.state)
    bars = tuple(
        Bar(
            tally.round,
            tally.broken,
            tally.disagreement - tally.broken,
            len(tally.robust),
            tally.stress,
            links.round(tally.round),
        )
        for tally in tallies
    )
    # A round without a role is an experiment on the group: its verdicts say nothing about the trend.
    calm = [(tally.round, tally.disagreement) for tally in tallies if not tally.stress]
    return bars, float(exact_slope(calm)) if len(calm) > 1 else None


def _option(run: Followed, option: Labelled) -> OptionStands:
    book, state = run.book(), run.state
    claims: dict[str, int] = {}
    for event in book.of(Claim):
        if option.id in event.about:
            status = state.claims[event.id].status
            claims[status] = claims.get(status, 0) + 1
    verdicts: dict[str, int] = {}
    for check in book.of(Verification):
        if option.id in check.about:
            verdicts[check.result] = verdicts.get(check.result, 0) + 1
    scores = (words_of(event, book) for event in book.of(Score) if event.of == option.id)
    standings = (words_of(event, book) for event in book.of(Standing) if event.of == option.id)
    return OptionStands(
        option=option,
        claims=claims,
        verdicts=verdicts,
        decisions=tuple(event.id for event in book.of(Decision) if option.id in event.about),
        judged=(*scores, *standings),
    )
