"""A run as one Markdown document: Jinja templates over the run view.

The outcome and how it came about fill three pages; `full` adds the record of every event, `page` is one to hand on.
Labels come before the first verdict: degraded, waived, unfinished, simulated. A template prints every value as escaped
text, so that no text of a ledger becomes a heading, a link or a table.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import Any, Final, Literal

import orjson
from jinja2 import Environment, PackageLoader, StrictUndefined, UndefinedError
from markupsafe import Markup

from detectors.contribution import contributions, sighted_by_others
from detectors.parameters import parameters_of
from detectors.report import AlarmReading
from detectors.stopping.gates import judge
from ledger.events import Argument, Decision, Event
from ledger.events.decisions import SignalReading
from ledger.format.canonical import Head
from ledger.interchange import markdown
from ledger.language.words import word_count
from ledger.plain_text import counted, one_line, percent, shortened, visible
from ledger.state.decided import SUPPORT, final_in_force, outcome as outcome_ids
from ledger.store.failures import BlobMissing
from moot.run_view import RunView
from moot.view import marks, words
from moot.view.agreement import FROM_ANSWERS, HEADS, NOT_MEASURABLE, without_rows
from moot.view.annexes import annexes_of
from moot.view.annexes_judging import open_questions
from moot.view.claims import ClaimView, DecisionView, lifecycle
from moot.view.experiments import ExperimentShown, output_of, verdict_sentence
from moot.view.forecasts import closing_lines, crux_line, roles_spread
from moot.view.grounds import ground_standing
from moot.view.judgements import options_of
from moot.view.marks import shown_as
from moot.view.outcome_status import became_line
from moot.view.outcome_text import outcome_markdown
from moot.view.reasons import Point, severities
from moot.view.review import ChangeReview, counts_text, where
from moot.view.round import READINGS, CheckView, ConcernView
from moot.view.seats import (
    SeatView,
    answered_by,
    contexts_text,
    dollars_cell,
    filled,
    one_family_warning,
    unrecorded_text,
)
from moot.view.stop_checks import alarms_first, gates_held, why_it_stopped
from moot.view.story import Story, spent
from moot.view.study import StudyReport, answer_of, planned_text, progress_text, sections_of
from moot.view.transcript import entry
from rounds.protocols import is_watched
from rounds.run.acceptance import current_acceptance

Form = Literal["pages", "full", "page", "adr"]
"""Three pages; three pages with the record; one page to hand on; a decision record."""
LIMITS: Final = {"SHOWN": 6, "GROUNDS": 8, "FINALS": 5, "OTHERS": 4, "BESIDE": 200, "ANNEX_ROWS": 40}
"""Maximum rows of a section, grounds and decisions listed, and characters of a final decision beside the answer."""
TEXT: Final = 70
"""Maximum characters of a text in a table; the id leads to the whole."""
ANNEX_LINES, ANNEX_WORDS = 90, 1300
"""Maximum lines and words of a final text; the rest is counted with a pointer."""
REPORT_LINES, REPORT_BLOCK, REPORT_LEAST = 40, 30, 4
"""Lines of programs and output in a report: of all blocks together, and at most and at least of one block."""
# Shorter answers are cheap to repeat, and longer ones may be cut in the outcome.
WHOLE: Final = (20, 80)
"""Words of an answer too long to repeat, and short enough to be uncut in the outcome."""


def run_report(view: RunView, head: Head, form: Form = "pages") -> str:
    """Return the run as one Markdown document; `full` has every event once."""
    if form == "adr":
        return decision_record(view, head)
    story, opening = view.story, view.book.state.opening
    watched = is_watched(opening)
    return render(
        f"report-{form}.md.j2",
        view=view,
        story=story,
        opening=opening,
        at=head,
        watched=watched,
        annexes=annexes_of(view.book),
        # Hindsight takes several passes over the ledger, so only watched runs pay for it.
        failures=_failures(view) if watched else (),
        contributions=contributions(view.book.state, sighted_by_others(view.book.events)) if watched else (),
        concerns=_concerns(view),
    )


def decision_record(view: RunView, head: Head, only: str | None = None) -> str:
    """Return the run as the record that teams keep (MADR 4), or one decision of it where `only` names one."""
    book, finals, acceptance = view.book, final_in_force(view.book.state), current_acceptance(view.book)
    status, decisions = "proposed", [only] if only else outcome_ids(book.state)
    # An acceptance covers the final decisions in force, so an older decision stays a proposal.
    if acceptance is not None and only in (None, *finals):
        status = "accepted" if acceptance.accepted else "rejected"
    makers = [
        "the protocol's rule" if event.made_by == "rule" else (event.name or event.made_by).replace("_", " ")
        for event in book.of(Decision)
        if event.id in decisions
    ]
    return render(
        "decision-record.md.j2",
        view=view,
        at=head,
        status=status,
        makers=dict.fromkeys(makers),
        # Every role that gave a reply was consulted; the controller's own events carry no call.
        consulted=dict.fromkeys(event.by for event in book.events if event.call is not None),
        decisions=decisions,
        options=options_of(book),
    )


def study_markdown(report: StudyReport) -> str:
    """Return the page of `moot study report --md`."""
    return render(
        "study.md.j2",
        report=report,
        answer=answer_of(report),
        planned=planned_text(report),
        so_far=progress_text(report),
        sections=sections_of(report),
    )


def review_markdown(review: ChangeReview) -> str:
    """Return a review as a comment: the outcome, upheld findings, and the others in a collapsed section."""
    return render("review.md.j2", review=review, counts=counts_text(review), where=where)


def render(template: str, **values: Any) -> str:
    """Return a template with these values, each escaped as Markdown text. Raises `LookupError` for a missing one."""
    try:
        return _environment().get_template(template).render(values, **LIMITS)
    except UndefinedError as error:
        # What a template does not find on a ledger that breaks the rules is missed as in a function.
        raise LookupError(str(error)) from error


@cache
def _environment() -> Environment:
    jinja = Environment(
        loader=PackageLoader("moot", "templates"),
        # With autoescape, Jinja marks what macros and filters return as done, and `finalize` escapes the rest.
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters.update(_WORDS | {name: _markdown(function) for name, function in _MARKDOWN.items()})
    jinja.globals.update(_KNOWN)
    return jinja


def _escaped(value: Any) -> Markup:
    """Return a value as escaped text; what is Markdown already stays as it is."""
    if isinstance(value, Markup):
        return value
    return Markup("" if value is None else markdown.inline(str(value)))


def _markdown(function: Any) -> Any:
    """Return `function` so that its text, or its lines, count as Markdown already."""

    def written(*arguments: Any) -> Markup:
        text = function(*arguments)
        return Markup(text if isinstance(text, str) else "\n".join(text))

    return written


def _yaml(names: Iterable[str]) -> str:
    """Return names as a JSON string: valid YAML that no colon or quote in a name can break."""
    return orjson.dumps(", ".join(names) or "nobody").decode()


def _point(point: Point) -> str:
    """Return a point of the outcome with its evidence level, its quote and its references."""
    class_ = f" [{shown_as(point.class_, point.times)}]" if point.class_ else ""
    quote = f" “{point.quote}”" if point.quote else ""
    return f"{point.text}{class_}{quote}" + (f" ({', '.join(point.refs)})" if point.refs else "")


def _row(cells: Iterable[Any]) -> Markup:
    """Return a row of a table."""
    return Markup(f"| {' | '.join(_escaped(cell) or ' ' for cell in cells)} |")


def _heads(titles: Sequence[str]) -> Markup:
    """Return the head of a table with the line below it."""
    return Markup(f"{_row(titles)}\n|{'|'.join(' --- ' for _ in titles)}|")


def _mark(table: str, value: str) -> str:
    """Return the mark of a value: its shape and its word."""
    return marks.mark_of(getattr(marks, table), value).plain


def _seen(answer: str | None) -> str:
    """Return the mark of what a role answered about a failure mode; nothing without an answer."""
    return _mark("SEEN", answer) if answer else ""


def _held(signal: SignalReading) -> str:
    """Return whether a signal speaks for stopping, and what was measured."""
    return f"{'✓' if signal.satisfied else '✗'} {signal.value or ''}"


def _cut(text: str | None) -> str:
    """Return a text at the length of a table's cell."""
    return shortened(text or "", TEXT)


