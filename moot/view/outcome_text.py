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
    "decide_with_tripwire": "DECIDE, with a tripwire: see what would change it",
    "run_this_first": "RUN THIS FIRST: reading could not settle what it rests on",
    "your_weighing": "YOUR WEIGHING: the goals or the members pull apart",
    "ill_posed": "ILL-POSED: the question as put has no answer",
    "stopped": "STOPPED before it was finished",
    "running": "RUNNING: nothing is decided for good",
    "waiting": "WAITING for a person",
    "nobody_answered": "NOBODY ANSWERED what decides",
}
_INDENT: Final = 12


class _Cut(NamedTuple):
    """How many words an answer and another text may have."""

    answer: int
    text: int


_CUTS: Final = (
    _Cut(130, 40), _Cut(115, 24), _Cut(105, 18), _Cut(95, 14), _Cut(90, 11), _Cut(80, 9), _Cut(70, 8), _Cut(60, 8),
    _Cut(50, 7), _Cut(40, 6), _Cut(30, 5),
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
        told = sum(len(text.split()) for label, text in rows if label not in ("trust", "looked at"))
        if told <= WORDS and (most_lines is None or len(_laid(outcome, rows, WIDTH)) <= most_lines):
            break
    return rows


def _laid(outcome: Outcome, rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    question = textwrap.wrap(" ".join(outcome.question.split()), width)
    if len(question) > QUESTION_LINES:
        rest = textwrap.shorten(" ".join(question[QUESTION_LINES - 1 :]), width - 22, placeholder="")
        question = [*question[: QUESTION_LINES - 1], f"{rest} … (moot log RUN @0)"]
    lines = [*question, STATUSES[outcome.status]]
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
    yield "answer", _cut(outcome.answer, cut.answer, f"moot decisions {run}")
    yield "how sure", outcome.how_sure
    yield from (("do now", _told(one, run, cut.text)) for one in outcome.do_now)
    yield from (("why", _told(one, run, cut.text)) for one in outcome.why)
    yield from (("changes it", _told(one, run, cut.text)) for one in outcome.changes_our_mind)
    yield from (("required", _told(one, run, cut.text)) for one in outcome.requirements)
    if outcome.objection is not None:
        yield "against it", _cut(outcome.objection, cut.text + 8, f"moot decisions {run}")
    for one in outcome.dissent:
        yield "dissent", f"{one.role}: {_cut(one.text, cut.text, f'moot show {one.ref}')}"
    yield from _asked(outcome, run, cut.text)
    yield from (("not settled", _told(one, run, cut.text)) for one in outcome.not_settled)
    yield from (("assumed", _told(one, run, cut.text)) for one in outcome.assumed)
    yield "trust", outcome.trust
    yield "looked at", outcome.looked_at


def _asked(outcome: Outcome, run: str, most: int) -> Iterator[tuple[str, str]]:
    """Questions to a person with their ids, and once how they are answered."""
    for one in outcome.needs_you:
        named = one.ids if len(one.ids) <= 3 else [*one.ids[:3], "…"]
        where = "" if one.command.startswith("moot answer") else f": {one.command}"
        yield "needs you", f"{_cut(one.text, most, '')} ({', '.join(named)}){where}"
    if any(one.command.startswith("moot answer") for one in outcome.needs_you):
        yield "needs you", f"to answer one: moot answer {run} ID 'TEXT'"


def _told(point: Point, run: str, most: int) -> str:
    """A point with its class, its own quote where there is room, and where the rest is."""
    where = next((ref for ref in point.refs if not ref.startswith("@")), point.refs[0] if point.refs else "")
    text = _cut(point.text, most, f"moot show {where}" if where else f"moot decisions {run}")
    class_ = f" [{words.CLASSES[point.class_]}]" if point.class_ else ""
    quote = f" “{_cut(point.quote, max(8, most // 2), '')}”" if point.quote and most > 11 else ""
    shown = "" if not where or where in text else f" ({where})"
    return f"{text}{class_}{quote}{shown}"


def _cut(text: str, most: int, where: str) -> str:
    """At most so many words; what is cut says where the rest is."""
    parts = text.split()
    if len(parts) <= most:
        return " ".join(parts)
    rest = f" … ({where})" if where else " …"
    return " ".join(parts[:most]).rstrip(" ,;:–-") + rest


def outcome_markdown(outcome: Outcome, run: str = "RUN") -> Iterator[str]:
    """The block in Markdown, the same rows under the same labels."""
    rows = _fitting(outcome, run, None)
    yield f"**{inline(STATUSES[outcome.status])}**"
    yield ""
    before = ""
    for label, text in rows:
        if label in ("answer", "how sure", "against it", "trust", "looked at"):
            yield from (("",) if before not in ("", label) else ())
            yield f"**{label.capitalize()}.** {inline(text)}"
        else:
            if label != before:
                yield ""
                yield f"**{label.capitalize()}**"
                yield ""
            yield f"- {inline(text)}"
        before = label
