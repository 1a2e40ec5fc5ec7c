"""The pages over all runs: the list with its search, and two runs side by side."""

from __future__ import annotations

from starlette.requests import Request

from moot.web.followed import Followed
from moot.web.links import SiteLinks
from moot.web.run_index import Shelf, address_of, siblings
from moot.web.templating import render
from moot.web.views.compare import compare_page


class NotThere(LookupError):
    """What an address names is not there; the message says so in words."""


def runs(shelf: Shelf, request: Request) -> str:
    """Every run, those that match `?q=`."""
    text = request.query_params.get("q", "")
    lines = shelf.lines()
    found = [line for line in lines if line.matches(text)]
    return render(
        "runs.html",
        runs=found,
        total=len(lines),
        text=text,
        where=str(shelf.root),
        forks=siblings(lines),
        names={line.name for line in lines},
        address_of=address_of,
    )


def compare(shelf: Shelf, request: Request) -> str:
    """`/compare?a=NAME&b=NAME`; without both, the form to choose them."""
    names = [line.name for line in shelf.lines() if line.trouble is None]
    a, b = request.query_params.get("a", ""), request.query_params.get("b", "")
    if not a or not b:
        return render("compare.html", names=names, a_name=a, b_name=b, page=None, links=None)
    one, other = shelf.followed(a), shelf.followed(b)
    if one is None or other is None:
        raise NotThere(f"there is no run {a if one is None else b!r} here")
    page = compare_page(one, other)
    known = (site_links(address_of(a), one), site_links(address_of(b), other))
    return render(
        "compare.html",
        names=names,
        a_name=a,
        b_name=b,
        page=page,
        links=known[0],
        links_a=known[0],
        links_b=known[1],
    )


def site_links(base: str, run: Followed) -> SiteLinks:
    """The addresses of a run's things."""
    opened = run.state.opened
    documents = frozenset(document.id for document in opened.context) if opened else frozenset[str]()
    return SiteLinks(base, run.book().by_id, documents)
