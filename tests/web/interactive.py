"""How long a run's pages take until a visitor can use them: `python -m tests.web.interactive [RUN] [N]`.

Each page is opened N times in Debian's Chromium with an empty cache; the figure is from the request to the end of
DOMContentLoaded, when all is parsed and the script has run, in milliseconds: median and worst.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
from typing import Final

from tests.web.viewer import ROOT, viewer

PAGES: Final = (
    "",
    "/live",
    "/rounds",
    "/claims",
    "/decisions",
    "/signals",
    "/seats",
    "/log",
    "/check",
    "/event/D-1-1",
)
MEASURED: Final = "() => performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"


def main(run: str, times: int) -> None:
    """Print a line a page."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("no chromium here: `make chromium` installs Debian's, as root")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with viewer(ROOT / "runs" / "examples") as serving, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=sandbox)
        for page in PAGES:
            took = sorted(
                _opened(browser.new_context(), f"{serving.url}run/{run}{page}") for _ in range(times)
            )
            print(
                f"{page or '/':16} n={times} median {statistics.median(took):5.0f} ms, worst {took[-1]:5.0f} ms"
            )
        browser.close()


def _opened(context: object, url: str) -> float:
    from playwright.sync_api import BrowserContext

    assert isinstance(context, BrowserContext)
    page = context.new_page()
    page.goto(url)
    took: float = page.evaluate(MEASURED)
    context.close()
    return took


if __name__ == "__main__":
    name = sys.argv[1] if len(sys.argv) > 1 else "crux-balance"
    main(name, int(sys.argv[2]) if len(sys.argv) > 2 else 20)
