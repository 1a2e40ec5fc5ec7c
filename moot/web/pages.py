"""The pages: the address and its query in, HTML out."""

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
from moot.view.stopping import why_of
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
"""Characters of an event that the log shows."""
FILTERS: Final = ("q", "status", "protocol")
"""What the list of runs is filtered by."""


class PageMissing(LookupError):
    """What an address names is not there; the message says so in words."""


def runs(index: RunIndex, request: Request) -> str:
    """Every run, those that match `?q=`, `?status=` and `?protocol=`, in the order of `?sort=`."""
    text, status, protocol = (request.query_params.get(key, "") for key in ("q", "status", "protocol"))
    order = request.query_params.get("sort", LATEST)
    lines = index.lines()
    return render(
        "runs.html",
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
    """`/compare?a=NAME&b=NAME`; without both, the form to choose them."""
    names = [line.name for line in index.lines() if line.trouble is None]
    a, b = request.query_params.get("a", ""), request.query_params.get("b", "")
    if not a or not b:
        return render("compare.html", names=names, a_name=a, b_name=b, page=None, links=None)
    one, other = _followed(index, a), _followed(index, b)
    return render(
        "compare.html",
        names=names,
        a_name=a,
        b_name=b,
        page=compare_page(one, other),
        outcomes={name: outcome_of(str(run.path), run.book()) for name, run in (("a", one), ("b", other))},
        links=links_of(a, one),
        links_a=links_of(a, one),
        links_b=links_of(b, other),
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
        """A word of the query; empty when it is not there."""
        return self.request.query_params.get(key, "")

    def number(self, key: str, default: int) -> int:
        """A number of the query, `default` when it is none."""
        text = self.query(key)
        return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else default

    def render(self, template: str, tab: str, **values: Any) -> str:
        """A page with the head that all pages of the run have."""
        return render(
            template,
            name=self.name,
            tab=tab,
            opened=self.run.opened,
            labels=labels_shown(self.run),
            standing=standing_of(self.run),
            why=why_of(self.run.state),
            seq=self.run.seq,
            links=self.links,
            **values,
        )


def _of_a_run(page: Callable[[PageRequest], str]) -> Callable[[RunIndex, Request], str]:
    """A page that is made while its run stands still."""

    @wraps(page)
    def made(index: RunIndex, request: Request) -> str:
        name = request.path_params["name"]
        run = _followed(index, name)
        with run.lock:
            return page(PageRequest(run, name, request, links_of(name, run)))

    return made


@_of_a_run
def overview(asked: PageRequest) -> str:
    """Why it stopped, what was decided, the rounds."""
    page, outcome = (
        overview_of(asked.run),
        outcome_of(str(asked.run.path), asked.run.book(), spent_beyond(asked.run.path)),
    )
    return asked.render("overview.html", "overview", page=page, outcome=outcome)


@_of_a_run
def live(asked: PageRequest) -> str:
    """The round that is being played, as it happens."""
    return asked.render("live.html", "live", parts=parts_of(asked.run, asked.links))


@_of_a_run
def rounds(asked: PageRequest) -> str:
    """Every round in one line."""
    return asked.render("rounds.html", "rounds", rounds=tuple(round_lines(asked.run)))


@_of_a_run
def round_(asked: PageRequest) -> str:
    """One round, a column a seat."""
    number = asked.request.path_params["number"]
    opened = sorted(asked.run.state.rounds)
    if number not in opened:
        raise PageMissing(f"round {number} was not opened")
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
    """The claims on their timeline."""
    wanted = claim_views.ClaimFilter(asked.query("status"), asked.query("role"), asked.query("q"))
    page = claim_views.claims_page(asked.run, asked.links, wanted, page=asked.number("page", 1))
    return asked.render("claims.html", "claims", page=page)


@_of_a_run
def decisions(asked: PageRequest) -> str:
    """All decisions."""
    return asked.render("decisions.html", "decisions", decisions=decision_views.decisions(asked.run))


@_of_a_run
def signals(asked: PageRequest) -> str:
    """Signals, gates, alarms, disagreement, options."""
    return asked.render("signals.html", "signals", page=signals_page(asked.run, asked.links))


@_of_a_run
def seats(asked: PageRequest) -> str:
    """Seats, briefs, isolation, cost."""
    page = seat_views.seats_page(asked.run, role=asked.query("role"), page=asked.number("page", 1))
    return asked.render("seats.html", "seats", page=page)


@_of_a_run
def brief(asked: PageRequest) -> str:
    """The brief of a step."""
    step = asked.request.path_params["step"]
    page = seat_views.brief_page(asked.run, step)
    if page is None:
        raise PageMissing(f"no reply to {step!r} is on the ledger")
    return asked.render("brief.html", "seats", page=page, step=step)


@_of_a_run
def event(asked: PageRequest) -> str:
    """An event by its id, or by `@<seq>`."""
    identity = asked.request.path_params["identity"]
    shown = _event(asked.run, identity)
    if shown is None:
        raise PageMissing(f"no event {identity!r} is on the ledger")
    decision = (
        decision_views.decision_page(asked.run, shown, asked.links) if isinstance(shown, Decision) else None
    )
    return asked.render(
        "event.html",
        "decisions" if decision else "log",
        page=event_page(asked.run, shown),
        decision=decision,
        before=shown.seq - 1 if shown.seq else None,
        after=shown.seq + 1 if shown.seq < asked.run.seq else None,
    )


@_of_a_run
def card(asked: PageRequest) -> str:
    """What an id is, in a few lines: a part of a page, for whoever points at it."""
    identity = asked.request.path_params["identity"]
    shown = _event(asked.run, identity)
    if shown is None:
        raise PageMissing(f"no event {identity!r} is on the ledger")
    return str(parts(asked.links).id_card(words_of(shown, asked.run.book())))


def _event(run: Followed, identity: str) -> Event | None:
    if not identity.startswith("@"):
        return run.book().by_id.get(identity)
    text = identity[1:]
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 16 else -1
    return run.book().events[number] if 0 <= number <= run.seq else None


@_of_a_run
def document(asked: PageRequest) -> str:
    """A context document with its lines."""
    identity = asked.request.path_params["identity"]
    entry = next((one for one in asked.run.opened.context if one.id == identity), None)
    if entry is None:
        raise PageMissing(f"no document {identity!r} was given to this run")
    content = asked.run.blobs.read(entry.sha256)
    lines = None if content is None else content.decode("utf-8", "replace").split("\n")
    return asked.render("document.html", "log", entry=entry, lines=lines)


class LogLine(NamedTuple):
    """An event in the log; `hit` is where it says what was searched for, where its own words here do not."""

    words: EventWords
    round: int
    hit: tuple[str, str, str] | None


def _hit(run: Followed, event: Event, words: list[str], book: Book) -> tuple[str, str, str] | None:
    shown = shortened(words_of(event, book).said, LOG_SAID).casefold()
    return None if all(word in shown for word in words) else run.around(event, words)


@_of_a_run
def log(asked: PageRequest) -> str:
    """The events in order, some hundred at a time; `?kind=`, `?by=`, `?round=` choose."""
    kind, by, number = asked.query("kind"), asked.query("by"), asked.number("round", -1)
    words = asked.query("q").casefold().split()
    book = asked.run.book()
    wanted = [
        one
        for one in book.events
        if (not kind or one.kind == kind) and (not by or one.by == by) and (number < 0 or one.round == number)
        if asked.run.says(one, words)
    ]
    page, pages, shown = paged(wanted, asked.number("page", 1), LOG_PAGE)
    return asked.render(
        "log.html",
        "log",
        lines=[LogLine(words_of(one, book), one.round, _hit(asked.run, one, words, book)) for one in shown],
        kinds=[(kind, kind.replace("_", " ")) for kind in sorted({one.kind for one in book.events})],
        roles=sorted({one.by for one in book.events}),
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
    """Every rule that the ledger breaks, and whether it is intact."""
    report = asked.run.checked(anyway=asked.query("anyway") == "1")
    return asked.render("check.html", "check", report=report, events=asked.run.seq + 1)


@_of_a_run
def report(asked: PageRequest) -> str:
    """The run as one document."""
    return report_html(asked.run)
