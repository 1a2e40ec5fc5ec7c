"""How values become HTML: one environment for the viewer and the report, in which nothing gets out unescaped.

Every value that a template prints passes `visible`, so that nothing in it hides, moves or turns a line around, and then
autoescape. Only what this package itself has made is `Markup`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from ledger.plain_text import first_sentence, isolated, one_line, shortened, visible
from moot.view import marks, words
from moot.view.aftermath import became_line
from moot.view.evidence import meaning, status_mark
from moot.view.experiments import came_to_told, output_of
from moot.view.marks import Mark, mark_of
from moot.view.outcome_text import STATUSES
from moot.view.report_tables import lifecycle
from moot.view.scene import clock_time, spent
from moot.view.seats import contexts_told, dollars, dollars_cell, filled_by
from moot.view.stop_checks import alarm_told
from moot.view.stopping import alarms_first, gate_told
from moot.web.links import Links

ID: Final = re.compile(r"(?<![\w#-])([A-Z]{1,2}-\d+(?:-[A-Za-z0-9_]+)*(?:#[A-Za-z0-9-]+)?)")
"""What may be an id or a reference in the middle of a sentence; it becomes a link when it names something."""
CODE: Final = re.compile(r"`([^`\n]{1,120})`")
LONG_ID: Final = 24
LONG: Final = 900
"""Characters from which on a text is folded."""
TABS: Final = (
    ("", "Overview"),
    ("live", "Live"),
    ("rounds", "Rounds"),
    ("claims", "Claims"),
    ("decisions", "Decisions"),
    ("signals", "Signals"),
    ("seats", "Seats & cost"),
    ("log", "Log"),
    ("check", "Rules"),
    ("report", "Report"),
)
"""The pages of a run: the end of the address, the word."""
T = TypeVar("T")
TABLES: Final = {
    "results": marks.RESULTS,
    "statuses": marks.STATUSES,
    "drift": marks.DRIFT,
    "advice": marks.ADVICE,
    "alarms": marks.ALARMS,
    "seen": marks.SEEN,
}


@cache
def environment() -> Environment:
    """The environment, made once."""
    made = Environment(
        loader=PackageLoader("moot.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "linked": linked,
        "one_line": one_line,
        "first_sentence": first_sentence,
        "shortened": shortened,
        "came_to": came_to_told,
        "became": became_line,
        "output": output_of,
        "lifecycle": lifecycle,
        "clock": clock_time,
        "spent": spent,
        "filled_by": filled_by,
        "alarms_first": alarms_first,
        "alarm_told": alarm_told,
        "gate_told": gate_told,
        "contexts_told": contexts_told,
        "dollars": dollars,
        "dollars_cell": dollars_cell,
        "instant": instant,
        "said": said,
        "pairs": pairs,
        "points": points,
        "status_words": status_words,
    }
    known: dict[str, Any] = {
        "id_class": id_class,
        "mark": mark,
        "the_mark": the_mark,
        "meaning": meaning,
        "status_mark": status_mark,
        "words": words,
        "LONG": LONG,
        "TABS": TABS,
        "STATUSES": STATUSES,
    }
    made.filters.update(filters)
    made.globals.update(known)
    return made


def compiled() -> None:
    """Compile every template, and load what pages look things up in: once, before the first visitor."""
    import_module("detectors.signals")
    for name in environment().list_templates():
        environment().get_template(name)


def render(template: str, **values: Any) -> str:
    """A page."""
    return environment().get_template(template).render(values)


def parts(links: Links) -> Any:
    """The macros of `parts.html`, each a part of a page, with the addresses of a run."""
    return environment().get_template("parts.html").make_module({"links": links})


def paged(rows: Sequence[T], page: int, size: int) -> tuple[int, int, Sequence[T]]:
    """The page that is there, how many there are, and its rows."""
    pages = max(1, -(-len(rows) // size))
    page = min(max(1, page), pages)
    return page, pages, rows[(page - 1) * size : page * size]


def _finalized(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, Markup):
        return value
    return isolated(visible(value if isinstance(value, str) else str(value)))


def mark(table: str, value: str) -> Markup:
    """Shape and word of a value, in its tone."""
    return the_mark(mark_of(TABLES[table], value))


def the_mark(one: Mark) -> Markup:
    """A mark: its shape is for the eye, its word for everybody."""
    shape = escape(visible(one.shape))
    return Markup('<span class="mark {}"><span aria-hidden="true">{}</span>&nbsp;{}</span>').format(
        one.tone, shape, visible(one.word)
    )


def instant(at: str) -> Markup:
    """`2026-11-22 04:31` as a time element."""
    return Markup('<time datetime="{}">{} {}</time>').format(
        visible(at), visible(at[:10]), visible(at[11:16])
    )


def said(value: object) -> str:
    """A word of the ledger as people write it: `tested_unclear` is two words."""
    return str(value).replace("_", " ")


def pairs(values: Iterable[str]) -> list[tuple[str, str]]:
    """Values to choose from, each its own word."""
    return [(one, one) for one in values]


def points(value: float | None) -> str:
    """Points of 100 without needless digits: `61.25`, `70`; `–` where there are none."""
    return "–" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def status_words(values: Iterable[str]) -> list[tuple[str, str]]:
    """Statuses to choose from, each with its word, as chips show it."""
    return [(one, STATUSES.get(one, said(one))) for one in values]


@pass_context
def linked(context: Context, text: str) -> Markup:
    """A text with every id in it that names something as a link."""
    links: Links = context["links"]
    return Markup("").join(_pieces(isolated(visible(text)), links))


def _pieces(text: str, links: Links) -> Iterator[Markup]:
    end = 0
    for found in ID.finditer(text):
        address = links.ref(found[1]) if not found[1].startswith("@") else None
        if address is None and len(found[1]) > LONG_ID:
            continue
        yield _worded(text[end : found.start()])
        end = found.end()
        if address is None:  # an option, or an id of another run: no link, and no line ends in it
            yield Markup('<span class="whole">{}</span>').format(found[1])
            continue
        yield Markup('<a class="{}" href="{}">{}</a>').format(id_class(found[1]), address, found[1])
    yield _worded(text[end:])


def _worded(text: str) -> Markup:
    """Words as they stand; what is between backticks is code."""
    escaped = escape(text)
    return Markup(CODE.sub(r"<code>\1</code>", str(escaped))) if "`" in text else escaped


def id_class(identity: str) -> str:
    """An id stays in one line, unless no line may hold it: as it is shown, and with no letters of unknown width."""
    shown = visible(identity)
    return "id" if shown.isascii() and len(shown) <= LONG_ID else "id long"
