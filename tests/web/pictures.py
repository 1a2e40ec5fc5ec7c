"""The screenshots of docs/viewer.md: `python -m tests.web.pictures [RUNS]`, or `make pictures`.

They are taken of the recorded runs, in Debian's Chromium, at one size, in the light.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Final

from ledger.state.decided import final_in_force
from moot.api import open_run
from tests.recorded import protocol_of
from tests.web.viewer import ROOT, viewer

PLACE: Final = ROOT / "docs" / "pictures"
PICTURES: Final = (
    ("overview", "", 1080, 820),
    ("round", "/rounds/2", 1080, 820),
    ("evidence", "/event/{decision}#graph", 1080, 720),
    ("signals", "/signals", 1080, 640),
)
"""Name, address within the run, width and height in pixels."""


def main(runs: Path) -> None:
    """Take every picture of the first recorded run of `structured`."""
    from playwright.sync_api import sync_playwright

    run = next(
        head.parent for head in sorted(runs.glob("*/head")) if protocol_of(head.parent) == "structured"
    )
    decision, *_ = final_in_force(open_run(run).state)

    path = shutil.which("chromium")
    if path is None:
        raise SystemExit("no chromium here: `make chromium` installs Debian's, as root")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    PLACE.mkdir(exist_ok=True)
    with viewer(runs) as serving, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=sandbox)
        for name, page, width, height in PICTURES:
            context = browser.new_context(
                viewport={"width": width, "height": height}, reduced_motion="reduce"
            )
            shown = context.new_page()
            shown.goto(f"{serving.url}run/{run.name}{page.format(decision=decision)}")
            shown.screenshot(path=PLACE / f"{name}.png")
            context.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "runs" / "examples")
