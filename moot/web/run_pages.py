"""The pages of one run: the address and its query in, HTML out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final

from starlette.requests import Request

from ledger.events import Decision, Event
from ledger.events.decisions import ContextDocument
from ledger.store.store import read_driver
from moot.web import judged
from moot.web.event_cards import act_of
from moot.web.followed import Followed
from moot.web.live_parts import parts_of
from moot.web.pages import NotThere, site_links
from moot.web.report import report_html
from moot.web.run_index import Shelf, address_of, standing_of
from moot.web.shown_labels import labels_shown
from moot.web.speech import hear
from moot.web.templating import render
from moot.web.views import briefs, events
from moot.web.views import claims as claim_views
from moot.web.views import decisions as decision_views
from moot.web.views import seats as seat_views
from moot.web.views import signals as signal_views
from moot.web.views.overview import overview as overview_of
from moot.web.views.overview import round_lines, why_of
from moot.web.views.stage import stage_of

LOG_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a page of a run."""

    run: Followed
    name: str
    request: Request

    def query(self, key: str) -> str:
        """A word of the query; empty when it is not there."""
        return self.request.query_params.get(key, "")

    def number(self, key: str, default: int) -> int:
        """A number of the query, `default` when it is none."""
        said = self.query(key)
        return int(said) if said.isascii() and said.isdigit() and len(said) < 7 else default

    def render(self, template: str, tab: str, **values: Any) -> str:
        """A page with the head that all pages of the run have."""
        state, opened = self.run.state, self.run.state.opening
        return render(
            template,
            name=self.name,
            tab=tab,
            opened=opened,
            labels=labels_shown(self.run),
            standing=standing_of(state, driven=read_driver(self.run.path) is not None),
            why=why_of(state),
            seq=self.run.seq,
            links=site_links(address_of(self.name), self.run),
            **values,
        )


def _of_a_run(page: Callable[[Asked], str]) -> Callable[[Shelf, Request], str]:
    """A page that is made while its run stands still."""

    @wraps(page)
    def made(shelf: Shelf, request: Request) -> str:
        name = request.path_params["name"]
        run = shelf.followed(name)
        if run is None:
            raise NotThere(f"there is no run {name!r} here")
        with run.lock:
            return page(Asked(run, name, request))

    return made


@_of_a_run
def overview(asked: Asked) -> str:
    """Why it stopped, what was decided, the rounds."""
    return asked.render("overview.html", "overview", page=overview_of(asked.run))


@_of_a_run
def live(asked: Asked) -> str:
    """The round that is being played, as it happens."""
    links = site_links(address_of(asked.name), asked.run)
    return asked.render("live.html", "live", parts=parts_of(asked.run, links, hear(asked.run)))


@_of_a_run
def rounds(asked: Asked) -> str:
    """Every round in one line."""
    return asked.render("rounds.html", "rounds", rounds=tuple(round_lines(asked.run)))


@_of_a_run
def round_(asked: Asked) -> str:
    """One round, a column a seat."""
    number = asked.request.path_params["number"]
    if number not in asked.run.state.rounds:
        raise NotThere(f"round {number} was not opened")
    opened = sorted(asked.run.state.rounds)
    place = opened.index(number)
    return asked.render(
        "round.html",
        "rounds",
        stage=stage_of(asked.run, number, hear(asked.run) if number == asked.run.state.round else None),
        before=opened[place - 1] if place else None,
        after=opened[place + 1] if place + 1 < len(opened) else None,
    )


@_of_a_run
def claims(asked: Asked) -> str:
    """The claims on their timeline."""
    page = claim_views.claims(
        asked.run,
        site_links(address_of(asked.name), asked.run),
        status=asked.query("status"),
        role=asked.query("role"),
        text=asked.query("q"),
        page=asked.number("page", 1),
    )
    return asked.render("claims.html", "claims", page=page)


@_of_a_run
def decisions(asked: Asked) -> str:
    """All decisions."""
    return asked.render("decisions.html", "decisions", decisions=decision_views.decisions(asked.run))


