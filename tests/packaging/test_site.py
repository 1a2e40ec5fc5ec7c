"""The site: strict, complete, and with nothing fetched from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from moot.cli import VERBS
from tests.packaging.site import PAGES, ROOT


@pytest.mark.slow  # asks every verb for its help, and builds
def test_the_site_builds_without_a_warning_fetches_nothing_and_names_what_it_does_not_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.packaging.site"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "WARNING" not in said.replace("NO_MKDOCS_2_WARNING", "")
    site = ROOT / "build" / "site"
    pages = {
        page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in (ROOT / "docs").rglob("*.md")
    }
    built = {page.relative_to(site).with_suffix("").as_posix() for page in site.rglob("*.html")}
    assert pages | {"index", "changelog", "contributing", "security", "reference/commands"} <= built
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    assert all(f'id="moot-{verb.name}"' in commands for verb in VERBS)
    for page in site.rglob("*.html"):
        fetched = re.findall(r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)"', page.read_text("utf-8"))
        fetched += re.findall(
            r'<link[^>]+rel="stylesheet"[^>]+href="(https?:[^"]+)"', page.read_text("utf-8")
        )
        assert fetched == [], page
    text = (PAGES / "index.md").read_text("utf-8")
    assert "](docs/" not in text
    assert "](seats.md)" in text
    assert "](LICENSE)" not in text
