"""Pages of the viewer: functions from an address and its query to HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final

import msgspec
from starlette.requests import Request

import moot
from ledger.compare.diff import Differences
from ledger.events import Event
from ledger.plain_text import one_line, shortened
from ledger.state.book import Book, strings
from ledger.state.decided import standing
from moot.app.runs import Run
from moot.run_view import RunView
from moot.view.events import words_of
from moot.web.events import claims_page, decisions as decisions_of, event_page
from moot.web.guard import number_in
from moot.web.live import parts_of
from moot.web.overview import brief_page, checked, heading, overview as overview_of, seats_page, signals_page
from moot.web.report import report_html
from moot.web.rounds import round_lines, round_shown, steps_in_progress
from moot.web.run_index import LATEST, RunIndex, in_order
from moot.web.templating import SiteLinks, links_of, paged, parts, render

LOG_PAGE: Final = 200
LOG_SAID: Final = 220
"""Most characters of an event that the log shows."""
AROUND: Final = 90
"""Characters shown before and after a search hit."""
FILTERS: Final = ("q", "status", "protocol")
"""Query parameters that filter the list of runs."""


class PageMissing(LookupError):
    """An address of something that does not exist; the message says what."""


def runs(index: RunIndex, request: Request) -> str:
    """Render the runs that match `?q=`, `?status=` and `?protocol=`, in the order of `?sort=`."""
    wanted = {key: value for key in FILTERS if (value := request.query_params.get(key))}
    order = request.query_params.get("sort", LATEST)
    lines = index.lines()
    chosen = [line for line in lines if line.matches(*(wanted.get(key, "") for key in FILTERS))]
    return render(
        "runs.html",
        # Filtered here and not in the browser: the viewer works without script.
        runs=in_order(chosen, order),
        order=order,
        total=len(lines),
        wanted=wanted,
        statuses=sorted({line.status for line in lines}),
        protocols=sorted({line.protocol for line in lines if line.protocol}),
        where=str(index.root),
        lines=lines,
        names={line.name for line in lines},
    )


def compare(index: RunIndex, request: Request) -> str:
    """Render `/compare?a=NAME&b=NAME`; without both names, the form to choose them."""
    # A run that cannot be read would only lead to an error page, so it is not offered.
    names = [line.name for line in index.lines() if line.trouble is None]
    a, b = request.query_params.get("a", ""), request.query_params.get("b", "")
    if not a or not b:
        return render("compare.html", names=names, a_name=a, b_name=b, diff=None, links=None)
    runs = _run(index, a), _run(index, b)
    diff = moot.diff(*runs)
    first, second = (run.view for run in runs)
    return render(
        "compare.html",
        names=names,
        a_name=a,
        b_name=b,
        diff=diff,
        views={"a": first, "b": second},
        fork=_fork(first, second, "a", "b") or _fork(second, first, "b", "a"),
        groups={
            "claims": (diff.claims, list(_sides(diff.claims, first.book, second.book))),
            "decisions": (diff.decisions, list(_sides(diff.decisions, first.book, second.book))),
        },
        links=links_of(a, first.book),
        links_b=links_of(b, second.book),
    )


def _fork(view: RunView, other: RunView, name: str, other_name: str) -> str | None:
    """Return in words that a run is a fork of another, or None."""
    # An origin is the path as it was when the fork was made: only the last part survives a move of the directory.
    origin = view.book.state.opening.origin
    parent = (origin.of or "").rstrip("/").rpartition("/")[2] if origin.type == "fork" else None
    if parent and other.path is not None and parent == other.path.resolve().name:
        return f"{name} is a fork of {other_name} after event {origin.seq}"
    return None


Side = tuple[str | None, str | None, str, str, str, str]
"""A claim or decision in one or both runs: ids, status in each, words, how it was matched."""


def _sides(differences: Differences, a: Book, b: Book) -> Iterator[tuple[str, list[Side]]]:
    """Yield what differs, under a title each."""
    yield (
        "Stand differently",
        [(row.a, row.b, row.status_a, row.status_b, _text(a, row.a), row.how) for row in differences.changed],
    )
    yield (
        "Perhaps the same",
        [
            (
                row.a,
                row.b,
                _status(a, row.a),
                _status(b, row.b),
                _text(a, row.a),
                f"similar {row.similarity:.2f}",
            )
            for row in differences.similar
        ],
    )
    yield (
        "Only in a",
        [(only, None, _status(a, only), "", _text(a, only), "only in one") for only in differences.only_a],
    )
    yield (
        "Only in b",
        [(None, only, "", _status(b, only), _text(b, only), "only in one") for only in differences.only_b],
    )


def _text(book: Book, identity: str) -> str:
    return str(getattr(book.by_id.get(identity), "text", ""))


def _status(book: Book, identity: str) -> str:
    facts = book.state.claims.get(identity)
    if facts is not None:
        return facts.status
    return standing(book.state, identity) if identity in book.state.decisions else ""


def _run(index: RunIndex, name: str) -> Run:
    run = index.run(name)
    if run is None:
        raise PageMissing(f"there is no run {name!r} here")
    return run


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page of a run, as the run was when the request came."""

    run: Run
    name: str
    request: Request
    view: RunView
    links: SiteLinks

    def query(self, key: str) -> str:
        """Return a word of the query; empty when it is missing."""
        return self.request.query_params.get(key, "")

    def number(self, key: str, default: int) -> int:
        """Return a number of the query; `default` when it is missing or not a number."""
        return number_in(self.query(key), 6, default)

    def event(self) -> Event:
        """Return the event that the address names by its id, or by `@<seq>`. Raises `PageMissing`."""
        identity, book = self.request.path_params["identity"], self.view.book
        event = book.by_id.get(identity)
        # Ids name most events; the sequence number reaches those that have none.
        if identity.startswith("@"):
            number = number_in(identity[1:], 15, len(book.events))
            event = book.events[number] if number < len(book.events) else None
        if event is None:
            raise PageMissing(f"no event {identity!r} is on the ledger")
        return event

    def render(self, template: str, tab: str, **values: Any) -> str:
        """Render a page with the head that all pages of the run have."""
        return render(template, name=self.name, tab=tab, links=self.links, **heading(self.view), **values)


