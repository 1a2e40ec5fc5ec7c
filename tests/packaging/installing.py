"""Install by uv, which is much faster than pip, from the indices that pip is set to; by pip where uv fails.

`python -m tests.packaging.installing PYTHON WORDS…` installs what the words say into the environment of that Python.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

STEP_TIMEOUT_SECONDS: Final = 600
OPTIONS: Final = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}
"""Setting of pip → the option of uv that says the same."""


def options(settings: str) -> Iterator[tuple[str, str]]:
    """Yield uv's options for what `pip config list` prints. It names a setting once for each place that says it."""
    for line in settings.splitlines():
        name, _, value = line.partition("=")
        if option := OPTIONS.get(name.rpartition(".")[2]):
            for word in shlex.split(value):
                yield from ((option, one) for one in word.split())


def installed(python: Path, *words: str) -> bool:
    """Install what `words` of `pip install` name; return whether that worked."""
    pip = [sys.executable, "-m", "pip"]
    settings = subprocess.run([*pip, "config", "list"], capture_output=True, text=True, check=True).stdout
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet", "--no-config"]
    chosen = [word for pair in dict.fromkeys(options(settings)) for word in pair]
    return any(
        subprocess.run([*call, *words], timeout=STEP_TIMEOUT_SECONDS, check=False).returncode == 0
        for call in (
            [*uv, "--index-strategy", "unsafe-best-match", *chosen, "--python", str(python)],
            [*pip, "--python", str(python), "install", "--quiet"],
        )
    )


if __name__ == "__main__":
    sys.exit(not installed(Path(sys.argv[1]), *sys.argv[2:]))
