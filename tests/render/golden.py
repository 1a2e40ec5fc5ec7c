"""Golden files: exact texts under tests/golden/. MOOT_WRITE_GOLDEN=1 writes them anew, to be read in the diff."""

from __future__ import annotations

import os
from pathlib import Path

DIRECTORY = Path(__file__).resolve().parent.parent / "golden" / "render"


def agrees(name: str, text: str) -> None:
    """Assert that `text`, without the spaces at the ends of its lines, is what the golden file holds."""
    shown = "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n")) + "\n"
    path = DIRECTORY / name
    if os.environ.get("MOOT_WRITE_GOLDEN") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(shown, "utf-8")
    assert shown == path.read_text("utf-8")
