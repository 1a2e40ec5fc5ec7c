"""Join three locks into one of three parts: `python -m tests.packaging.lock RUN SEATS ALL`.

In `requirements.lock` the first part is what moot needs to run from a checkout. `make demo` installs it alone.
The second adds the SDKs of models and MCP: the GitHub Action and the container install these two. The third adds other
extras and the tools. Every package is pinned once, with the hashes of all its files.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

LOCK: Final = Path(__file__).resolve().parents[2] / "requirements.lock"
SEATS: Final = "# The SDKs of models, and MCP.\n"
"""The line behind the first part. The Makefile looks for it, too."""
TOOLS: Final = "# The other extras and the developers' tools.\n"
"""The line behind the second part. The Action and the container look for it, too."""
HEAD: Final = "# Written by `make lock`. First what moot runs on.\n"


def entries(text: str) -> dict[str, str]:
    """Return the pins and the hashes of each package, by name. A package may have a pin for each Python version."""
    blocks = re.split(r"^(?=[A-Za-z])", text.replace(SEATS, "").replace(TOOLS, ""), flags=re.MULTILINE)
    pins: dict[str, str] = {}
    for block in blocks:
        name, pinned, _ = block.partition("==")
        if pinned:
            pins[name] = pins.get(name, "") + block
    return pins


def run_part(text: str) -> str:
    """Return the part of a lock that moot needs to run."""
    return text.partition(SEATS)[0]


def seats_part(text: str) -> str:
    """Return the part that the SDKs of models and MCP add."""
    return text.partition(SEATS)[2].partition(TOOLS)[0]


def joined(run: str, seats: str, everything: str) -> str:
    """Return one lock of three parts. The pins of `everything` win: their markers cover all parts."""
    first, second = entries(run), entries(seats)
    pins = entries(everything)
    return "".join(
        [
            HEAD,
            *(block for name, block in pins.items() if name in first),
            SEATS,
            *(block for name, block in pins.items() if name in second and name not in first),
            TOOLS,
            *(block for name, block in pins.items() if name not in first and name not in second),
        ]
    )


if __name__ == "__main__":
    sys.stdout.write(joined(*(Path(name).read_text("utf-8") for name in sys.argv[1:])))
