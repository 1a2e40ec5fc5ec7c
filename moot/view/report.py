"""A run as one Markdown document: its outcome and how it came about on three pages; `--full` adds the record.

Labels come before the first verdict: degraded, waived, unfinished, simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from itertools import chain
from typing import Literal

from detectors.report import SignalReport
from ledger.events import Argument
from ledger.format.chain import Head
from ledger.interchange.markdown import inline, paragraphs
from ledger.interchange.transcript import entry
from ledger.state.book import Book
from moot.view.adr import adr
from moot.view.agreement import without_section
from moot.view.annexes_judging import open_questions, severities
from moot.view.experiments import experiments_markdown, experiments_of
from moot.view.forecasts import forecasts_markdown, forecasts_of
from moot.view.outcome import Outcome, outcome_of
from moot.view.outcome_text import outcome_markdown
from moot.view.report_decisions import decided, decisions_table
from moot.view.report_hindsight import Hindsight, failures_section, hindsight_sections
from moot.view.report_hindsight import hindsight as hindsight_of
from moot.view.report_tables import (
    alarms_section,
    annex_sections,
    cast_section,
    claims_section,
    concerns_section,
    cost_section,
    retrospective_section,
    rounds_section,
    signals_section,
    stress_section,
)
from moot.view.seats import answered_by, one_family_told
from moot.view.stop_checks import why_it_stopped
from moot.view.story import Story, tell
from rounds.protocols import is_watched
from rounds.run.budget import Amounts

Form = Literal["pages", "full", "page", "adr"]
"""Three pages; three pages with the record; one page to hand on; a decision record."""
Sections = Iterator[tuple[str, Iterator[str]]]


def run_report(
    book: Book,
    head: Head,
    signals: Callable[[], SignalReport | None],
    *,
    run: str,
    form: Form = "pages",
    beyond: Amounts | None = None,
) -> str:
    """Return the run as one Markdown document in the given form; `full` has every event once."""
    if form == "adr":
        return adr(book, head, run=run)
    if form == "page":
        return page(book, head, run=run, beyond=beyond)
    # Hindsight takes several passes over the ledger, so only watched runs pay for it.
    story, watched = tell(book), is_watched(book.state.opening)
    looked_back = hindsight_of(book) if watched else None
    if form == "full":
        return full_report(story, book, head, looked_back, run=run, beyond=beyond)
    read = signals() if watched else None  # None where thresholds are gone: the report says so
    return report(story, book, head, read, looked_back, watched=watched, run=run, beyond=beyond)


def report(
    story: Story, book: Book, head: Head, signals: SignalReport | None = None, hindsight: Hindsight | None = None,
    *, watched: bool = True, run: str = "RUN", beyond: Amounts | None = None,
) -> str:  # fmt: skip
    """Return the document of three pages, at most 250 lines.

    `signals` cover the whole run in the profile to be shown, None when its parameters are missing. A run that
    is not `watched` has neither `signals` nor `hindsight`.
    """
    outcome = outcome_of(run, book, beyond)
    lines = [*_head(story, outcome, run), "", *decided(story, outcome.answer)]
    # The annex of a debate lists its open questions already.
    elsewhere = (
        {question.id or "" for question in open_questions(book)} if any(book.of(Argument)) else set[str]()
    )
    for title, section in chain(
        annex_sections(book),
        _experiments(book, run),
        _forecasts(book, run),
        _sections(
            story, book, signals, hindsight, watched=watched, elsewhere={*elsewhere, *severities(book)}
        ),
    ):
        lines += _section(title, section)
    return "\n".join([*lines, *_section("How to check this", _check(story, head))]) + "\n"


def page(book: Book, head: Head, *, run: str = "RUN", beyond: Amounts | None = None) -> str:
    """Return one page to hand on: the outcome and the protocol's annexes, such as a trace table."""
    story = tell(book)
    lines = _head(story, outcome_of(run, book, beyond), run)
    for title, section in annex_sections(book):
        lines += _section(title, section)
    return "\n".join([*lines, *_section("How to check this", _check(story, head))]) + "\n"


def full_report(
    story: Story,
    book: Book,
    head: Head,
    hindsight: Hindsight | None = None,
    *,
    run: str = "RUN",
    beyond: Amounts | None = None,
) -> str:
    """Return the outcome, readings over the whole run, then the record: every event once, by round and phase."""
    lines = _head(story, outcome_of(run, book, beyond), run)
    for title, body in hindsight_sections(hindsight) if hindsight is not None else ():
        lines += _section(title, iter(body))
    lines += [*_section("Cast and seats", cast_section(story)), *_section("Cost", cost_section(story))]
    lines += [*_section("The record", _record(book)), *_section("How to check this", _check(story, head))]
    return "\n".join(lines) + "\n"


