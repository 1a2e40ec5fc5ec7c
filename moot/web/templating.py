"""Rendering of values as HTML: one environment for the viewer and the report, which escapes everything.

Every value that a template prints passes `visible`, so that no character in it hides text, moves the cursor or reverses
a line, and then autoescape. Only HTML that this package builds itself is `Markup`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined, UndefinedError, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from ledger.events.ids import MENTION
from ledger.plain_text import first_sentence, isolated, one_line, shortened, visible
from moot.run_view import RunView
from moot.view import marks, words
from moot.view.claims import lifecycle
from moot.view.evidence import meaning, status_mark
from moot.view.experiments import came_to_told, output_of
from moot.view.forecasts import answer_command, closing_lines, crux_line, percent, roles_spread, status_line
from moot.view.marks import Mark, mark_of
from moot.view.outcome_status import became_line
from moot.view.outcome_text import STATUSES
from moot.view.seats import contexts_told, dollars_cell, filled_by
from moot.view.stop_checks import alarm_told, alarms_first, gate_told
from moot.view.story import spent
from moot.web.links import Links

ID: Final = re.compile(rf"(?<![\w#-])({MENTION}(?:#[A-Za-z0-9-]+)?)")
"""Pattern of ids and references in a sentence; a match becomes a link when it names something."""
CODE: Final = re.compile(r"`([^`\n]{1,120})`")
LONG_ID: Final = 24
LONG: Final = 900
"""Length from which on a text is collapsed."""
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
"""Pages of a run: end of the address, title."""
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
    """Return the environment, created once."""
    jinja = Environment(
        loader=PackageLoader("moot.web", "templates"),
        autoescape=True,
        # A mistyped name in a template raises an error instead of printing an empty string.
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
        "spent": spent,
        "filled_by": filled_by,
        "alarms_first": alarms_first,
        "alarm_told": alarm_told,
        "gate_told": gate_told,
        "contexts_told": contexts_told,
        "dollars_cell": dollars_cell,
        "instant": instant,
        "said": in_words,
        "pairs": pairs,
        "percent": percent,
        "status_line": status_line,
        "crux_line": crux_line,
        "closing_lines": closing_lines,
        "roles_spread": roles_spread,
        "answer_command": command_for,
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
    jinja.filters.update(filters)
    jinja.globals.update(known)
    return jinja


def compiled() -> None:
    """Compile every template and import slow modules, once, before the first request."""
    # Loading it takes a moment that the first visitor would have to wait.
    import_module("detectors.signals")
    for name in environment().list_templates():
        environment().get_template(name)


def render(template: str, **values: Any) -> str:
    """Render a template as a page. Raises `LookupError` for a missing value."""
    try:
        return environment().get_template(template).render(values)
    except UndefinedError as error:
        # What a template does not find on a ledger that breaks the rules is missed as in a function.
        raise LookupError(str(error)) from error


def parts(links: Links | None) -> Any:
    """Return the macros of `parts.html`, each a part of a page, with the addresses of a run."""
    return environment().get_template("parts.html").make_module({"links": links})


def paged(rows: Sequence[T], page: int, size: int) -> tuple[int, int, Sequence[T]]:
    """Return the nearest existing page number, the number of pages, and the rows of that page."""
    pages = max(1, -(-len(rows) // size))
    page = min(max(1, page), pages)
    return page, pages, rows[(page - 1) * size : page * size]


def _finalized(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, Markup):
        return value
    # Right-to-left text is isolated, so that it cannot reorder the words around it.
    return isolated(visible(value if isinstance(value, str) else str(value)))


def mark(table: str, value: str) -> Markup:
    """Return shape and word of a value, in its tone."""
    return the_mark(mark_of(TABLES[table], value))


def the_mark(which: Mark) -> Markup:
    """Return a mark as HTML: a shape for sighted readers, a word for everyone."""
    shape = escape(visible(which.shape))
    return Markup('<span class="mark {}"><span aria-hidden="true">{}</span>&nbsp;{}</span>').format(
        which.tone, shape, visible(which.word)
    )


def instant(at: str) -> Markup:
    """Return `2026-11-22 04:31` as a time element."""
    return Markup('<time datetime="{}">{} {}</time>').format(
        visible(at), visible(at[:10]), visible(at[11:16])
    )


def in_words(value: object) -> str:
    """Return a word of the ledger as people write it: `tested_unclear` is two words."""
    return str(value).replace("_", " ")


def pairs(values: Iterable[str]) -> list[tuple[str, str]]:
    """Return values to choose from, each labeled by itself."""
    return [(value, value) for value in values]


def command_for(view: RunView, claim: str) -> str:
    """Return the command that hands in a person's result of a crux."""
    return answer_command(view.path.name if view.path else view.name, view.book, claim)


def status_words(values: Iterable[str]) -> list[tuple[str, str]]:
    """Return statuses to choose from, each with its label."""
    return [(status, STATUSES.get(status, in_words(status))) for status in values]


@pass_context
def linked(context: Context, text: str) -> Markup:
    """Return a text in which every id that names something is a link."""
    links: Links = context["links"]
    return Markup("").join(_pieces(isolated(visible(text)), links))


def _pieces(text: str, links: Links) -> Iterator[Markup]:
    end = 0
    for match in ID.finditer(text):
        address = links.ref(match[1]) if not match[1].startswith("@") else None
        # A long word that only looks like an id must be allowed to break, or it would widen the page.
        if address is None and len(match[1]) > LONG_ID:
            continue
        yield _worded(text[end : match.start()])
        end = match.end()
        if address is None:  # an option, or an id of another run: no link, and no line ends in it
            yield Markup('<span class="whole">{}</span>').format(match[1])
            continue
        yield Markup('<a class="{}" href="{}">{}</a>').format(id_class(match[1]), address, match[1])
    yield _worded(text[end:])


def _worded(text: str) -> Markup:
    """Return words with the parts between backticks as code."""
    # Escaped before the backticks are replaced, so that only the `code` tags are HTML.
    escaped = escape(text)
    return Markup(CODE.sub(r"<code>\1</code>", str(escaped))) if "`" in text else escaped


def id_class(identity: str) -> str:
    """Return the CSS class of an id: short ones never break across lines, long or non-ASCII ones may."""
    text = visible(identity)
    return "id" if text.isascii() and len(text) <= LONG_ID else "id long"