def _box(ticked: bool, mode: str) -> Markup:
    """Return a failure mode as an entry of a checklist."""
    return Markup(f"{'[x]' if ticked else '[ ]'} {markdown.inline(words.failure(mode))}")


def _checks(checks: Mapping[int, CheckView]) -> str:
    """Return the marks of the four checks of a round."""
    # A dot marks a check that the round did not have, so that columns line up.
    return " ".join(
        marks.mark_of(marks.RESULTS, checks[n].result).shape if n in checks else "·" for n in (1, 2, 3, 4)
    )


def _failures(view: RunView) -> tuple[AlarmReading, ...] | None:
    """Return the failure modes as they read now; None where the run's own thresholds are lost or redacted."""
    try:
        parameters = parameters_of(view.book.state, view.book.blobs)
    # Another version's defaults would judge the run, so without its thresholds nothing is judged.
    except BlobMissing:
        return None
    return tuple(judge(view.book.state, parameters).alarms)


def _concerns(view: RunView) -> list[ConcernView]:
    """Return concerns, tensions and questions outside the annexes: open ones first, those for a person, the newest."""
    book = view.book
    elsewhere = {*severities(book)}
    # The annex of a debate lists its open questions already.
    if book.of(Argument):
        elsewhere |= {question.id for question in open_questions(book)}
    return sorted(
        (concern for concern in view.story.concerns if concern.id not in elsewhere),
        key=lambda concern: (concern.resolved_by is not None, not concern.for_human, -concern.round),
    )


