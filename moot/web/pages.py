"""Pages of the viewer: functions from an address and its query to HTML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final, NamedTuple

from starlette.requests import Request

from ledger.events import Decision, Event
from ledger.plain_text import shortened
from ledger.state.book import Book
from moot.view.costs import spent_beyond
from moot.view.events import EventWords, words_of
from moot.view.outcome import outcome_of
from moot.view.stop_checks import why_it_stopped
from moot.web.followed import Followed, labels_shown, standing_of
from moot.web.links import SiteLinks, links_of
from moot.web.live import asked_now, parts_of
from moot.web.report import report_html
from moot.web.run_index import LATEST, RunIndex, in_order, siblings
from moot.web.templating import paged, parts, render
from moot.web.views import claims as claim_views
from moot.web.views import decisions as decision_views
from moot.web.views import seats as seat_views
from moot.web.views.compare import compare_page
from moot.web.views.event import event_page
from moot.web.views.overview import overview as overview_of
from moot.web.views.rounds import round_lines, round_page
from moot.web.views.signals import signals_page

LOG_PAGE: Final = 200
LOG_SAID: Final = 220
"""Most characters of an event that the log shows."""
FILTERS: Final = ("q", "status", "protocol")
"""Query parameters that filter the list of runs."""


class PageMissing(LookupError):
    """An address of something that does not exist; the message says what."""


def runs(index: RunIndex, request: Request) -> str:
    """Render the runs that match `?q=`, `?status=` and `?protocol=`, in the order of `?sort=`."""
    text, status, protocol = (request.query_params.get(key, "") for key in ("q", "status", "protocol"))
    order = request.query_params.get("sort", LATEST)
    lines = index.lines()
    return render(
        "runs.html",
        # Filtered here and not in the browser: the viewer works without script.
        runs=in_order((line for line in lines if line.matches(text, status, protocol)), order),
        order=order,
        total=len(lines),
        wanted={key: value for key, value in request.query_params.items() if key in FILTERS and value},
        statuses=sorted({line.status for line in lines}),
        protocols=sorted({line.protocol for line in lines if line.protocol}),
        where=str(index.root),
        forks=siblings(lines),
        names={line.name for line in lines},
    )


def compare(index: RunIndex, request: Request) -> str:
    """Render `/compare?a=NAME&b=NAME`; without both names, the form to choose them."""
    # A run that cannot be read would only lead to an error page, so it is not offered.
    names = [line.name for line in index.lines() if line.trouble is None]
    a, b = request.query_params.get("a", ""), request.query_params.get("b", "")
    if not a or not b:
        return render("compare.html", names=names, a_name=a, b_name=b, page=None, links=None)
    first, second = _followed(index, a), _followed(index, b)
    return render(
        "compare.html",
        names=names,
        a_name=a,
        b_name=b,
        page=compare_page(first, second),
        outcomes={name: outcome_of(str(run.path), run.book()) for name, run in (("a", first), ("b", second))},
        links=links_of(a, first),
        links_a=links_of(a, first),
        links_b=links_of(b, second),
    )


def _followed(index: RunIndex, name: str) -> Followed:
    run = index.followed(name)
    if run is None:
        raise PageMissing(f"there is no run {name!r} here")
    return run


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for a page of a run."""

    run: Followed
    name: str
    request: Request
    links: SiteLinks

    def query(self, key: str) -> str:
        """Return a word of the query; empty when it is missing."""
        return self.request.query_params.get(key, "")

    def number(self, key: str, default: int) -> int:
        """Return a number of the query; `default` when it is missing or not a number."""
        text = self.query(key)
        # `isdigit` alone accepts digits of other scripts, and a huge number would be slow to convert.
        return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else default

    def render(self, template: str, tab: str, **values: Any) -> str:
        """Render a page with the head that all pages of the run have."""
        return render(
            template,
            name=self.name,
            tab=tab,
            opened=self.run.opened,
            labels=labels_shown(self.run),
            standing=standing_of(self.run),
            why=why_it_stopped(self.run.state),
            seq=self.run.seq,
            links=self.links,
            **values,
        )


def _of_a_run(page: Callable[[PageRequest], str]) -> Callable[[RunIndex, Request], str]:
    """Return a page that is rendered while its run does not change."""

    @wraps(page)
    def answer(index: RunIndex, request: Request) -> str:
        name = request.path_params["name"]
        run = _followed(index, name)
        # The live page may read new events at any time; half a page from before and half from after would contradict
        # itself.
        with run.lock:
            return page(PageRequest(run, name, request, links_of(name, run)))

    return answer


@_of_a_run
def overview(asked: PageRequest) -> str:
    """Render the reason why the run stopped, its decisions and rounds."""
    page, outcome = (
        overview_of(asked.run),
        outcome_of(str(asked.run.path), asked.run.book(), spent_beyond(asked.run.path)),
    )
    return asked.render("overview.html", "overview", page=page, outcome=outcome)


@_of_a_run
def live(asked: PageRequest) -> str:
    """Render the round in progress, as it happens."""
    return asked.render("live.html", "live", parts=parts_of(asked.run, asked.links))


@_of_a_run
def rounds(asked: PageRequest) -> str:
    """Render every round in one line."""
    return asked.render("rounds.html", "rounds", rounds=tuple(round_lines(asked.run)))


@_of_a_run
def round_(asked: PageRequest) -> str:
    """Render one round, with a column per seat."""
    number = asked.request.path_params["number"]
    opened = sorted(asked.run.state.rounds)
    if number not in opened:
        raise PageMissing(f"round {number} was not opened")
    # Round numbers may have gaps, so the neighbors are looked up and not counted.
    place = opened.index(number)
    return asked.render(
        "round.html",
        "rounds",
        page=round_page(asked.run, number, asked_now(asked.run) if number == asked.run.state.round else None),
        before=opened[place - 1] if place else None,
        after=opened[place + 1] if place + 1 < len(opened) else None,
    )