def _of_a_run(page: Callable[[PageRequest], str]) -> Callable[[RunIndex, Request], str]:
    """Return a page of the run that the address names."""

    @wraps(page)
    def answer(index: RunIndex, request: Request) -> str:
        name = request.path_params["name"]
        run = _run(index, name)
        # One view for the whole page: half of it from before and half from after a commit would contradict itself.
        view = run.view
        return page(PageRequest(run, name, request, view, links_of(name, view.book)))

    return answer


@_of_a_run
def overview(visit: PageRequest) -> str:
    """Render the reason why the run stopped, its decisions and rounds."""
    return visit.render("overview.html", "overview", page=overview_of(visit.view))


@_of_a_run
def live(visit: PageRequest) -> str:
    """Render the round in progress, as it happens."""
    return visit.render("live.html", "live", parts=parts_of(visit.view, visit.links))


@_of_a_run
def rounds(visit: PageRequest) -> str:
    """Render every round in one line."""
    return visit.render("rounds.html", "rounds", rounds=round_lines(visit.view.book.state))


@_of_a_run
def round_(visit: PageRequest) -> str:
    """Render one round, with a column per seat."""
    number, state = visit.request.path_params["number"], visit.view.book.state
    if number not in state.rounds:
        raise PageMissing(f"round {number} was not opened")
    # Round numbers may have gaps, so the neighbors are looked up and not counted.
    return visit.render(
        "round.html",
        "rounds",
        page=round_shown(
            visit.view, number, steps_in_progress(visit.view) if number == state.round else None
        ),
        before=max((other for other in state.rounds if other < number), default=None),
        after=min((other for other in state.rounds if other > number), default=None),
    )


@_of_a_run
def claims(visit: PageRequest) -> str:
    """Render the claims on their timeline."""
    page = claims_page(
        visit.view,
        visit.links,
        status=visit.query("status"),
        role=visit.query("role"),
        text=visit.query("q"),
        page=visit.number("page", 1),
    )
    return visit.render("claims.html", "claims", page=page)


@_of_a_run
def decisions(visit: PageRequest) -> str:
    """Render all decisions."""
    return visit.render("decisions.html", "decisions", decisions=decisions_of(visit.view))


@_of_a_run
def signals(visit: PageRequest) -> str:
    """Render signals, gates, alarms, disagreement, options."""
    return visit.render("signals.html", "signals", page=signals_page(visit.view, visit.links))


