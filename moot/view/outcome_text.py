"""The outcome block for people: lines for a terminal of 60 to 200 columns, and Markdown.

The block has at most 40 lines at 100 columns, and 350 words from the answer to the assumptions. A long text is cut
at a word and names the place of the rest. A question to a person is shown whole.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ledger.events.ids import MENTION, kind_of
from ledger.interchange.markdown import inline
from ledger.language.words import first_words, word_count
from ledger.plain_text import counted, shortened, some
from moot.view.marks import shown_as
from moot.view.outcome import Outcome
from moot.view.outcome_status import became_line
from moot.view.questions import Asking
from moot.view.reasons import Point
from moot.view.text import WIDTH, joined
from roles.outcome_status import OutcomeStatus
from rounds.run.outcome import RunQuorum

LINES: Final = 40
WORDS: Final = 350
QUESTION_LINES: Final = 3
STATUSES: Final[dict[str, str]] = {
    OutcomeStatus.RUNNING: "RUNNING",
    OutcomeStatus.WAITING: "WAITING",
    OutcomeStatus.STOPPED: "STOPPED",
    OutcomeStatus.NOBODY_ANSWERED: "NOBODY ANSWERED",
    OutcomeStatus.ILL_POSED: "ILL-POSED",
    OutcomeStatus.RUN_THIS_FIRST: "RUN THIS FIRST",
    OutcomeStatus.YOUR_CALL: "YOUR CALL",
    OutcomeStatus.DECIDED: "DECIDED",
}
"""Status → its words on screen."""
_MEANINGS: Final[dict[str, str]] = {
    OutcomeStatus.RUNNING: "steps are still open",
    OutcomeStatus.NOBODY_ANSWERED: "the step that decides has no reply",
    OutcomeStatus.ILL_POSED: "the question has no answer as it is put",
    OutcomeStatus.RUN_THIS_FIRST: "a test that is still to be made could change the answer",
}
"""Status → its meaning where nothing more specific is known."""
STATUS_HELP: Final[dict[str, str]] = {
    **_MEANINGS,
    OutcomeStatus.NOBODY_ANSWERED: "no reply decides: that step was lost, or the run ended before it",
    OutcomeStatus.WAITING: "a person's answer, or a program that runs here, is awaited",
    OutcomeStatus.STOPPED: "a budget, a person or a signal stopped the run; it can go on",
    OutcomeStatus.YOUR_CALL: "the answers are too close, or split: a person weighs",
    OutcomeStatus.DECIDED: "the run has an answer",
}
"""Status → its explanation in `moot explain`."""
_GO_ON: Final[dict[str, str]] = {
    # A fork asks a round again as a whole, although only one reply of it may be lost.
    OutcomeStatus.NOBODY_ANSWERED: " (asks all of that round again)",
    OutcomeStatus.YOUR_CALL: " (your decision in place of the run's)",
}
"""Status → what the command to go on does."""
ROWS: Final[dict[str, str]] = {
    "answer": "What the run decided, or what it says so far.",
    "became": "What a person said later of the decision: whether it held.",
    "how sure": "The confidence that was stated or computed, and what it rests on.",
    "depends on": "The roles without which the answer or status would be another, and the tests that would turn it.",
    "go on": "The command that resumes a stopped run, asks again what was lost, or puts your decision first.",
    "do now": "What to do next: tests left to make, and steps of the decision.",
    "why": "The strongest reasons, each with how it was tested.",
    "revisit if": "What would be a reason to open the decision again, and the terms that voters name.",
    "required": "What has to be met for the decision to hold.",
    "conceded": "What was conceded against the decision, its side or its text; without one, all of it.",
    "against it": "The strongest thing said against the decision, and what became of it.",
    "dissent": "Who disagrees with the decision.",
    "needs you": "What a person has to answer, with the command.",
    "not settled": "Questions and claims that the run leaves open.",
    "assumed": "What the plan takes for granted.",
    "said before": "What a person said of a decision that was overruled since.",
    "trust": "Reasons to trust the answer, or not to: who answered, what was lost, what was waived.",
    "looked at": "How much was done: rounds, replies, cost and tests, and why the run ended.",
    "in full": "The command that prints what ends in … whole.",
}
"""Label of a row → its meaning."""
TAIL: Final = ("said before", "trust", "looked at", "in full")
"""Labels after the words that are counted."""
DISSENT: Final = 3
"""Maximum number of dissenters listed; the others are counted."""
PLANS: Final = 3
"""Maximum number of decisions named for points that are not listed."""
QUESTION: Final = 400
"""Maximum number of characters of a question to a person, who has to read all of it to answer."""
ANSWER: Final = "answer"
ASKED: Final = "needs you"
_TO_SHOW: Final = re.compile(rf"…|\b{MENTION}")
"""What the last row prints whole: a text that is cut, or an id."""
INDENT: Final = 12
"""Columns for the labels."""


class _Cut(NamedTuple):
    """Limits: words of an answer, a reason and another text; the numbers of reasons, points and questions listed."""

    answer: int
    reason: int
    text: int
    reasons: int
    points: int
    questions: int


# Each step gives up a little more. A whole sentence says more than the beginnings of three, so fewer texts are listed
# before any is cut; answer and reasons keep their words the longest.
_CUTS: Final = (
    _Cut(130, 40, 40, 3, 3, 5), _Cut(130, 40, 40, 3, 2, 3), _Cut(120, 40, 40, 3, 1, 2), _Cut(120, 40, 40, 2, 1, 1),
    _Cut(120, 34, 34, 2, 1, 1),
    *(_Cut(*words, 1, 1, 1) for words in (
        (120, 40, 40), (120, 34, 34), (110, 30, 26), (90, 26, 22), (80, 20, 14), (65, 15, 11), (40, 8, 6), (30, 6, 5),
    )),
)  # fmt: skip
"""Cuts in the order in which they are tried: fewer points before shorter ones."""


def status_clause(outcome: Outcome) -> str:
    """Return the status in words, and why in a clause: `YOUR CALL: the votes are split`."""
    why = outcome.status_why or _MEANINGS.get(outcome.status, "")
    return f"{STATUSES[outcome.status]}: {why}" if why else STATUSES[outcome.status]


def outcome_text(outcome: Outcome, run: str, width: int = WIDTH) -> str:
    """Return the block for a terminal of `width` columns; `run` is how commands name the run."""
    return joined(outcome_lines(outcome, run, width))


def outcome_first(outcome: Outcome, quorum: RunQuorum, run: str, width: int) -> str:
    """Return the block as a verb's first output, preceded only by the notice of lost replies (FORMAT 13)."""
    # An intact quorum is part of the trust line, whereas lost replies qualify every line below.
    lost = quorum.kind in ("degraded", "unanswered")
    return joined([*([quorum.headline] if lost else ()), *outcome_lines(outcome, run, width), ""])