def _other_decisions(story: Story) -> list[DecisionView]:
    """Return the decisions outside the outcome that fit: overrides and overturned ones before round decisions."""
    # False sorts first: overrides and overturned decisions come before ordinary round decisions.
    ordered = sorted(
        story.other_decisions, key=lambda decision: decision.in_force and decision.type == "round"
    )
    chosen = {decision.seq for decision in ordered[: LIMITS["OTHERS"]]}
    return [decision for decision in story.other_decisions if decision.seq in chosen]


def _is_whole(decision: DecisionView, answer: str) -> bool:
    """Return whether the outcome has the words of a decision uncut, so that they need not be repeated."""
    return one_line(decision.text) == answer and WHOLE[0] <= word_count(answer) <= WHOLE[1]


def _grounds(decision: DecisionView) -> str:
    """Return the first grounds of a decision, each with its standing, and after them what it cites otherwise."""
    # A challenge that was rejected is cited, too, and the decision does not rest on it.
    return ", ".join(
        f"{'' if ground.relation in SUPPORT else ground.relation + ' '}{ground.id} {ground_standing(ground)}"
        for ground in sorted(decision.rests_on, key=lambda ground: ground.relation not in SUPPORT)[
            : LIMITS["GROUNDS"]
        ]
    )


def _fitting(paragraphs: Sequence[str]) -> tuple[list[str], int]:
    """Return the paragraphs of a final text that fit, and how many words are left."""
    kept: list[str] = []
    counts = [word_count(text) for text in paragraphs]
    # Final texts run to thousands of words, and the report has a limit of 250 lines.
    for text in paragraphs[:ANNEX_LINES]:
        if sum(counts[: len(kept) + 1]) > ANNEX_WORDS:
            break
        kept.append(text)
    return kept, sum(counts[len(kept) :])


def _cited(story: Story) -> list[ClaimView]:
    """Return the claims to show: all where they are few, else those under the decision, which readers look for."""
    if len(story.claims) <= LIMITS["SHOWN"]:
        return list(story.claims)
    cited = {ground.id for decision in story.outcome for ground in decision.rests_on}
    return [claim for claim in story.claims if claim.id in cited][: LIMITS["SHOWN"]]


def _lifecycle_head(claims: Iterable[ClaimView]) -> str:
    """Return the head of the lifecycle column, with the readers where the ledger keeps no evidence levels."""
    readers = dict.fromkeys(how for claim in claims for how in claim.tested if how.startswith("read by "))
    return f"lifecycle ({', '.join(readers)})" if readers else "lifecycle"


def _claim_counts(story: Story) -> str:
    """Return how many claims have each status."""
    counts = Counter[str](claim.status for claim in story.claims)
    return ", ".join(
        f"{mark.plain} {counts[status]}" for status, mark in marks.STATUSES.items() if counts[status]
    )


def _never_stressed(story: Story) -> list[str]:
    """Return the roles whose planned absence the run never reached."""
    last = story.rounds[-1].n if story.rounds else 0
    return [row.absent for row in story.opening.plan if row.absent and row.round > last]


def _retrospective(story: Story) -> Iterator[tuple[str, list[str]]]:
    """Yield each failure mode that the roles were asked about, with their answers; all where none was."""
    modes = [mode for mode in words.FAILURE_MODES if any(mode in review.modes for review in story.reviews)]
    for mode in modes or words.FAILURE_MODES:
        yield mode, [review.modes.get(mode, "") for review in story.reviews]


