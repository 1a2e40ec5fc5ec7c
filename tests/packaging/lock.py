"""Join what moot runs on and the developers' tools into one lock: `python -m tests.packaging.lock RUN ALL`.

`requirements.lock` has two parts. The first is what moot needs to run from a checkout. `make demo` installs it alone.
The second adds the extras and the tools. Every package is pinned once, with the hashes of all its files.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

LOCK: Final = Path(__file__).resolve().parents[2] / "requirements.lock"
TOOLS: Final = "# The extras and the developers' tools.\n"
"""The line between the two parts. The Makefile looks for it, too."""
HEAD: Final = "# Written by `make lock`. First what moot runs on.\n"


def entries(text: str) -> dict[str, str]:
    """Return the pins and the hashes of each package, by name. A package may have a pin for each Python version."""
    blocks = re.split(r"^(?=[A-Za-z])", text.replace(TOOLS, ""), flags=re.MULTILINE)
    pins: dict[str, str] = {}
    for block in blocks:
        name, pinned, _ = block.partition("==")
        if pinned:
            pins[name] = pins.get(name, "") + block
    return pins


def run_part(text: str) -> str:
    """Return the part of a lock that moot needs to run."""
    return text.partition(TOOLS)[0]


def joined(run: str, everything: str) -> str:
    """Return one lock of two parts. The pins of `everything` win: their markers cover both parts."""
    names = entries(run)
    pins = entries(everything)
    first = [block for name, block in pins.items() if name in names]
    second = [block for name, block in pins.items() if name not in names]
    return HEAD + "".join(first) + TOOLS + "".join(second)


if __name__ == "__main__":
    sys.stdout.write(joined(*(Path(name).read_text("utf-8") for name in sys.argv[1:])))
