"""The outcome block for people: lines for a terminal of 60 to 200 columns, and Markdown.

At most 40 lines at 100 columns, and 350 words from the answer to what is assumed: a long text is cut at a word,
and says where the rest is.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from ledger.interchange.markdown import inline
from moot.view import words
from moot.view.outcome import Outcome
from moot.view.quorum import RunQuorum, headline
from moot.view.reasons import Point
from moot.view.text import WIDTH, joined
from rounds.run.outcome import RunOutcome

NARROW, WIDE = 60, 200
LINES: Final = 40
WORDS: Final = 350
QUESTION_LINES: Final = 3
STATUSES: Final = {
    "decide": "DECIDE",
    "decide_with_tripwire": "DECIDE, with a tripwire: see what changes it, what it takes",
    "run_this_first": "RUN THIS FIRST: reading could not settle what it rests on",
    "your_weighing": "YOUR WEIGHING: the run hands this to a person",
    "ill_posed": "ILL-POSED: the question as put has no answer",
    "stopped": "STOPPED before it was finished",
    "running": "RUNNING: nothing is decided for good",
    "waiting": "WAITING for a person",
    "nobody_answered": "NOBODY ANSWERED what decides",
}
TAIL: Final = ("trust", "looked at", "in full")
"""What stands after the words that are counted."""
_INDENT: Final = 12


class _Cut(NamedTuple):
    """How many words an answer and another text may have, and how many questions are listed."""

    answer: int
    text: int
    questions: int


_CUTS: Final = (
    _Cut(130, 40, 5), _Cut(125, 24, 5), _Cut(120, 18, 5), _Cut(120, 14, 4), _Cut(120, 12, 3), _Cut(115, 10, 2),
    _Cut(110, 9, 2), _Cut(95, 8, 1), _Cut(80, 8, 1), _Cut(60, 7, 1), _Cut(40, 6, 1), _Cut(30, 5, 1),
)  # fmt: skip


def outcome_text(outcome: Outcome, run: str = "RUN", width: int = WIDTH) -> str:
    """The block for a terminal of `width` columns; `run` is how commands name the run."""
    return joined(outcome_lines(outcome, run, width))


def outcome_first(outcome: Outcome, quorum: RunOutcome | RunQuorum, run: str, width: int = WIDTH) -> str:
    """The block as the first thing that a verb says; before it only that replies were lost (FORMAT 13)."""
    lost = quorum.kind in ("degraded", "unanswered")
    return joined([*([headline(quorum)] if lost else ()), *outcome_lines(outcome, run, width), ""])


def outcome_lines(outcome: Outcome, run: str = "RUN", width: int = WIDTH) -> list[str]:
    """The lines of the block, cut so far that it fits at 100 columns."""
    width = min(max(width, NARROW), WIDE)
    return _laid(outcome, _fitting(outcome, run, LINES), width)


def _fitting(outcome: Outcome, run: str, most_lines: int | None) -> list[tuple[str, str]]:
    """The rows under the first cut with which they fit; under the last one whatever there is."""
    rows: list[tuple[str, str]] = []
    for cut in _CUTS:
        rows = list(_rows(outcome, run, cut))
        told = sum(len(text.split()) for label, text in rows if label not in TAIL)
        if told <= WORDS and (most_lines is None or len(_laid(outcome, rows, WIDTH)) <= most_lines):
            break
    return rows


def _laid(outcome: Outcome, rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    question = textwrap.wrap(" ".join(outcome.question.split()), width)
    if len(question) > QUESTION_LINES:
        rest = textwrap.shorten(" ".join(question[QUESTION_LINES - 1 :]), width - 22, placeholder="")
        question = [*question[: QUESTION_LINES - 1], f"{rest} … (moot log RUN @0)"]
    lines = [*question, *textwrap.wrap(STATUSES[outcome.status], width)]
    before = ""
    for label, text in rows:
        margin = f"{label if label != before else '':<{_INDENT}}"
        lines += textwrap.wrap(
            text, width, initial_indent=margin, subsequent_indent=" " * _INDENT, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip
        before = label
    return lines


def _rows(outcome: Outcome, run: str, cut: _Cut) -> Iterator[tuple[str, str]]:
    """Label and text of every row."""
    yield "answer", _cut(outcome.answer, cut.answer, "")
    yield "how sure", outcome.how_sure
    yield from (("do now", _told(one, cut.text)) for one in outcome.do_now)
    yield from (("why", _told(one, cut.text)) for one in outcome.why)
    yield from (("changes it", _told(one, cut.text)) for one in outcome.changes_our_mind)
    yield from (("required", _told(one, cut.text)) for one in outcome.requirements)
    if outcome.objection is not None:
        text, _, where = outcome.objection.rpartition(" (")
        yield "against it", f"{_cut(text, cut.text + 8, '')} ({where}"
    for one in outcome.dissent:
        yield "dissent", f"{one.role}: {_cut(one.text, cut.text, one.ref)}"
    yield from _asked(outcome, run, cut)
    yield from (("not settled", _told(one, cut.text)) for one in outcome.not_settled)
    yield from (("assumed", _told(one, cut.text)) for one in outcome.assumed)
    yield "trust", outcome.trust
    yield "looked at", outcome.looked_at
    yield (
        "in full",
        f"moot decisions {run} --final; what ends in … by its id: moot show {run} ID; why: moot why {run} ID",
    )


def _asked(outcome: Outcome, run: str, cut: _Cut) -> Iterator[tuple[str, str]]:
    """Questions to a person with their ids, the newest first, and once how they are answered."""
    listed = [one for one in outcome.needs_you if one.command.startswith("moot answer")]
    for one in listed[: cut.questions]:
        yield "needs you", f"{_cut(one.text, cut.text, '')} ({', '.join(one.ids[:3])})"
    for one in outcome.needs_you:
        if one not in listed and one.command.startswith("moot override"):
            yield "needs you", f"{one.text} {one.command}"
    more = sum(len(one.ids) for one in outcome.needs_you) - sum(
        len(one.ids[:3]) for one in listed[: cut.questions]
    )
    older = (
        f"{words.counted(more, 'more question')}: moot log {run} --kind concern; " if listed and more else ""
    )
    if listed:
        yield "needs you", f"{older}to answer one: moot answer {run} ID 'TEXT'"


def _told(point: Point, most: int) -> str:
    """A point with its class, its own quote where there is room, and where it stands."""
    where = next((ref for ref in point.refs if not ref.startswith("@")), point.refs[0] if point.refs else "")
    class_ = f" [{point.class_}]" if point.class_ else ""
    quote = f" “{_cut(point.quote, max(8, most // 2), '')}”" if point.quote and most > 11 else ""
    return f"{_cut(point.text, most, '')}{class_}{quote}{f' ({where})' if where else ''}"


def _cut(text: str, most: int, where: str) -> str:
    """At most so many words; what is cut ends in … and its id follows."""
    parts = text.split()
    said = " ".join(parts[:most]).rstrip(" ,;:–-") + " …" if len(parts) > most else " ".join(parts)
    return f"{said} ({where})" if where else said


def outcome_markdown(outcome: Outcome, run: str = "RUN") -> Iterator[str]:
    """The block in Markdown, the same rows under the same labels."""
    rows = _fitting(outcome, run, None)
    yield f"**{inline(STATUSES[outcome.status])}**"
    yield ""
    before = ""
    for label, text in rows:
        if label in ("answer", "how sure", "against it", *TAIL):
            yield from (("",) if before not in ("", label) else ())
            yield f"**{label.capitalize()}.** {inline(text)}"
        else:
            if label != before:
                yield ""
                yield f"**{label.capitalize()}**"
                yield ""
            yield f"- {inline(text)}"
        before = label
