"""Every page of every run: it is there, everything on it leads somewhere, and it asks nobody outside for anything."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from ledger.events import Claim
from ledger.store.store import RunStore
from moot.__main__ import main
from moot.api import open_run
from moot.view import marks
from moot.view.stop_checks import why_it_stopped
from moot.view.story import tell
from moot.web.report import report_html
from tests.recorded import recorded_names, run_of
from tests.web.viewer import Viewer, viewer

NAMES = ("recorded", "scripted", "begun", "sample")
TABS = ("", "/live", "/rounds", "/claims", "/decisions", "/signals", "/seats", "/log", "/check", "/report")
LINKS_MAX = 150
ALIKE_MAX = 120
"""Pages of one sort, such as those of events, that links of a run are followed to."""


class Seen(HTMLParser):
    """Links, anchors and what a page loads."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.loads: list[str] = []
        self.inline: list[str] = []
        self.without_lines = "is not among the blobs of this run" in html
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if "id" in found:
            assert found["id"] not in self.ids, f"two elements are called {found['id']!r}"
            self.ids.add(found["id"])
        if tag == "a":
            self.links.append(found["href"])
        self.loads += [found[name] for name in ("src", "srcset", "action") if name in found]
        self.loads += [found["href"]] if tag == "link" else []
        self.inline += [name for name in found if name == "style" or name.startswith("on")]
        self.inline += ["script"] if tag == "script" and "src" not in found else []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tab", TABS)
def test_every_page_is_there_and_asks_nobody_outside(served: Viewer, name: str, tab: str) -> None:
    answer = served.get(f"/run/{name}{tab}")
    assert answer.status == 200, answer.body[-500:]
    page = Seen(answer.body)
    assert page.inline == []
    assert all(
        link.startswith(("/", "#")) and not link.startswith("//") for link in (*page.links, *page.loads)
    )
    assert page.ids >= {"main"}


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow) if one == "recorded" else one for one in NAMES]
)
def test_every_link_leads_somewhere(served: Viewer, name: str) -> None:
    pages: dict[str, Seen] = {}
    sorts: Counter[str] = Counter()

    def page_at(path: str) -> Seen:
        if path not in pages:
            answer = served.get(path)
            assert answer.status == 200, f"{path} is {answer.status}"
            pages[path] = Seen(answer.body)
        return pages[path]

    for link, on in _links(page_at, f"/run/{name}"):
        parts = urlsplit(link)
        path = (parts.path or urlsplit(on).path) + (f"?{parts.query}" if parts.query else "")
        sort = path.rpartition("/")[0]
        if path not in pages and sorts[sort] == ALIKE_MAX:
            continue
        sorts[sort] += path not in pages
        anchor = parts.fragment.partition(":~:")[0]
        found = page_at(path)
        known = not anchor or unquote(anchor) in found.ids or anchor in found.ids or found.without_lines
        assert known, f"{link} on {on}"
    assert len(pages) > 20


def _links(page_at: object, start: str) -> Iterator[tuple[str, str]]:
    assert callable(page_at)
    waiting, met = [start], {start}
    while waiting:
        on = waiting.pop(0)
        for link in page_at(on).links:
            yield link, on
            path = link.partition("#")[0]
            if path.startswith("/run/") and path not in met and len(met) < LINKS_MAX:
                met.add(path)
                waiting.append(path)


@pytest.mark.parametrize("name", ["recorded", "scripted", "sample"])
def test_the_page_says_what_the_terminal_says(served: Viewer, runs: Path, name: str) -> None:
    ours = RunStore(runs / name).book()
    story = tell(ours)
    page = served.get(f"/run/{name}").body
    assert why_it_stopped(ours.state).replace("'", "&#39;") in page
    for label in story.labels:
        assert f"<strong>{label.kind}</strong>" in page
    claims = served.get(f"/run/{name}/claims").body
    for claim in story.claims:
        row = claims.split(f'<th scope="row"><a class="id" href="/run/{name}/event/{claim.id}"')[1].partition(
            "</tr>"
        )[0]
        assert marks.STATUSES[claim.status].word in row


def test_what_must_be_known_stands_before_the_question(served: Viewer) -> None:
    page = served.get("/run/sample").body
    assert page.index("<strong>DEGRADED</strong>") < page.index("<h1>")
    assert page.index("<strong>ALARM</strong>") < page.index("<h1>")


def test_two_clicks_lead_from_the_list_to_why_and_to_the_sentence(served: Viewer) -> None:
    first = Seen(served.get("/").body)
    assert "/run/recorded" in first.links
    overview = served.get("/run/recorded").body
    assert "why it stopped" in overview
    quoted = re.search(r'<figcaption>[^<]*<a class="id" href="([^"]+)"', overview)
    assert quoted is not None
    target = urlsplit(quoted[1])
    there = served.get(target.path).body
    anchor = target.fragment.partition(":~:")[0]
    words = unquote(target.fragment.partition(":~:text=")[2])
    assert words
    assert f'id="{anchor}"' in there
    assert words in unescape(re.sub(r"<[^>]+>", "", there.split(f'id="{anchor}"')[1]))