def _figure(value: float, form: str) -> str:
    """Return a figure in a form; one that no seat reported is unknown and never 0."""
    return form.format(value) if value else "unknown"


def _has_figures(seats: Iterable[SeatView]) -> bool:
    """Return whether any seat reported tokens or time."""
    return any(filling.tokens_in or filling.latency_ms for seat in seats for filling in seat.fillings)


def _texts(experiment: ExperimentShown) -> Iterator[tuple[str, list[str]]]:
    """Yield the programs, inputs and first output of an experiment: a name and the lines."""
    for file in (*experiment.files, *experiment.inputs):
        yield file.name, _visible_lines("(its blob is not here)" if file.text is None else file.text)
    if (execution := output_of(experiment)) is not None:
        text = execution.stdout or execution.stderr or "(nothing)"
        yield f"wrote, {execution.ended}", _visible_lines(text)


def _visible_lines(text: str) -> list[str]:
    """Return the lines of a text with its control characters made visible."""
    # Escape first: the lines that are counted and cut must be those that are shown.
    return visible(text.rstrip("\n")).split("\n")


def _block_lines(experiments: Sequence[ExperimentShown]) -> int:
    """Return the lines of one block: a fixed number is shared, so that many experiments do not flood the report."""
    blocks = sum(len(each.files) + len(each.inputs) + bool(each.runs) for each in experiments)
    return max(REPORT_LEAST, min(REPORT_BLOCK, REPORT_LINES // max(1, blocks)))


def _places(events: Iterable[Event]) -> Iterator[list[Event]]:
    """Yield the events of each round and phase."""
    for _, group in groupby(events, key=lambda event: (event.round, event.phase)):
        yield list(group)


def _contexts(seat: SeatView) -> str:
    """Return in how many conversations a role answered."""
    return "; ".join(
        contexts_text(filling, f"replies {filling.calls}, contexts ") for filling in seat.fillings
    )


_MARKDOWN: Final[dict[str, Any]] = {
    "block": markdown.block,
    "code": markdown.code,
    "entry": entry,
    "listed": markdown.listed,
    "outcome": outcome_markdown,
    "paragraphs": markdown.paragraphs,
    "quoted": markdown.quoted,
    "yaml": _yaml,
}
"""Filters whose result is Markdown already."""
_WORDS: Final[dict[str, Any]] = {
    "alarms_first": alarms_first,
    "answered_by": answered_by,
    "became": became_line,
    "block_lines": _block_lines,
    "came_to": verdict_sentence,
    "checks": _checks,
    "cited": _cited,
    "claim_counts": _claim_counts,
    "closing_lines": closing_lines,
    "contexts": _contexts,
    "counted": counted,
    "crux_line": crux_line,
    "cut": _cut,
    "dollars_cell": dollars_cell,
    "figure": _figure,
    "filled": filled,
    "gates_held": gates_held,
    "fitting": _fitting,
    "grounds": _grounds,
    "has_figures": _has_figures,
    "held": _held,
    "is_whole": _is_whole,
    "lifecycle": lifecycle,
    "lifecycle_head": _lifecycle_head,
    "never_stressed": _never_stressed,
    "one_family": one_family_warning,
    "other_decisions": _other_decisions,
    "percent": percent,
    "point": _point,
    "roles_spread": roles_spread,
    "unrecorded": unrecorded_text,
    "places": _places,
    "retrospective": _retrospective,
    "round_name": "R{}".format,
    "seen": _seen,
    "shell": shlex.join,
    "shortened": shortened,
    "spent": spent,
    "texts": _texts,
    "why_it_stopped": why_it_stopped,
    "without_rows": without_rows,
}
"""Filters whose result is text, which is escaped where it is printed."""
_KNOWN: Final[dict[str, Any]] = {
    "DEGRADED": marks.DEGRADED,
    "FROM_ANSWERS": FROM_ANSWERS,
    "HEADS": HEADS,
    "NOT_MEASURABLE": NOT_MEASURABLE,
    "NO_PARAMETERS": Markup(words.NO_PARAMETERS),
    "READINGS": READINGS,
    "box": _box,
    "failure": words.failure,
    "head": _heads,
    "mark": _mark,
    "row": _row,
}
