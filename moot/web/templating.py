"""Rendering of values as HTML: one environment for the viewer and the report, which escapes everything.

Every value that a template prints passes `visible`, so that no character in it hides text, moves the cursor or reverses
a line, and then autoescape. Only HTML that this package builds itself is `Markup`.

Every event, section, line of a document, round and prompt has its own address. Text of a ledger never becomes part of
an address unless it names something on the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, UndefinedError, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from ledger.events.ids import MENTION, parse_reference
from ledger.plain_text import first_sentence, isolated, one_line, percent, shortened, visible
from ledger.state.book import Book
from moot.run_view import RunView
from moot.view import marks, words
from moot.view.claims import lifecycle
from moot.view.experiments import output_of, verdict_sentence
from moot.view.forecasts import closing_lines, crux_line, roles_spread
from moot.view.marks import Mark, mark_of, meaning, status_mark
from moot.view.outcome_status import became_line
from moot.view.outcome_text import STATUSES
from moot.view.seats import contexts_text, dollars_cell, filled_by, unfilled
from moot.view.stop_checks import alarm_line, alarms_first, gate_sentence, gates_held
from moot.view.story import spent
from moot.view.words import answer_command

WORDS_IN_ADDRESS: Final = 120
"""Most characters of a quote in an address, for the browser to highlight."""


@dataclass(frozen=True, slots=True)
class SiteLinks:
    """Addresses in the viewer. `known` holds the ids on the ledger."""

    base: str
    known: Collection[str]
    documents: Collection[str]

    def event(self, identity: str) -> str | None:
        """Return `/run/NAME/event/C-3-4`, or `@<seq>`; None when the event does not exist."""
        # A text that looks like an id but is not on the ledger must not become a link.
        if identity in self.known or identity.startswith("@"):
            return f"{self.base}/event/{quote(identity, safe='@')}"
        return None

    def ref(self, ref: str, words: str | None = None) -> str | None:
        """Return the address of an event's section or a document's lines; Chromium highlights `words` there."""
        reference = parse_reference(ref)
        # A text fragment: browsers without it still jump to the section.
        quoted = quote(" ".join((words or "").split())[:WORDS_IN_ADDRESS], safe="")
        mark = f":~:text={quoted}" if words else ""
        if reference.id in self.documents:
            line = f"L{reference.lines[0]}" if reference.lines else ""
            anchor = f"#{line}{mark}" if line or mark else ""
            return f"{self.base}/document/{quote(reference.id)}{anchor}"
        address = self.event(reference.id)
        if address is None:
            return None
        # The prefix keeps anchors of sections apart from the page's own ids.
        section = f"at-{quote(reference.section, safe='')}" if reference.section else ""
        return f"{address}#{section}{mark}" if section or mark else address

    def round(self, number: int) -> str | None:
        """Return an address such as `/run/NAME/rounds/3`."""
        return f"{self.base}/rounds/{number}"

    def brief(self, step: str) -> str | None:
        """Return an address such as `/run/NAME/brief/r3.D.critic`."""
        return f"{self.base}/brief/{quote(step)}"

    def page(self, name: str, **query: object) -> str | None:
        """Return an address such as `/run/NAME/claims?status=pending`."""
        path = f"{self.base}/{name}" if name else self.base
        return f"{path}?{urlencode(query)}" if query else path


def links_of(name: str, book: Book) -> SiteLinks:
    """Return the addresses within a run."""
    documents = frozenset(document.id for document in book.state.opening.context)
    return SiteLinks(address_of(name), book.by_id, documents)


def address_of(name: str) -> str:
    """Return `/run/NAME`."""
    # Slashes are quoted too: a directory's name must stay one part of the path.
    return f"/run/{quote(name, safe='')}"


@dataclass(frozen=True, slots=True)
class ReportLinks:
    """Addresses inside one document. `anchors` maps an id or reference in it to its anchor."""

    anchors: Mapping[str, str]

    def event(self, identity: str) -> str | None:
        """Return an anchor such as `#C-3-4`; None when the event is not in the document."""
        anchor = self.anchors.get(identity)
        return f"#{anchor}" if anchor else None

    def ref(self, ref: str, words: str | None = None) -> str | None:  # noqa: ARG002  (the document has no finer place)
        """Return the anchor of the section that the document quotes."""
        reference = parse_reference(ref)
        return self.event(ref) or self.event(reference.id)

    def round(self, number: int) -> str | None:
        """Return an anchor such as `#round-3`."""
        return self.event(f"round-{number}")

    def brief(self, step: str) -> str | None:  # noqa: ARG002  (briefs stay in the run)
        """Return None: a report holds no prompts."""
        return None

    def page(self, name: str, **query: object) -> str | None:  # noqa: ARG002  (all on one page)
        """Return an anchor such as `#claims`."""
        return f"#{name or 'top'}"


Links = SiteLinks | ReportLinks
"""Addresses of a run's things; None where there is no page for them."""


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
        "came_to": verdict_sentence,
        "became": became_line,
        "output": output_of,
        "lifecycle": lifecycle,
        "spent": spent,
        "filled_by": filled_by,
        "unfilled": unfilled,
        "alarms_first": alarms_first,
        "alarm_line": alarm_line,
        "gate_sentence": gate_sentence,
        "gates_held": gates_held,
        "contexts_text": contexts_text,
        "dollars_cell": dollars_cell,
        "instant": instant,
        "said": in_words,
        "pairs": pairs,
        "percent": percent,
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