def test_the_list_is_searched_and_forks_stand_beside_their_parent(served: Viewer) -> None:
    everything = served.get("/").body
    assert all(f"/run/{name}" in everything for name in NAMES)
    found = served.get("/?q=audit+ledger").body
    assert "/run/recorded" in found
    assert "/run/scripted" not in found
    assert "None of" in served.get("/?q=%3Cscript%3E").body


def test_a_run_is_searched(served: Viewer) -> None:
    found = served.get("/run/recorded/log?q=database+restore").body
    everything = served.get("/run/recorded/log").body
    count = re.compile(r'Log <span class="faint">(\d+) events')
    some, whole = count.search(found), count.search(everything)
    assert some is not None
    assert whole is not None
    assert 0 < int(some[1]) < int(whole[1])
    assert "No event matches" in served.get("/run/recorded/log?q=zebrafish").body


def test_a_brief_is_shown_with_its_verdict(served: Viewer) -> None:
    page = served.get("/run/recorded/brief/r3.D.critic").body
    assert "derived again from the ledger: the same hash" in page
    assert "trusted: the seat could have read more" in page
    assert "UNVERIFIED" in served.get("/run/sample/brief/r1.B.action").body


def test_sealed_positions_stay_closed_until_their_verdict(served: Viewer, runs: Path) -> None:
    from ledger.events import Position

    book = RunStore(runs / "sample").book()
    sealed = [one for one in book.of(Position) if one.on not in book.by_id]
    opened = [one for one in book.of(Position) if one.on in book.by_id]
    assert opened
    page = served.get("/run/sample/rounds/1").body
    assert all(one.reason.replace("'", "&#39;")[:40] in page for one in opened if one.round == 1)
    for one in sealed:
        assert one.reason not in served.get(f"/run/sample/rounds/{one.round}").body


def test_two_runs_side_by_side(served: Viewer) -> None:
    same = served.get("/compare?a=recorded&b=recorded").body
    assert "line by line" in same
    other = served.get("/compare?a=recorded&b=scripted").body
    assert "two questions" in other
    assert served.get("/compare?a=recorded&b=nothing").status == 404


def test_a_fork_stands_beside_its_parent_with_the_point_of_departure(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "scripted", tmp_path / "parent")
    assert main(["fork", str(tmp_path / "parent"), "--round", "2", "--seats", "host", "--quiet"]) == 0
    (child,) = [place for place in tmp_path.iterdir() if place.name != "parent"]
    shared = RunStore(child).book().state
    assert shared.opened is not None
    at = shared.opened.origin.seq
    with viewer(tmp_path) as serving:
        listed = serving.get("/").body
        assert f"a fork after event {at} of" in listed
        assert f"forks off after event {at}" in listed
        assert f"/compare?a=parent&amp;b={child.name}" in listed
        beside = serving.get(f"/compare?a=parent&b={child.name}").body
        assert f"b is a fork of a after event {at}" in beside
        assert f"They part at event <strong>{(at or 0) + 1}</strong>" in beside


@pytest.mark.parametrize("name", recorded_names())
def test_the_report_of_every_recorded_run_can_be_mailed(name: str) -> None:
    run = open_run(run_of(name))
    if not run.state.finished:
        pytest.skip("it is still being recorded")
    document = report_html(run)
    assert len(document.encode()) < 1_500_000
    page = Seen(document)
    assert page.inline == []
    assert page.loads == []
    known = {*page.ids, *map(unquote, page.ids)}
    assert [link for link in page.links if not link.startswith("#") or unquote(link[1:]) not in known] == []


def test_a_search_shows_the_words_that_it_found(served: Viewer) -> None:
    page = served.get("/run/recorded/log?q=database+restore").body
    assert "<mark>" in page
    assert all(word in ("database", "restore") for word in re.findall(r"<mark>(.*?)</mark>", page.casefold()))
    assert "<mark>" not in served.get("/run/recorded/log").body


def test_a_card_says_what_an_id_is(served: Viewer, runs: Path) -> None:
    book = RunStore(runs / "recorded").book()
    card = served.get("/run/recorded/card/C-1-1")
    assert card.status == 200
    assert '<strong class="id">C-1-1</strong>' in card.body
    assert f"&nbsp;{marks.claim_mark(book, 'C-1-1').word}</span>" in card.body
    claim = book.by_id["C-1-1"]
    assert isinstance(claim, Claim)
    assert claim.text in unescape(card.body)
    assert "<html" not in card.body
    assert served.get("/run/recorded/card/C-99-1").status == 404
