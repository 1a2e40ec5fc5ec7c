"""Two hundred hostile texts in every field: no script runs, no request leaves, and the layout stands."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger.events import KINDS
from ledger.store.store import RunStore
from moot.api import open_run
from moot.web.report import report_html
from tests.web.conftest import PAGE_MS
from tests.web.hostile import TEXTS, every_kind, ledger, paths_of
from tests.web.viewer import Viewer, viewer

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page, Request, Route

WIDTHS = (1200, 360)
TABS = (
    "",
    "/live",
    "/rounds",
    "/rounds/1",
    "/claims",
    "/decisions",
    "/signals",
    "/seats",
    "/check",
    "/report",
)
MORE = ("/log?page=2", "/log?kind=claim", "/log?kind=concern", "/log?kind=vote", "/document/K-1", "/event/@0")
UNSEEN = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x1B, 0x200B, 0x2028]
DISTURBED = """() => [
  window.hit === undefined ? null : 'a script ran',
  document.documentElement.scrollWidth > innerWidth + 1 ? `as wide as ${document.documentElement.scrollWidth}` : null,
  document.querySelector('main') && document.querySelector('main').offsetHeight > 20 ? null : 'nothing is shown',
  document.querySelectorAll('body > header, body > main, body > footer, body > .runhead, body > .skip').length
    === document.body.children.length ? null : 'something broke out',
  document.querySelectorAll('main script, main iframe, main object, main embed, main style, main img, main video,'
    + ' main form[action^="http"], main base, main meta, main link, main marquee, main [onerror], main [style]').length
    ? 'markup of a text became an element' : null,
].filter(Boolean)"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    ledger(folder / "hostile")
    return folder


@pytest.fixture(scope="module")
def serving(hostile: Path) -> Generator[Viewer]:
    with viewer(hostile) as answering:
        yield answering


def test_there_are_two_hundred_texts_and_every_kind_holds_them(hostile: Path) -> None:
    assert len(set(TEXTS)) >= 200
    events = every_kind()
    assert {event.kind for event in events} == set(KINDS)
    assert sum(len(paths_of(event)) for event in events) > 100
    held = RunStore(hostile / "hostile").events()
    claims = [event.text for event in held if event.kind == "claim"]
    assert set(claims) >= {text for text in TEXTS if len(text) <= 8_000 and text.strip()} - {TEXTS[0]}


def watched(page: Page) -> list[str]:
    """What must not happen, as it happens."""
    trouble: list[str] = []

    def asked(route: Route, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1", "file://")):
            trouble.append(f"a request left: {request.url}")
            route.abort()
        else:
            route.continue_()

    page.route("**/*", asked)

    def asks(dialog: Dialog) -> None:
        trouble.append("a dialog")
        dialog.dismiss()

    page.on("dialog", asks)
    page.on("popup", lambda popup: trouble.append(f"a window: {popup.url}"))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    return trouble


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_runs_nothing_leaves_and_the_layout_stands(
    chromium: Browser, serving: Viewer, width: int
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 800})
    context.set_default_timeout(PAGE_MS)
    page = context.new_page()
    trouble = watched(page)
    for tab in (*TABS, *(MORE if width == min(WIDTHS) else ())):
        page.goto(f"{serving.url}run/hostile{tab}")
        if tab == "/live":
            page.wait_for_selector('#live-link[data-state="on"]')
        if tab != "/report":
            assert page.evaluate(DISTURBED) == [], tab
        assert trouble == [], tab
    page.goto(serving.url)
    assert page.evaluate(DISTURBED) == []
    assert trouble == []
    context.close()


def test_every_text_is_shown_as_text(page: Page, serving: Viewer, hostile: Path) -> None:
    trouble = watched(page)
    claims = [event for event in RunStore(hostile / "hostile").events() if event.kind == "claim"]
    for event in claims[-len(TEXTS) :: 12]:
        page.goto(f"{serving.url}run/hostile/event/{event.id}")
        assert page.evaluate(DISTURBED) == [], event.text[:80]
        shown = page.locator("main").inner_text()
        first = event.text.split()[0][:30] if event.text.split() else ""
        assert not first.isascii() or first in shown
        assert not any(chr(code) in shown for code in UNSEEN)
    assert trouble == []


def test_hostile_questions_of_a_search_stay_text(page: Page, serving: Viewer) -> None:
    trouble = watched(page)
    for text in TEXTS[:60:8]:
        page.goto(serving.url)
        page.fill("#q", text.replace("\n", " ")[:190])
        page.press("#q", "Enter")
        page.wait_for_load_state()
        assert page.evaluate(DISTURBED) == []
    assert trouble == []


def test_the_report_of_it_is_as_quiet(chromium: Browser, hostile: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_html(open_run(hostile / "hostile")), "utf-8")
    context = chromium.new_context(viewport={"width": 1000, "height": 800}, offline=True)
    context.set_default_timeout(PAGE_MS)
    page = context.new_page()
    trouble = watched(page)
    page.goto(file.as_uri())
    assert page.evaluate("() => window.hit") is None
    assert (
        page.evaluate(
            "() => document.querySelectorAll('main script, main img, main iframe, main [style]').length"
        )
        == 0
    )
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth + 1")
    assert trouble == []
    context.close()


def test_a_run_s_name_is_only_a_name(page: Page, hostile: Path, tmp_path: Path) -> None:
    (tmp_path / "<img src=x onerror=window.hit=1>").symlink_to(hostile / "hostile")
    (tmp_path / "a b&c='d'#e?f").symlink_to(hostile / "hostile")
    with viewer(tmp_path) as serving:
        trouble = watched(page)
        page.goto(serving.url)
        links = page.locator(".run th[scope=row] > a")
        assert links.count() == 2
        for n in range(2):
            page.goto(serving.url)
            links.nth(n).click()
            page.wait_for_selector(".tabs")
            assert page.evaluate(DISTURBED) == []
        assert trouble == []
