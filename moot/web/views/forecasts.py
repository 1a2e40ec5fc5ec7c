"""Forecasts of a `crux` run on its page: a row per option, a row per crux with the command that settles it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ledger.state.book import Book
from moot.view.forecasts import (
    answer_command,
    closing_lines,
    crux_line,
    forecasts_of,
    percent,
    roles_range,
    status_line,
)


class OptionRow(NamedTuple):
    """An option with its words and its group forecast before the tests and now."""

    option: str
    words: str
    before: str
    now: str
    points: float
    roles: str


class CruxRow(NamedTuple):
    """A crux with its words and outcome; `command` submits a person's result while the crux is not settled."""

    claim: str
    words: str
    outcome: str
    command: str | None


@dataclass(frozen=True, slots=True)
class ForecastsShown:
    """Content of the forecasts block."""

    status: str
    options: tuple[OptionRow, ...]
    cruxes: tuple[CruxRow, ...]
    closing: tuple[str, ...]


def forecasts_shown(run: str, book: Book) -> ForecastsShown | None:
    """Return the forecasts for a page; None while numbers are sealed, and for other protocols."""
    report = forecasts_of(run, book)
    if report is None:
        return None
    options = [
        OptionRow(
            option,
            words,
            percent(report.before[option]),
            percent(report.group[option]),
            report.group[option],
            # Only the range: the group forecast at the beginning of the text has a column of its own.
            roles_range(report, option).partition(" ")[2].strip("()"),
        )
        for option, words in report.options.items()
        # An option that never had a point would only push the others down the page.
        if report.group.get(option) or report.before.get(option)
    ]
    cruxes = [
        CruxRow(
            crux.claim,
            crux.text,
            crux_line(crux),
            # A settled crux needs no more answers.
            answer_command(run, book, crux.claim) if crux.result is None else None,
        )
        for crux in report.cruxes
    ]
    return ForecastsShown(status_line(report), tuple(options), tuple(cruxes), tuple(closing_lines(report)))
