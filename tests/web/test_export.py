"""The viewer as files: every link of every page leads to a file that is there, and all works from disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from moot.__main__ import main
from tests.cli.conftest import Moot, moot
from tests.web.test_pages import Seen

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["moot"]
NAMES = ("scripted", "sample")


@pytest.fixture(scope="module")
def exported(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, a fork of one, and a run that cannot be read."""
    root = tmp_path_factory.mktemp("to-export")
    for name in (*NAMES, "damaged"):
        shutil.copytree(runs / name, root / name)
    fork = ["fork", str(root / "scripted"), "--round", "2", "--seats", "host", "--quiet", "--out"]
    assert main([*fork, str(root / "forked")]) == 0
    out = tmp_path_factory.mktemp("exported") / "site"
    assert main(["serve", str(root), "--export", str(out), "--quiet"]) == 0
    return out


def test_every_link_leads_to_a_file_and_to_a_place_in_it(exported: Path) -> None:
    pages = {place: Seen(place.read_text("utf-8")) for place in exported.rglob("*.html")}
    assert len(pages) > 300
    wrong: list[str] = []
    for place, page in pages.items():
        assert page.inline == [] or place.name == "report.html", place
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or parts.path.startswith("/"):
                wrong.append(f"{link} on {place} is no relative address")
                continue
            there = (place.parent / unquote(parts.path)).resolve() if parts.path else place
            if not there.is_file():
                wrong.append(f"{link} on {place} leads nowhere")
            anchor = unquote(parts.fragment.partition(":~:")[0])
            known = pages.get(there)
            if anchor and known and not known.without_lines and not {anchor, parts.fragment} & known.ids:
                wrong.append(f"{link} on {place} names no place")
    assert wrong == []


def test_what_only_a_server_does_is_not_there(exported: Path) -> None:
    page = (exported / "run" / "scripted" / "index.html").read_text("utf-8")
    assert 'href="live.html"' not in page
    assert not (exported / "run" / "scripted" / "live.html").exists()
    assert "cannot be shown" in (exported / "index.html").read_text(
        "utf-8"
    )  # the damaged one is said, not left out
    forks = (exported / "index.html").read_text("utf-8")
    assert 'href="compare/' in forks


def test_it_works_from_disk(page: Page, exported: Path) -> None:
    asked: list[str] = []
    trouble: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.goto((exported / "index.html").as_uri())
    page.locator('th[scope=row] > a[href="run/scripted/index.html"]').click()
    page.fill('input[aria-label="Search this run"]', "claim")
    page.press('input[aria-label="Search this run"]', "Enter")
    page.wait_for_url("**/log.html?q=claim")
    rows = page.locator("table.log tbody tr")
    assert 0 < rows.locator("visible=true").count() < rows.count()
    page.goto((exported / "run" / "scripted" / "claims.html").as_uri())
    page.locator("a.id").first.hover()
    page.wait_for_selector("#hover:not([hidden])")
    assert trouble == []
    assert all(one.startswith("file://") for one in asked)


def test_it_says_what_it_wrote_and_writes_over_nothing(runs: Path, tmp_path: Path, moot: Moot) -> None:
    out = tmp_path / "site"
    said = moot("serve", runs / "sample", "--export", out, "--json")
    assert said.code == 0
    assert json.loads(said.out)["url"] == (out / "index.html").as_uri()
    again = moot("serve", runs / "sample", "--export", out)
    assert again.code == 2
    assert "new or an empty directory" in again.err
