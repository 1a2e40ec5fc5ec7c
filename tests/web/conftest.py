"""A viewer over runs of every sort, and a real Chromium where there is one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.long_run import long_run
from tests.protocols.crux_seats import begin as begin_crux, contested, play as play_crux
from tests.render.sample import Scribe, sample
from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script
from tests.web.kept import kept
from tests.web.live_run import aside
from tests.web.viewer import Viewer, viewer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]


PAGE_MS = 150_000
"""How long a page may take on a machine that has other work; how fast it is, is measured elsewhere."""


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A long run, a scripted one, one that goes on, one that shows all, one with beliefs, a damaged one."""
    folder = tmp_path_factory.mktemp("runs")
    shutil.copytree(long_run(), folder / "recorded")
    scripted = rows(3, absent={2: "critic"}, drift=[3])
    aside(lambda: play(begin(folder / "scripted", scripted), Script(seed=3)))
    begin(folder / "begun", rows(2))
    scribe: Scribe = sample()
    kept(folder / "sample", scribe.events)
    aside(lambda: play_crux(begin_crux(folder / "crux"), contested("document", "person")))
    kept(folder / "damaged", scribe.events)
    claims = folder / "damaged" / "claims.jsonl"
    claims.write_bytes(claims.read_bytes().replace(b'"by":"critic"', b'"by":"observer"', 1))
    return folder


@pytest.fixture(scope="session")
def served(runs: Path) -> Generator[Viewer]:
    with viewer(runs) as answering:
        yield answering


@pytest.fixture(scope="module")
def chromium() -> Generator[Browser]:
    """Debian's Chromium, which `make test` installs when it may. For one module: its driver holds an event loop."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no chromium here: `make chromium` installs Debian's, as root")
    from playwright.sync_api import sync_playwright

    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=sandbox)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Generator[Page]:
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    context.set_default_timeout(PAGE_MS)
    yield context.new_page()
    context.close()