def _head(story: Story, outcome: Outcome, run: str) -> list[str]:
    """Return question, labels and outcome."""
    return [*_title(story), *_first(story), "", *outcome_markdown(outcome, run)]


def _section(title: str, lines: Iterator[str]) -> list[str]:
    """Return a section with its heading; nothing when it has no lines."""
    body = list(lines)
    return ["", f"## {title}", "", *body] if body else []


def _sections(
    story: Story,
    book: Book,
    signals: SignalReport | None,
    hindsight: Hindsight | None,
    *,
    watched: bool,
    elsewhere: Container[str],
) -> Sections:
    """Yield the sections of a three-page document, in order."""
    yield "Other decisions", decisions_table(story)
    yield "Why it stopped" if story.closing else "Where it stands", iter([inline(why_it_stopped(book.state))])
    if watched:
        yield "Stop signals", signals_section(story, signals)
        yield "Rounds", rounds_section(story)
        yield "Stress rounds", stress_section(story)
        yield "Without each role", without_section(book)
        yield "Claims", claims_section(story)
    yield "Concerns and open questions", concerns_section(story, elsewhere)
    yield "Alarms, amendments, notes", alarms_section(story)
    if hindsight is not None:
        yield "Failure modes", failures_section(hindsight)
    yield "Retrospective", retrospective_section(story)
    yield "Cast and seats", cast_section(story)
    yield "Cost", cost_section(story)


def _experiments(book: Book, run: str) -> Sections:
    yield "Claims tested by running", experiments_markdown(experiments_of(run, book))


def _forecasts(book: Book, run: str) -> Sections:
    report = forecasts_of(run, book)
    if report is not None:
        yield "Forecasts and cruxes", forecasts_markdown(report)


def _record(book: Book) -> Iterator[str]:
    """Yield every event with its words, under a heading for each round and phase."""
    place: tuple[int, str] | None = None
    # The opening is the head of the document, so the record starts after it.
    for event in book.events[1:]:
        if (event.round, event.phase) != place:
            place = (event.round, event.phase)
            yield f"### Round {event.round}: {inline(event.phase)}"
            yield ""
        yield entry(event, book)
        yield ""


def _title(story: Story) -> Iterator[str]:
    # A Markdown heading ends at the line, so the rest of a long question follows as text.
    first, _, rest = story.opening.question.strip().partition("\n")
    yield f"# {inline(first) or '(no question is recorded)'}"
    if rest.strip():
        yield ""
        yield paragraphs(rest.strip())


def _first(story: Story) -> Iterator[str]:
    """Yield the labels and facts of the run, before anything that looks like a result."""
    if story.labels:
        yield ""
        for label in story.labels:
            yield f"> **{inline(label.kind)}** {inline(label.text)}  "
    yield ""
    days = (
        story.began[:10]
        if story.began[:10] == story.last[:10]
        else f"{story.began[:10]} to {story.last[:10]}"
    )
    if story.opening.origin.type == "import":
        yield f"An import of {days}; what answered is not recorded."
    else:
        yield f"moot {inline(story.opening.moot)}, protocol {inline(story.opening.protocol)}, {days}."
        yield f"Answered by {inline(answered_by(story.seats))}."
        if alike := one_family_told(story.seats):
            yield f"**Warning**: {inline(alike)}."
    if story.opening.goals:
        yield ""
        yield from (f"- **{inline(goal.id)}** {inline(goal.text)}" for goal in story.opening.goals)
    if story.opening.options:
        yield ""
        yield (
            "Options: "
            + "; ".join(f"**{inline(option.id)}** {inline(option.text)}" for option in story.opening.options)
            + "."
        )
    if story.opening.context:
        names = "; ".join(
            f"**{inline(document.id)}** {inline(document.name)} ({document.bytes} bytes)"
            for document in story.opening.context
        )
        yield ""
        yield f"Documents: {names}."


def _check(story: Story, head: Head) -> Iterator[str]:
    yield f"Every line above is folded from the ledger; event {head.seq} has the head hash `{head.hash}`."
    yield ""
    yield "- `moot verify RUN` checks the hash chain, `moot check RUN` every rule."
    # Imports, forks and copies cannot be executed again from their own replies alone.
    if story.opening.origin.type == "new":
        yield "- `moot replay RUN --re-execute` runs the protocol again on the recorded replies and compares the head."
    yield "- What a brief contained is proven by the ledger; what else a seat with isolation `trusted` had read is not."
