"""The viewer as an application: one table of addresses, each with the function that renders its page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Lifespan

from ledger.store.failures import LedgerError
from moot.app.unlawful_runs import explain_with
from moot.web import pages
from moot.web.guard import Address, Guard
from moot.web.live import Broadcasts, stream
from moot.web.pages import PageMissing
from moot.web.report import policy
from moot.web.run_index import RunIndex
from moot.web.templating import render
from roles.protocol import UNLAWFUL

Page = Callable[[RunIndex, Request], str]

PAGES: Final[tuple[tuple[str, Page], ...]] = (
    ("/", pages.runs),
    ("/compare", pages.compare),
    ("/run/{name}", pages.overview),
    ("/run/{name}/live", pages.live),
    ("/run/{name}/rounds", pages.rounds),
    ("/run/{name}/rounds/{number:int}", pages.round_),
    ("/run/{name}/claims", pages.claims),
    ("/run/{name}/decisions", pages.decisions),
    ("/run/{name}/signals", pages.signals),
    ("/run/{name}/seats", pages.seats),
    ("/run/{name}/brief/{step}", pages.brief),
    ("/run/{name}/event/{identity}", pages.event),
    ("/run/{name}/card/{identity}", pages.card),
    ("/run/{name}/document/{identity}", pages.document),
    ("/run/{name}/log", pages.log),
    ("/run/{name}/check", pages.check),
    ("/run/{name}/report", pages.report),
)
OWN_POLICY: Final = {"content-security-policy": f"{policy()}; frame-ancestors 'none'"}
"""Policy of the report page: it may hold its own style, which the viewer's other pages may not."""
STATIC: Final = {"style.css": "text/css", "moot.js": "text/javascript", "icon.svg": "image/svg+xml"}


def create_app(index: RunIndex, address: Address, lifespan: Lifespan[Starlette] | None = None) -> ASGIApp:
    """Return the application behind its guard; `lifespan` is entered when the server is up."""
    routes = [Route(path, partial(_answered, index, page), methods=["GET"]) for path, page in PAGES]
    routes += [
        Route("/run/{name}/stream", partial(stream, Broadcasts(index)), methods=["GET"]),
        Route("/static/{file}", _static, methods=["GET"]),
    ]
    return Guard(Starlette(routes=routes, exception_handlers={404: _not_found}, lifespan=lifespan), address)


async def _answered(index: RunIndex, page: Page, request: Request) -> Response:
    """Render a page in a thread, so that a long page does not block other requests."""
    return await run_in_threadpool(_answer, index, page, request)


def _answer(index: RunIndex, page: Page, request: Request) -> Response:
    try:
        html = page(index, request)
        return HTMLResponse(html, headers=OWN_POLICY if page is pages.report else None)
    except PageMissing as error:
        return HTMLResponse(render("trouble.html", title="Not here", what=str(error), fix=""), 404)
    # A view may fail in many ways on a ledger that breaks its rules. The fault is the run's, so it gets a page that
    # says so instead of a 500.
    except (LedgerError, *UNLAWFUL) as error:
        query, places = request.query_params, index.places()
        # The runs that the address names.
        names = (request.path_params.get("name"), query.get("a"), query.get("b"))
        known = explain_with(error, [places[name] for name in names if name in places])
        if known is None:
            raise
        message = {"what": f"{known.what} ({known.where})", "fix": known.fix}
        return HTMLResponse(render("trouble.html", title="This run cannot be shown", **message), 409)


async def _not_found(_: Request, __: Exception) -> Response:
    return HTMLResponse(render("trouble.html", title="Not here", what="there is no such page", fix=""), 404)


async def _static(request: Request) -> Response:
    name = request.path_params["file"]
    # A fixed table and no directory: no path in an address can lead to another file.
    if name not in STATIC:
        return await _not_found(request, KeyError(name))
    content = files("moot.web").joinpath("static", name).read_bytes()
    # `no-cache`, because the files change with moot's version and have no hash in their names.
    return Response(content, media_type=STATIC[name], headers={"cache-control": "no-cache"})