def outcome_lines(outcome: Outcome, run: str = "RUN", width: int = WIDTH) -> list[str]:
    """Return the lines of the block, cut so that it fits at 100 columns."""
    # Below 60 columns labels leave no room; above 200, lines become unreadable.
    width = min(max(width, 60), 200)
    return _laid(outcome, _fitting(outcome, run, LINES), width)


def _fitting(outcome: Outcome, run: str, most_lines: int | None) -> list[tuple[str, str]]:
    """Return the rows under the first cut that fits, else those under the last cut."""
    rows: list[tuple[str, str]] = []
    # Fit at 100 columns whatever the terminal, so that every reader sees the same text.
    for cut in _CUTS:
        rows = list(_rows(outcome, shlex.quote(run), cut))
        counted_words = sum(word_count(text) for label, text in rows if label not in TAIL)
        if counted_words <= WORDS and (most_lines is None or len(_laid(outcome, rows, WIDTH)) <= most_lines):
            break
    *others, whole = rows
    return [*others, whole] if any(_TO_SHOW.search(text) for _, text in others) else others


def _laid(outcome: Outcome, rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return the lines of the block: question, status, and one label per kind of row."""
    question = textwrap.wrap(" ".join(outcome.question.split()), width)
    if len(question) > QUESTION_LINES:
        # A question may run to pages, and the opening event has all of it.
        rest = textwrap.shorten(" ".join(question[QUESTION_LINES - 1 :]), width - 22, placeholder="")
        question = [*question[: QUESTION_LINES - 1], f"{rest} … (moot log RUN @0)"]
    lines = [*question, *textwrap.wrap(status_clause(outcome), width)]
    before = ""
    for label, text in rows:
        margin = f"{label if label != before else '':<{INDENT}}"
        lines += textwrap.wrap(
            text, width, initial_indent=margin, subsequent_indent=" " * INDENT, break_long_words=False,
            # Ids and commands contain hyphens and must survive copy and paste.
            break_on_hyphens=False,
        )  # fmt: skip
        before = label
    return lines


def _rows(outcome: Outcome, run: str, cut: _Cut) -> Iterator[tuple[str, str]]:
    """Yield label and text of every row."""
    answer = _cut(outcome.answer, cut.answer)
    # A running deliberation has no final decision yet, so `--final` would print nothing.
    whole = f"moot decisions {run}" + ("" if outcome.status in ("running", "waiting") else " --final")
    yield ANSWER, f"{answer} ({whole})" if answer.endswith("…") else answer
    yield from (("became", became_line(became)) for became in outcome.became if became.overruled_by is None)
    yield "how sure", outcome.how_sure
    if outcome.hangs_on:
        yield "depends on", outcome.hangs_on
    if outcome.go_on:
        yield "go on", f"{outcome.go_on}{_GO_ON.get(outcome.status, '')}"
    yield from _points("do now", outcome.do_now, cut, run)
    yield from _points("why", outcome.why, cut._replace(text=cut.reason, points=cut.reasons), run)
    yield from _points("revisit if", outcome.changes_our_mind, cut, run)
    yield from _points("required", outcome.requirements, cut, run)
    yield from _points("conceded", outcome.conceded, cut, run)
    objection = outcome.objection
    # An objection that is also a dissent would be printed twice.
    if objection and objection.ref not in {dissenter.ref for dissenter in outcome.dissent}:
        text = _cut(f"{objection.role}: {objection.text}", cut.text + 8)
        # Five of the others are named, for the first plan and for the rest.
        more = f": moot status {run} --json" * bool(objection.others[5:] or objection.also[5:])
        yield "against it", f"{text}{objection.judged} ({objection.places}{more})"
    for dissenter in outcome.dissent[:DISSENT]:
        text = _cut(f"{dissenter.role}: {dissenter.text}", cut.text + 8)
        yield "dissent", f"{text}{dissenter.judged} ({dissenter.ref})"
    if len(outcome.dissent) > DISSENT:
        yield "dissent", f"and {len(outcome.dissent) - DISSENT} more: moot status {run} --json"
    yield from _requests(outcome, run, cut)
    yield from _points("not settled", outcome.not_settled, cut, run)
    yield from _points("assumed", outcome.assumed, cut, run)
    yield from (
        ("said before", became_line(became)) for became in outcome.became if became.overruled_by is not None
    )
    yield "trust", outcome.trust
    yield "looked at", outcome.looked_at
    yield "in full", f"moot show {run} ID: what ends in …, whole; moot why in its place: what it rests on"


def _points(label: str, points: Sequence[Point], cut: _Cut, run: str) -> Iterator[tuple[str, str]]:
    """Yield as many points as fit; the last one says how many are left and where to find them."""
    listed, hidden = points[: cut.points], points[cut.points :]
    refs = [*dict.fromkeys(ref for point in hidden for ref in point.refs)]
    kinds = {*map(kind_of, refs)}
    where = f": moot status {run} --json"
    # Decisions that hold the hidden points are named, while a memo only cites some for its sentences.
    if kinds == {"decision"} and listed[-1].at is None:
        # One decision may hold what two rows leave out.
        where = f" “{label}”: {some(refs, PLANS)}"
    # Assumptions of a plan are events of their own; those of a memo are its sentences.
    elif label == "assumed" and kinds == {"assumption"}:
        where = f": moot log {run} --kind assumption"
    more = f" (and {len(hidden)} more{where})" if hidden else ""
    yield from (
        (label, _point_text(point, cut.text) + (more if point is listed[-1] else "")) for point in listed
    )


def _requests(outcome: Outcome, run: str, cut: _Cut) -> Iterator[tuple[str, str]]:
    """Yield questions to a person with their ids, the newest first, and the command that answers them."""
    # Only answers share a command; overrides and experiments each bring their own.
    listed = [request for request in outcome.needs_you if request.asks == "answer"]
    for request in listed[: cut.questions]:
        yield ASKED, _question(request, run)
    for request in outcome.needs_you:
        if request.asks == "override":
            yield ASKED, f"{request.text} {request.command}"
        if request.asks == "run":
            yield ASKED, request.text
            yield ASKED, f"to run: {request.command}"
    # One answer settles every id of a merged question, so it counts once.
    more = len(listed[cut.questions :]) + sum(
        len(request.ids) for request in outcome.needs_you if request.asks == "read"
    )
    older = f"{counted(more, 'more question')}: moot log {run} --kind concern; " if listed and more else ""
    if listed:
        # An override is named first only where no answer settles the decision.
        note = ", which the rule does not count: " if "override" in (outcome.go_on or "") else ": "
        yield ASKED, f"{older}to answer{note}{listed[0].command}"


def _question(request: Asking, run: str) -> str:
    """Return a question whole, with its ids; one that is very long ends with the command that prints it."""
    text, ids = " ".join(request.text.split()), some(request.ids, 3)
    # A question that breaks off among its options cannot be answered, so fewer questions are listed instead.
    whole = "" if len(text) <= QUESTION else f"; whole: moot show {run} {request.ids[0]}"
    return f"{shortened(text, QUESTION)} ({ids}{whole})"


def _point_text(point: Point, most: int) -> str:
    """Return a point with its evidence level, its quote where there is room, and its reference."""
    where = next((ref for ref in point.refs if not ref.startswith("@")), "".join(point.refs[:1]))
    # Several members may state the same condition.
    if {kind_of(ref) for ref in point.refs} == {"decision"}:
        where = some(point.refs, PLANS)
    class_ = f" [{shown_as(point.class_, point.times)}]" if point.class_ else ""
    quote = f" “{_cut(point.quote, max(8, most // 2))}”" if point.quote and most > 15 else ""
    text = _cut(point.text, most)
    # The event in `at` has the whole text, while the references only name its evidence.
    if (text.endswith("…") or quote.endswith("…”")) and point.at is not None:
        where = f"{where}; whole: {point.at}" if where else point.at
    return f"{text}{class_}{quote}{f' ({where})' if where else ''}"


def _cut(text: str, most: int) -> str:
    """Return at most `most` words, up to the end of a sentence where possible, then …."""
    short = " ".join(text.split())
    if word_count(short) > most:
        short = first_words(short, most)
        # Chinese and Japanese sentences end without a space after the mark. A clause is cut off where no sentence ends.
        for marks in (r"[.!?;](?=\s|$)|[。！？；]", r"[,:](?=\s)|[，：、]"):
            ends = [match.end() for match in re.finditer(marks, short)]
            # Cutting at an early mark would lose more than half of the room.
            if ends and word_count(short[: ends[-1]]) > most // 2:
                short = short[: ends[-1]]
                break
        short = short.rstrip(" ,;:–-，、；：") + " …"
    return short


def outcome_markdown(outcome: Outcome, run: str = "RUN") -> Iterator[str]:
    """Yield the block in Markdown, with the same rows and labels."""
    rows = _fitting(outcome, run, None)
    yield f"**{inline(status_clause(outcome))}**"
    yield ""
    before = ""
    for label, text in rows:
        # Single texts are paragraphs, and labels with several entries become lists.
        if label in ("answer", "how sure", "depends on", "against it", *TAIL):
            yield from (("",) if before not in ("", label) else ())
            yield f"**{label.capitalize()}.** {inline(text)}"
        else:
            if label != before:
                yield from ("", f"**{label.capitalize()}**", "")
            yield f"- {inline(text)}"
        before = label