@_of_a_run
def seats(visit: PageRequest) -> str:
    """Render seats, prompts, isolation, cost."""
    page = seats_page(visit.view, role=visit.query("role"), page=visit.number("page", 1))
    return visit.render("seats.html", "seats", page=page)


@_of_a_run
def brief(visit: PageRequest) -> str:
    """Render the prompt of a step."""
    step, book = visit.request.path_params["step"], visit.view.book
    seq = book.state.answered.get(step)
    call = None if seq is None else book.events[seq].call
    if seq is None or call is None:
        raise PageMissing(f"no reply to {step!r} is on the ledger")
    return visit.render("brief.html", "seats", page=brief_page(book, book.events[seq], call), step=step)


@_of_a_run
def event(visit: PageRequest) -> str:
    """Render an event by its id, or by `@<seq>`."""
    page = event_page(visit.view, visit.event(), visit.links)
    return visit.render("event.html", "decisions" if page["decision"] else "log", page=page)


@_of_a_run
def card(visit: PageRequest) -> str:
    """Render a short summary of an event: a part of a page, shown as a tooltip."""
    return str(parts(visit.links).id_card(words_of(visit.event(), visit.view.book)))


@_of_a_run
def document(visit: PageRequest) -> str:
    """Render a context document with its lines."""
    identity, book = visit.request.path_params["identity"], visit.view.book
    entry = next((row for row in book.state.opening.context if row.id == identity), None)
    if entry is None:
        raise PageMissing(f"no document {identity!r} was given to this run")
    # A redacted document keeps its entry and loses its blob.
    content = book.blobs.read(entry.sha256)
    lines = None if content is None else content.decode("utf-8", "replace").split("\n")
    return visit.render("document.html", "log", entry=entry, lines=lines)


def _around(book: Book, event: Event, words: Sequence[str]) -> tuple[str, str, str] | None:
    """Return the first of these words (in lower case) in an event, with the text before and after it.

    None where the log's shortened text shows all of them.
    """
    visible = shortened(words_of(event, book).said, LOG_SAID).casefold()
    text = one_line(_strings(event))
    places = [place for word in words if (place := text.casefold().find(word)) >= 0]
    if not places or all(word in visible for word in words):
        return None
    first = min(places)
    # Of two words that begin at one place the longer one is highlighted.
    end = first + max(len(word) for word in words if text.casefold().startswith(word, first))
    return text[max(0, first - AROUND) : first], text[first:end], text[end : end + AROUND]


def _holds(event: Event, words: Sequence[str]) -> bool:
    text = _strings(event).casefold()
    return all(word in text for word in words)


def _strings(event: Event) -> str:
    return " ".join(strings(msgspec.to_builtins(event)))


@_of_a_run
def log(visit: PageRequest) -> str:
    """Render the events in order, in pages of 200; `?kind=`, `?by=`, `?round=` choose."""
    kind, by, number = visit.query("kind"), visit.query("by"), visit.number("round", -1)
    book, words = visit.view.book, visit.query("q").casefold().split()
    # Words are compared last: searching an event's texts is slower than its fields.
    wanted = [
        entry
        for entry in book.events
        if kind in ("", entry.kind) and by in ("", entry.by) and number in (-1, entry.round)
        if not words or _holds(entry, words)
    ]
    page, pages, rows = paged(wanted, visit.number("page", 1), LOG_PAGE)
    return visit.render(
        "log.html",
        "log",
        lines=[(words_of(entry, book), _around(book, entry, words)) for entry in rows],
        kinds=[(name, name.replace("_", " ")) for name in sorted({entry.kind for entry in book.events})],
        roles=sorted({entry.by for entry in book.events}),
        kind=kind,
        by=by,
        LOG_SAID=LOG_SAID,
        number=number,
        text=visit.query("q"),
        page=page,
        pages=pages,
        found=len(wanted),
    )


@_of_a_run
def check(visit: PageRequest) -> str:
    """Render every rule that the ledger breaks, and whether it is intact."""
    return visit.render(
        "check.html", "check", report=checked(visit.view, anyway=visit.query("anyway") == "1")
    )


@_of_a_run
def report(visit: PageRequest) -> str:
    """Render the run as one document."""
    return report_html(visit.run)
