"""A run as one Markdown document: what was decided and on what it rests, then how it came about.

What must be known before the first verdict stands first: degraded, waived, unfinished, simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from detectors.report import SignalReport
from ledger.format.chain import Head
from ledger.interchange.markdown import inline, listed, paragraphs
from ledger.state.book import Book
from moot.view import marks, words
from moot.view.hindsight import Hindsight
from moot.view.marks import mark_of
from moot.view.report_decisions import decided, decisions_table
from moot.view.report_exchange import exchange
from moot.view.report_hindsight import hindsight_sections
from moot.view.report_tables import (
    alarms_section,
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
from moot.view.stopping import played_elsewhere
from moot.view.story import Story

Section = Callable[[Story], Iterator[str]]

SECTIONS: Final[tuple[tuple[str, Section], ...]] = (
    ("Other decisions", decisions_table),
    ("Rounds", rounds_section),
    ("Stress rounds", stress_section),
    ("Claims", claims_section),
    ("Concerns and open questions", concerns_section),
    ("Alarms, amendments, notes", alarms_section),
    ("Retrospective", retrospective_section),
    ("Cast and seats", cast_section),
    ("Cost", cost_section),
)


SHORT: Final = (
    "Other decisions",
    "Concerns and open questions",
    "Alarms, amendments, notes",
    "Cast and seats",
    "Cost",
)
"""What a report on a short protocol has of these: there are no checks, signals or claims to be told."""


def short_report(story: Story, head: Head, book: Book) -> str:
    """The document of a run of a short protocol: what was decided, then everything that was handed in."""
    lines = [*_title(story), *_first(story), *_why(story), *decided(story)]
    lines += ["", "## What was handed in", "", *exchange(book)]
    for title, section in SECTIONS:
        body = list(section(story)) if title in SHORT else []
        if body:
            lines += ["", f"## {title}", "", *body]
    lines += ["", "## How to check this", "", *_check(story, head)]
    return "\n".join(lines) + "\n"


def report(story: Story, signals: SignalReport | None, head: Head, hindsight: Hindsight | None = None) -> str:
    """The document. `signals` are those of the whole run in the profile to be shown, None when the run's parameters are
    not there; `hindsight` is what can be said only when it is looked at as a whole."""
    lines = [*_title(story), *_first(story), *_why(story), *decided(story)]
    lines += ["", "## Stop signals", "", *signals_section(story, signals)]
    for title, section in SECTIONS:
        body = list(section(story))
        if body:
            lines += ["", f"## {title}", "", *body]
    for title, body in hindsight_sections(hindsight) if hindsight is not None else ():
        lines += ["", f"## {title}", "", *body]
    lines += ["", "## How to check this", "", *_check(story, head)]
    return "\n".join(lines) + "\n"


def _title(story: Story) -> Iterator[str]:
    first, _, rest = story.question.strip().partition("\n")
    yield f"# {inline(first) or '(no question is recorded)'}"
    if rest.strip():
        yield ""
        yield paragraphs(rest.strip())


def _first(story: Story) -> Iterator[str]:
    """The labels, before anything that could be taken for a result."""
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
    if story.origin == "import":
        yield f"An import of {days}; what answered is not recorded."
    else:
        yield f"moot {inline(story.moot)}, protocol {inline(story.protocol)}, {days}."
        yield f"Answered by {inline(answered_by(story.seats))}."
        if alike := one_family_told(story.seats):
            yield f"**Warning**: {inline(alike)}."
    if story.goals:
        yield ""
        yield from (f"- **{inline(goal.id)}** {inline(goal.text)}" for goal in story.goals)
    if story.options:
        yield ""
        yield (
            "Options: "
            + "; ".join(f"**{inline(option.id)}** {inline(option.text)}" for option in story.options)
            + "."
        )
    if story.context:
        names = "; ".join(
            f"**{inline(one.id)}** {inline(one.name)} ({one.bytes} bytes)" for one in story.context
        )
        yield ""
        yield f"Documents: {names}."


def _why(story: Story) -> Iterator[str]:
    yield ""
    yield "## Why it stopped" if story.closing else "## Where it stands"
    yield ""
    played = f"{len(story.rounds)} of {len(story.plan)} planned rounds"
    quorum = f"{story.quorum.actual} of {story.quorum.declared} steps were answered"
    if story.origin == "import":
        yield played_elsewhere(len(story.rounds))
        return
    if story.closing is None:
        yield f"It has not stopped: {played} were opened; {quorum}."
        return
    why = words.why_closed(story.closing.reason)
    yield f"The run {story.closing.state} because {inline(why)}, after {played}; {quorum}."
    last = next((told.look for told in reversed(story.rounds) if told.look), None)
    if last is not None:
        advice = mark_of(marks.ADVICE, last.advice).plain
        yield f"The last look, in round {last.round}, found {last.satisfied} of {last.of} signals: {advice}."
    if story.closing.open:
        yield f"Left open: {listed(story.closing.open)}."


def _check(story: Story, head: Head) -> Iterator[str]:
    yield f"Every line above is folded from the ledger; event {head.seq} has the head hash `{head.hash}`."
    yield ""
    yield "- `moot verify RUN` checks the hash chain, `moot check RUN` every rule."
    if story.origin == "new":
        yield "- `moot replay RUN --re-execute` runs the protocol again on the recorded replies and compares the head."
    yield "- What a brief contained is proven by the ledger; what else a seat with isolation `trusted` had read is not."