@_of_a_run
def signals(asked: Asked) -> str:
    """Signals, gates, alarms, disagreement, options."""
    page = signal_views.signals_page(asked.run, site_links(address_of(asked.name), asked.run))
    return asked.render("signals.html", "signals", page=page)


@_of_a_run
def seats(asked: Asked) -> str:
    """Seats, briefs, isolation, cost."""
    verdict, breaches = judged.briefs_of(asked.run)
    page = seat_views.seats_page(
        asked.run, verdict, breaches, role=asked.query("role"), page=asked.number("page", 1)
    )
    return asked.render("seats.html", "seats", page=page)


@_of_a_run
def brief(asked: Asked) -> str:
    """The brief of a step."""
    step = asked.request.path_params["step"]
    page = briefs.brief_page(asked.run, step)
    if page is None:
        raise NotThere(f"no reply to {step!r} is on the ledger")
    return asked.render("brief.html", "seats", page=page, step=step)


@_of_a_run
def event(asked: Asked) -> str:
    """An event by its id, or by `@<seq>`."""
    identity = asked.request.path_params["identity"]
    found = _found(asked.run, identity)
    if found is None:
        raise NotThere(f"no event {identity!r} is on the ledger")
    decision = None
    if isinstance(found, Decision):
        links = site_links(address_of(asked.name), asked.run)
        decision = decision_views.decision_page(asked.run, found, links)
    page = events.event_page(asked.run, found)
    last = asked.run.seq
    return asked.render(
        "event.html",
        "decisions" if decision else "log",
        page=page,
        decision=decision,
        before=found.seq - 1 if found.seq else None,
        after=found.seq + 1 if found.seq < last else None,
    )


def _found(run: Followed, identity: str) -> Event | None:
    if identity.startswith("@"):
        said = identity[1:]
        number = int(said) if said.isascii() and said.isdigit() and len(said) < 16 else -1
        return run.book().events[number] if 0 <= number <= run.seq else None
    return run.book().by_id.get(identity)


@_of_a_run
def document(asked: Asked) -> str:
    """A context document with its lines."""
    identity = asked.request.path_params["identity"]
    opened = asked.run.state.opened
    entries: tuple[ContextDocument, ...] = opened.context if opened else ()
    entry = next((one for one in entries if one.id == identity), None)
    if entry is None:
        raise NotThere(f"no document {identity!r} was given to this run")
    content = asked.run.blobs.read(entry.sha256)
    lines = None if content is None else content.decode("utf-8", "replace").split("\n")
    return asked.render("document.html", "log", entry=entry, lines=lines)


@_of_a_run
def log(asked: Asked) -> str:
    """The events in order, some hundred at a time; `?kind=`, `?by=`, `?round=` choose."""
    kind, by, number = asked.query("kind"), asked.query("by"), asked.number("round", -1)
    book = asked.run.book()
    wanted = [
        one
        for one in book.events
        if (not kind or one.kind == kind) and (not by or one.by == by) and (number < 0 or one.round == number)
    ]
    pages = max(1, -(-len(wanted) // LOG_PAGE))
    page = min(max(1, asked.number("page", 1)), pages)
    shown = wanted[(page - 1) * LOG_PAGE : page * LOG_PAGE]
    return asked.render(
        "log.html",
        "log",
        acts=[(act_of(book, one), one.at, one.round) for one in shown],
        kinds=sorted({one.kind for one in book.events}),
        roles=sorted({one.by for one in book.events}),
        kind=kind,
        by=by,
        number=number,
        page=page,
        pages=pages,
        found=len(wanted),
    )


@_of_a_run
def check(asked: Asked) -> str:
    """Every rule that the ledger breaks, and whether it is intact."""
    return asked.render("check.html", "check", page=judged.checked(asked.run, asked.query("anyway") == "1"))


@_of_a_run
def report(asked: Asked) -> str:
    """The report as one document; what `moot report --html` writes."""
    return report_html(asked.run)
