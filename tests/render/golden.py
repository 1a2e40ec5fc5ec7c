"""Golden texts: what a screen shows, one file per kind of screen under tests/golden/, a section per text.

`MOOT_WRITE_GOLDEN=1 pytest -p no:xdist …` writes them anew, to be read in the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

DIRECTORY = Path(__file__).resolve().parent.parent / "golden"
HEAD = "=" * 8 + " "


def agrees(kind: str, name: str, text: str) -> None:
    """Assert that `text`, without the spaces at the ends of its lines, is section `name` of tests/golden/`kind`.txt."""
    path = DIRECTORY / f"{kind}.txt"
    shown = "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n")) + "\n"
    if os.environ.get("MOOT_WRITE_GOLDEN") == "1":
        sections = (_sections(path) if path.exists() else {}) | {name: shown}
        path.write_text("".join(f"{HEAD}{key}\n{sections[key]}" for key in sorted(sections)), "utf-8")
    assert shown == _sections(path)[name]


def _sections(path: Path) -> dict[str, str]:
    sections: dict[str, str] = {}
    name = ""
    for line in path.read_text("utf-8").splitlines(keepends=True):
        if line.startswith(HEAD):
            name = line.removeprefix(HEAD).strip()
            sections[name] = ""
        else:
            sections[name] += line
    return sections
