"""The whole viewer as files: every page of every run, with links that work from disk, without a server.

Pages are those of the server, and their addresses become relative ones. What only a server can do is not there: to
follow a run that goes on, to compare any two, to choose by a form (a script filters what the page has).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape, unescape
from importlib.resources import files
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from starlette.requests import Request

from moot.view.marks import STATUSES
from moot.web.app import PAGES, STATIC
from moot.web.followed import Followed
from moot.web.links import address_of
from moot.web.run_index import RunIndex, RunLine

ADDRESS: Final = re.compile(r'(?<=[ ])(href|action|src)="(/[^"]*)"')
"""An attribute that leads to another page; in a text of the ledger every quotation mark is escaped."""
UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.~@-]")
TABS: Final = ("", "/rounds", "/claims", "/decisions", "/signals", "/seats", "/log", "/check", "/report")
MADE: Final = dict(PAGES)


@dataclass(frozen=True, slots=True)
class PageToWrite:
    """A page of the server that becomes a file: its address, its route, what its route and its query name."""

    address: str
    route: str
    params: Mapping[str, object]
    query: str = ""

    def html(self, index: RunIndex) -> str:
        """The page as the server would make it."""
        query = "&".join(filter(None, (self.query, "static=1"))).encode()
        scope: dict[str, Any] = {
            "type": "http",
            "query_string": query,
            "path_params": dict(self.params),
            "headers": [],
        }
        return MADE[self.route](index, Request(scope))


def export(root: Path, out: Path, say: Callable[[str], object] = lambda _: None) -> int:
    """Write the pages of all runs under `root` into `out`; how many files that are."""
    index = RunIndex(root)
    aliases: dict[str, str] = {}
    planned = list(_planned(index, aliases))
    known = {one.address: _file(one.address) for one in planned}
    for one in planned:
        if one.route == "/run/{name}":
            say(str(one.params["name"]))
        _write(
            out / known[one.address], _relative(one.html(index), known[one.address], known, aliases).encode()
        )
    for name in STATIC:
        _write(out / "static" / name, files("moot.web").joinpath("static", name).read_bytes())
    return len(planned) + len(STATIC)


def _write(place: Path, content: bytes) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


def _planned(index: RunIndex, aliases: dict[str, str]) -> Iterator[PageToWrite]:
    lines = [line for line in index.lines() if line.trouble is None]
    yield PageToWrite("/", "/", {})
    for line in lines:
        run = index.followed(line.name)
        if run is not None:
            yield from _of_run(line.name, run, aliases)
    yield from _comparisons(lines)


def _of_run(name: str, run: Followed, aliases: dict[str, str]) -> Iterator[PageToWrite]:
    base, route = address_of(name), "/run/{name}"
    for tab in TABS:
        yield PageToWrite(base + tab, route + tab, {"name": name}, "whole=1")
    for number in run.state.rounds:
        params = {"name": name, "number": number}
        yield PageToWrite(f"{base}/rounds/{number}", route + "/rounds/{number:int}", params)
    for event in run.book().events:
        identity = event.id or f"@{event.seq}"
        aliases[f"{base}/event/@{event.seq}"] = f"{base}/event/{identity}"
        params = {"name": name, "identity": identity}
        yield PageToWrite(f"{base}/event/{identity}", route + "/event/{identity}", params)
    for step in run.state.answered:
        yield PageToWrite(f"{base}/brief/{step}", route + "/brief/{step}", {"name": name, "step": step})
    for document in run.opened.context:
        params = {"name": name, "identity": document.id}
        yield PageToWrite(f"{base}/document/{document.id}", route + "/document/{identity}", params)


def _comparisons(lines: list[RunLine]) -> Iterator[PageToWrite]:
    """A fork beside its parent, where both are there."""
    names = {line.name for line in lines}
    for line in lines:
        if line.forked_from in names:
            query = urlencode({"a": line.forked_from, "b": line.name})
            yield PageToWrite(f"/compare?{query}", "/compare", {}, query)


def _file(address: str) -> str:
    """Where a page is written: `run/NAME/event/C-1-1.html`; a name that no file can have gets a hash."""
    path, _, query = address.partition("?")
    parts = [_safe(unquote(part)) for part in path.strip("/").split("/") if part]
    if query:
        parts.append(_safe(query))
    if not parts or (len(parts) == 2 and parts[0] == "run"):
        parts.append("index")
    return "/".join(parts) + ".html"


def _safe(part: str) -> str:
    clean = UNSAFE.sub("-", part)
    return clean if clean == part else f"{clean}-{sha256(part.encode()).hexdigest()[:6]}"


def _relative(html: str, place: str, known: Mapping[str, str], aliases: Mapping[str, str]) -> str:
    """A page with relative addresses; one that leads to no file leads to the run's first page, or to the list."""
    folder = os.path.dirname(place)

    def rewritten(match: re.Match[str]) -> str:
        link = unescape(match[2])
        parts = urlsplit(link)
        bare = aliases.get(unquote(parts.path), parts.path) if "/@" in unquote(parts.path) else parts.path
        target = known.get(f"{bare}?{parts.query}") or known.get(bare) or known.get(unquote(bare))
        if bare.startswith("/static/"):
            target = bare[1:]
        if target is None:
            target = known.get("/".join(bare.split("/")[:3]), "index.html")
        words = _words(parts.query) if target == known.get(bare) else ""
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        relative = quote(os.path.relpath(target, folder or "."), safe="/@~")
        return f'{match[1]}="{escape(relative + words + fragment)}"'

    return ADDRESS.sub(rewritten, html)


def _words(query: str) -> str:
    """What a form would have chosen, as words for the page's own filter."""
    chosen = [STATUSES[value].word if value in STATUSES else value for _, value in parse_qsl(query)]
    return f"?{urlencode({'q': ' '.join(chosen)})}" if chosen else ""
