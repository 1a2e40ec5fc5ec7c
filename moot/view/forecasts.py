"""Forecasts and cruxes of a `crux` run in words, for terminal, report and page."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from typing import Final, NamedTuple

from detectors.forecasts.report import CruxReport, ForecastReport, report_of
from ledger.events import Claim
from ledger.interchange.markdown import inline
from ledger.plain_text import counted, one_line, shortened
from ledger.state.book import Book
from moot.view.evidence import meaning
from rounds.protocols.crux import standing
from rounds.protocols.crux.sightings import unseen

NARROW: Final = 60
WIDE: Final = 200
WORDS_SHOWN: Final = 160
"""Maximum characters of a claim or an option before it is cut."""
HOW: Final = {
    "execution": "run",
    "calculation": "calculate",
    "document": "read",
    "person": "measure",
}
"""Way to settle a crux → its word on screen."""
NOTE: Final = "How often a test is right is an assumption, not a measurement."


class AnswerCommand(NamedTuple):
    """The command that hands in a person's result of a crux, and the open question that asks for it."""

    claim: str
    question: str | None
    command: str


def forecasts_of(run: str, book: Book) -> ForecastReport | None:
    """Return the forecasts of a run once all numbers are in; None before that, and for other protocols.

    `run` is how commands name the run.
    """
    state = book.state
    # Partial forecasts would reveal sealed numbers to seats that still answer.
    if state.opening.protocol != "crux" or not (state.looks or standing.numbers_end(state) is not None):
        return None
    texts = dict(standing.option_texts(state))
    for claim in standing.cruxes_of(state):
        event = book.by_id[claim]
        # A hostile ledger may name a crux whose event is of another kind.
        texts[claim] = event.text if isinstance(event, Claim) else ""
    return report_of(
        standing.table_at(state),
        standing.option_ids(state),
        run=run,
        texts=texts,
        kept=standing.kept_cruxes(state),
        disagree=[claim for claim in standing.cruxes_of(state) if standing.disagreeing(state, claim)],
        unseen=unseen(state),
    )


def answer_command(run: str, book: Book, claim: str) -> AnswerCommand:
    """Return the command that hands in a person's result on a crux."""
    # Answering the open question also closes it; a bare claim id works where none was asked.
    asked = (
        identity
        for identity, concern in book.state.concerns.items()
        if concern.for_human and claim in concern.between and identity not in book.state.resolved
    )
    question = next(asked, None)
    command = f"moot answer {shlex.quote(run)} {question or claim} --holds|--fails 'TEXT'"
    return AnswerCommand(claim, question, command)


def percent(points: float) -> str:
    """Return points as a percentage."""
    return f"{points:.0f}%"


def roles_range(report: ForecastReport, option: str) -> str:
    """Return `58% (roles 50–63%)`: the group forecast of an option and the range of the roles' forecasts."""
    forecasts = [points[option] for points in report.roles.values()]
    low, high = min(forecasts), max(forecasts)
    spread = f"roles {low}%" if low == high else f"roles {low}–{high}%"
    return (
        f"{percent(report.group[option])} ({spread})" if len(forecasts) > 1 else percent(report.group[option])
    )


def crux_line(crux: CruxReport) -> str:
    """Return the result of a crux, or the value of a test of it."""
    if crux.result is not None:
        return f"{crux.result}, {meaning(crux.level or 'said')}"
    points = "has no numbers" if crux.value is None else f"a test is worth {crux.value:.1f} points"
    # Contradicting programs mean that the test itself is in doubt, whatever its value.
    why = ", two programs disagree" if crux.disagree else "" if crux.kept else ", not among the three kept"
    return f"not settled{why}: {points} ({HOW[crux.how]})"


def status_line(report: ForecastReport) -> str:
    """Return the state of the forecasts and cruxes, in a sentence that is true of every crux."""
    unsettled = [crux for crux in report.cruxes if crux.result is None]
    worth = [crux for crux in unsettled if (crux.value or 0) >= report.tau]
    match report.status:
        case "nobody_answered":
            return "STOP: no role answered."
        case "ill_posed":
            return "STOP: the question is ill-posed. The frame says so, and most points are on none of the options."
        case "run_this_first":
            ids = ", ".join(crux.claim for crux in worth)
            gain = f"the chance of a right answer by {report.tau:g} points or more"
            return f"GO ON: a test of {ids} raises {gain}."
        case _:
            lead = (
                "a person weighs, because the first two options are less than 10 points apart."
                if report.status == "your_call"
                else "the forecasts decide."
            )
            return f"STOP: {lead} No test that is left is worth {report.tau:g} points."


def forecasts_text(report: ForecastReport, width: int) -> str:
    """Return the forecasts and cruxes as text of `width` columns, clamped to 60–200."""
    width = min(max(width, NARROW), WIDE)
    lines = [*_wrapped(status_line(report), width), ""]
    for option in report.options:
        # Options that never had a point are those that no role considered; they add no information.
        if report.group.get(option) or report.before.get(option):
            words = shortened(one_line(report.options[option]), WORDS_SHOWN)
            lines += _wrapped(f"{option}  {roles_range(report, option)}  {words}", width, "      ")
    # The forecasts before the tests matter only where a test changed them.
    moved = [option for option in report.group if report.group[option] != report.before[option]]
    if moved:
        before = ", ".join(f"{option} {percent(report.before[option])}" for option in moved)
        lines += _wrapped(f"Before the tests: {before}.", width)
    lines.append("")
    for crux in report.cruxes:
        words = shortened(one_line(crux.text), WORDS_SHOWN)
        lines += _wrapped(f"{crux.claim}  {words}{' ' if words else ''}{crux_line(crux)}", width, "       ")
    if not report.cruxes:
        lines.append("No crux: no role named a test that could change its answer.")
    lines += ["", *(line for text in closing_lines(report) for line in _wrapped(text, width))]
    return "\n".join(lines) + "\n"


def closing_lines(report: ForecastReport) -> Iterator[str]:
    """Yield decisive roles, an estimate of unnamed ways to be wrong, and the basis of the figures."""
    for role, end in report.without.items():
        if end.changes:
            lead = f"{end.leader} would lead" if end.leader != report.leader else "the status would differ"
            yield f"It depends on {role}: without it {lead if end.leader else 'no role is left'}."
    if report.unseen is not None and report.unseen.distinct:
        # The jackknife estimates species that no observer has sighted, here ways to be wrong.
        more = report.unseen.jackknife - report.unseen.distinct
        yield f"{counted(report.unseen.distinct, 'way')} to be wrong named, about {more:.1f} more by estimate."
    if report.cruxes:
        # The value of a test depends on an assumed accuracy, so no figure may stand without this note.
        yield NOTE


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent)


def forecasts_markdown(report: ForecastReport) -> Iterator[str]:
    """Yield the forecasts and cruxes as Markdown lines."""
    yield status_line(report)
    yield ""
    yield "| option | group forecast | before the tests |"
    yield "| --- | --- | ---: |"
    for option, words in report.options.items():
        if report.group.get(option) or report.before.get(option):
            before = percent(report.before[option])
            yield f"| {option} {inline(one_line(words))} | {roles_range(report, option)} | {before} |"
    if report.cruxes:
        yield ""
        yield "| crux | outcome |"
        yield "| --- | --- |"
        for crux in report.cruxes:
            yield f"| {crux.claim} {inline(one_line(crux.text))} | {inline(crux_line(crux))} |"
    yield ""
    yield from (f"{inline(text)}  " for text in closing_lines(report))
