"""Every page in a real browser: accessible by axe, usable at 360 px, without JavaScript, by keyboard, in the dark."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from moot.api import open_run
from moot.studies.report import report_of
from moot.web.report import report_html, study_page
from tests.long_run import long_run
from tests.protocols.playing import played
from tests.slowly import mostly_slow
from tests.studies.scripted import arm, filled, written
from tests.web.conftest import PAGE_MS
from tests.web.viewer import Viewer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TABS = (
    "",
    "/live",
    "/rounds",
    "/rounds/1",
    "/claims",
    "/decisions",
    "/event/D-1-1",
    "/event/V-1-1",
    "/event/C-1-1",
    "/event/A-1-critic",
    "/event/@0",
    "/signals",
    "/seats",
    "/brief/r1.B.action",
    "/document/K-1",
    "/log",
    "/check",
    "/report",
)
PAGES = (
    "",
    "run/crux",
    "compare",
    "compare?a=recorded&b=scripted",
    "nowhere",
    *(f"run/sample{tab}" for tab in TABS),
)
RECORDED = tuple(f"run/recorded{tab}" for tab in (*TABS, "/event/D-13-3", "/rounds/4"))
GRAVE = ("serious", "critical")
LIGHT_AND_DARK = ("light", "dark")


@pytest.fixture(scope="module")
def axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


@pytest.fixture(params=[("light", 1200), ("dark", 360)], ids=["light-1200", "dark-360"])
def looking(chromium: Browser, request: pytest.FixtureRequest) -> Generator[Page]:
    scheme, width = request.param
    context = chromium.new_context(
        viewport={"width": width, "height": 800},
        color_scheme=scheme,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    context.set_default_timeout(PAGE_MS)
    yield context.new_page()
    context.close()


@pytest.mark.slow  # every page, twice
def test_axe_finds_nothing_serious_on_any_page(looking: Page, served: Viewer, axe: str) -> None:
    assert violations(looking, served, axe, PAGES) == []


@pytest.mark.campaign
def test_nor_on_those_of_a_recorded_run(looking: Page, served: Viewer, axe: str) -> None:
    assert violations(looking, served, axe, RECORDED) == []


def mailed(folder: Path) -> str:
    """The page of a small study; where it is."""
    arms = arm("single", "single-pass") + arm("council", "council")
    found = report_of(filled(written(folder, arms)), {"one": "O-1", "two": "O-2"})
    (folder / "study.html").write_text(study_page(found), "utf-8")
    return folder.as_uri() + "/"


@pytest.mark.slow  # a study is played
def test_nor_on_the_page_of_a_study_nor_is_it_wider_than_a_phone(
    looking: Page, axe: str, tmp_path: Path
) -> None:
    with ThreadPoolExecutor(1) as apart:  # this thread has the browser's loop
        base = apart.submit(mailed, tmp_path).result()
    assert violating(looking, axe, base, ("study.html",)) == []
    assert looking.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0


def violations(page: Page, served: Viewer, axe: str, paths: tuple[str, ...]) -> list[str]:
    return violating(page, axe, served.url, paths)


def violating(page: Page, axe: str, base: str, paths: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for path in paths:
        page.goto(base + path)
        page.evaluate(axe)
        result: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
        for one in result["violations"]:
            node = one["nodes"][0]
            if one["impact"] in GRAVE:
                found.append(f"{path}: {one['id']} {node['html'][:160]} {node['failureSummary'][:200]}")
    return found


BOXES = """() => [...document.querySelectorAll('form.filter > *')].map(one => {
  const own = one.getBoundingClientRect(), inner = [...one.children].map(child => child.getBoundingClientRect());
  return [own.top, own.left, Math.max(own.right, ...inner.map(box => box.right))] })"""
"""Top, left and right edge of each part of the filter, what sticks out of it counted."""


@pytest.mark.parametrize("width", [900, 1200, 1600])
def test_no_part_of_the_filter_covers_its_neighbor(width: int, page: Page, served: Viewer) -> None:
    """The box for words was 35 px wider than its place, at every width of a desktop."""
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(served.url)
    boxes: list[list[float]] = page.evaluate(BOXES)
    assert len(boxes) >= 4
    for (top, _, right), (following, left, _) in pairwise(boxes):
        assert left >= right or following > top + 10


@pytest.mark.slow  # every page
def test_no_page_is_wider_than_a_phone(chromium: Browser, served: Viewer) -> None:
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    context.set_default_timeout(PAGE_MS)
    page = context.new_page()
    for path in (*PAGES, *RECORDED):
        page.goto(served.url + path)
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 360, path
    context.close()


def test_pages_work_without_javascript(chromium: Browser, served: Viewer) -> None:
    context = chromium.new_context(java_script_enabled=False)
    context.set_default_timeout(PAGE_MS)
    page = context.new_page()
    page.goto(served.url)
    page.fill("#q", "audit ledger")
    page.press("#q", "Enter")
    page.get_by_role("link", name="which storage keeps every line of an audit").click()
    assert "why it stopped" in page.locator("main").inner_text()
    proof = page.locator("details.proof", has=page.locator("figcaption a")).first
    proof.locator("summary").first.click()
    proof.locator("figcaption a").first.click()
    page.wait_for_selector(":target")
    assert page.locator(":target").count() == 1
    page.get_by_role("link", name="Claims", exact=True).click()
    page.select_option("#status", "tested_unclear")
    page.get_by_role("button", name="Show").click()
    assert "status=tested_unclear" in page.url
    page.goto(f"{served.url}run/recorded/live")
    assert page.locator(".columns .seat").count() == 4
    assert "Without JavaScript" in page.locator("noscript").inner_text()
    context.close()


def test_a_keyboard_is_enough(page: Page, served: Viewer) -> None:
    page.goto(f"{served.url}run/recorded")
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def test_an_id_says_what_it_is_to_the_pointer_and_to_the_keyboard(page: Page, served: Viewer) -> None:
    page.goto(f"{served.url}run/recorded/claims")
    link = page.locator("main a.id").first
    card = page.locator("#hover")
    link.hover()
    card.wait_for(state="visible")
    assert (link.text_content() or "").strip() in card.inner_text()
    assert page.evaluate("() => hover.getBoundingClientRect().right <= innerWidth")
    page.keyboard.press("Escape")
    card.wait_for(state="hidden")
    page.locator("main a.id").nth(3).focus()
    card.wait_for(state="visible")
    assert page.evaluate("() => document.activeElement.getAttribute('aria-describedby')") == "hover"


def test_the_list_is_sorted_and_filtered_with_a_script_and_without(chromium: Browser, served: Viewer) -> None:
    from playwright.sync_api import expect

    for script in (True, False):
        context = chromium.new_context(java_script_enabled=script)
        context.set_default_timeout(PAGE_MS)
        page = context.new_page()
        page.goto(served.url)
        page.get_by_role("columnheader", name="replies").get_by_role("link").click()
        # a click or a key that leads to another page returns before that page is there
        expect(page.locator("th[aria-sort=ascending]")).to_contain_text(
            re.compile("^replies"), timeout=PAGE_MS
        )
        column = page.locator("table.runs tbody td:nth-child(5)")
        replies = [int((text or "0").split()[0]) for text in column.all_text_contents()]
        assert replies == sorted(replies)
        page.fill("#q", "audit ledger")
        if not script:
            page.press("#q", "Enter")
        rows = page.locator("table.runs tbody tr").locator("visible=true")
        expect(rows).to_have_count(1, timeout=PAGE_MS)
        page.goto(served.url)
        every = rows.count()
        page.select_option("#protocol", "structured")
        page.select_option("#status", "waiting")
        if not script:
            page.get_by_role("button", name="Show").click()
            page.wait_for_url("**status=waiting*")
        assert 1 <= rows.count() < every
        context.close()


def test_the_line_that_answers_a_question_is_copied(chromium: Browser, served: Viewer) -> None:
    context = chromium.new_context(permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(PAGE_MS)
    page = context.new_page()
    page.goto(f"{served.url}run/recorded")
    code = page.locator(".command code").first
    page.locator(".command button").first.click()
    page.wait_for_function("() => document.querySelector('.command button').textContent === 'copied'")
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == code.inner_text()
    assert copied.startswith("moot answer ")
    context.close()


def test_the_tabs_stay_in_sight(page: Page, served: Viewer) -> None:
    page.goto(f"{served.url}run/recorded/claims")
    page.evaluate("() => scrollTo(0, 4000)")
    assert page.locator("nav.tabs").evaluate("one => one.getBoundingClientRect().top") < 5
    page.goto(f"{served.url}run/recorded#stands")
    below = page.locator(".bar").evaluate("one => one.getBoundingClientRect().bottom")
    assert page.locator("#stands").evaluate("one => one.getBoundingClientRect().top") >= below


def test_motion_stops_for_those_who_ask(chromium: Browser, served: Viewer) -> None:
    wishes: tuple[tuple[Literal["reduce", "no-preference"], str], ...] = (
        ("reduce", "none"),
        ("no-preference", "breathe"),
    )
    for wish, expected in wishes:
        context = chromium.new_context(reduced_motion=wish)
        context.set_default_timeout(PAGE_MS)
        page = context.new_page()
        page.goto(f"{served.url}run/begun/live")
        assert page.locator(".dots").first.evaluate("one => getComputedStyle(one).animationName") == expected
        context.close()


@pytest.mark.parametrize("scheme", LIGHT_AND_DARK)
def test_the_colours_follow_the_visitor(chromium: Browser, served: Viewer, scheme: Any) -> None:
    context = chromium.new_context(color_scheme=scheme)
    context.set_default_timeout(PAGE_MS)
    page = context.new_page()
    page.goto(served.url)
    background = page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor")
    light = sum(int(part) for part in background.strip("rgb()").split(",")) > 384
    assert light == (scheme == "light")
    context.close()


def heard(page: Page) -> tuple[list[str], list[str]]:
    """Addresses that the page asks for, and what it complains of, as they come."""
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    return asked, complaints


def test_a_report_opens_from_disk_without_a_network_and_prints(
    chromium: Browser, runs: Path, tmp_path: Path
) -> None:
    for name in ("recorded", "scripted", "sample", "begun"):
        file = tmp_path / f"{name}.html"
        file.write_text(report_html(open_run(runs / name)), "utf-8")
        assert file.stat().st_size < 1_500_000
        assert "<script" not in file.read_text("utf-8")
        context = chromium.new_context(offline=True, java_script_enabled=False)
        context.set_default_timeout(PAGE_MS)
        page = context.new_page()
        asked, complaints = heard(page)
        page.goto(file.as_uri())
        assert asked == [file.as_uri()]
        assert complaints == []
        assert page.locator("#why").is_visible()
        printed = page.pdf(format="A4")
        assert printed.startswith(b"%PDF-")
        assert len(printed) > 10_000
        context.close()


@pytest.mark.parametrize(
    "run_of",
    mostly_slow(
        (
            partial(played, "panel"),
            long_run,
            partial(played, "comparative"),
        ),
        quick=1,
    ),
)
def test_a_report_has_at_most_four_pages_on_paper(
    page: Page, tmp_path: Path, run_of: Callable[[], Path]
) -> None:
    from moot.view.annexes import annexes_of

    run = open_run(run_of())
    file = tmp_path / "report.html"
    file.write_text(report_html(run), "utf-8")
    page.goto(file.as_uri())
    assert page.locator("#claims").is_visible()
    titles = [annex.title for annex in annexes_of(run.book)]
    assert page.locator("section.annex > h2").all_inner_texts() == titles
    printed = page.pdf(format="A4")
    assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 4