@_of_a_run
def claims(asked: PageRequest) -> str:
    """Render the claims on their timeline."""
    wanted = claim_views.ClaimFilter(asked.query("status"), asked.query("role"), asked.query("q"))
    page = claim_views.claims_page(asked.run, asked.links, wanted, page=asked.number("page", 1))
    return asked.render("claims.html", "claims", page=page)


@_of_a_run
def decisions(asked: PageRequest) -> str:
    """Render all decisions."""
    return asked.render("decisions.html", "decisions", decisions=decision_views.decisions(asked.run))


@_of_a_run
def signals(asked: PageRequest) -> str:
    """Render signals, gates, alarms, disagreement, options."""
    return asked.render("signals.html", "signals", page=signals_page(asked.run, asked.links))


@_of_a_run
def seats(asked: PageRequest) -> str:
    """Render seats, prompts, isolation, cost."""
    page = seat_views.seats_page(asked.run, role=asked.query("role"), page=asked.number("page", 1))
    return asked.render("seats.html", "seats", page=page)


@_of_a_run
def brief(asked: PageRequest) -> str:
    """Render the prompt of a step."""
    step = asked.request.path_params["step"]
    page = seat_views.brief_page(asked.run, step)
    if page is None:
        raise PageMissing(f"no reply to {step!r} is on the ledger")
    return asked.render("brief.html", "seats", page=page, step=step)


@_of_a_run
def event(asked: PageRequest) -> str:
    """Render an event by its id, or by `@<seq>`."""
    identity = asked.request.path_params["identity"]
    entry = _event(asked.run, identity)
    if entry is None:
        raise PageMissing(f"no event {identity!r} is on the ledger")
    decision = (
        decision_views.decision_page(asked.run, entry, asked.links) if isinstance(entry, Decision) else None
    )
    return asked.render(
        "event.html",
        "decisions" if decision else "log",
        page=event_page(asked.run, entry),
        decision=decision,
        before=entry.seq - 1 if entry.seq else None,
        after=entry.seq + 1 if entry.seq < asked.run.seq else None,
    )


@_of_a_run
def card(asked: PageRequest) -> str:
    """Render a short summary of an event: a part of a page, shown as a tooltip."""
    identity = asked.request.path_params["identity"]
    entry = _event(asked.run, identity)
    if entry is None:
        raise PageMissing(f"no event {identity!r} is on the ledger")
    return str(parts(asked.links).id_card(words_of(entry, asked.run.book())))


def _event(run: Followed, identity: str) -> Event | None:
    # Ids name most events; the sequence number reaches those that have none.
    if not identity.startswith("@"):
        return run.book().by_id.get(identity)
    text = identity[1:]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else -1
    return run.book().events[number] if 0 <= number <= run.seq else None


@_of_a_run
def document(asked: PageRequest) -> str:
    """Render a context document with its lines."""
    identity = asked.request.path_params["identity"]
    entry = next((row for row in asked.run.opened.context if row.id == identity), None)
    if entry is None:
        raise PageMissing(f"no document {identity!r} was given to this run")
    # A redacted document keeps its entry and loses its blob.
    content = asked.run.blobs.read(entry.sha256)
    lines = None if content is None else content.decode("utf-8", "replace").split("\n")
    return asked.render("document.html", "log", entry=entry, lines=lines)


class LogLine(NamedTuple):
    """An event in the log; `hit` is the place of the searched words if the shortened text lacks them."""

    words: EventWords
    round: int
    hit: tuple[str, str, str] | None


def _hit(run: Followed, event: Event, words: list[str], book: Book) -> tuple[str, str, str] | None:
    text = shortened(words_of(event, book).said, LOG_SAID).casefold()
    return None if all(word in text for word in words) else run.around(event, words)


@_of_a_run
def log(asked: PageRequest) -> str:
    """Render the events in order, in pages of 200; `?kind=`, `?by=`, `?round=` choose."""
    kind, by, number = asked.query("kind"), asked.query("by"), asked.number("round", -1)
    words = asked.query("q").casefold().split()
    book = asked.run.book()
    # Words are compared last: searching an event's texts is slower than its fields.
    wanted = [
        entry
        for entry in book.events
        if (not kind or entry.kind == kind)
        and (not by or entry.by == by)
        and (number < 0 or entry.round == number)
        if asked.run.says(entry, words)
    ]
    page, pages, rows = paged(wanted, asked.number("page", 1), LOG_PAGE)
    return asked.render(
        "log.html",
        "log",
        lines=[
            LogLine(words_of(entry, book), entry.round, _hit(asked.run, entry, words, book)) for entry in rows
        ],
        kinds=[(kind, kind.replace("_", " ")) for kind in sorted({entry.kind for entry in book.events})],
        roles=sorted({entry.by for entry in book.events}),
        kind=kind,
        by=by,
        LOG_SAID=LOG_SAID,
        number=number,
        text=asked.query("q"),
        page=page,
        pages=pages,
        found=len(wanted),
    )


@_of_a_run
def check(asked: PageRequest) -> str:
    """Render every rule that the ledger breaks, and whether it is intact."""
    report = asked.run.checked(anyway=asked.query("anyway") == "1")
    return asked.render("check.html", "check", report=report, events=asked.run.seq + 1)


@_of_a_run
def report(asked: PageRequest) -> str:
    """Render the run as one document."""
    return report_html(asked.run)
