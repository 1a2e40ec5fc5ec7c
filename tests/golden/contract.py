"""The frozen contract: what every reading verb says with `--json` of every recorded run, exit codes, and help texts.

    python -m tests.golden.contract --write      # after a change that is meant; its commit names what changed

`contract.json` holds a hash of each. A refactoring that changes none of them changed nothing that a caller can see.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from moot.__main__ import main
from moot.cli import VERBS
from tests.recorded import EXAMPLES, NAMES

HASHES: Final = Path(__file__).with_name("contract.json")
READING: Final = (
    "status",
    "outcome",
    "signals",
    "log",
    "claims",
    "decisions",
    "next",
    "check",
    "verify",
    "replay",
)
"""Verbs that read a run and need nothing but the run."""
WIDTH: Final = "100"


def said(*words: str) -> str:
    """Return the exit code of a call in this process, and a hash of what it printed on either stream."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(words))
    return f"{code} {hashlib.sha256(f'{out.getvalue()}{err.getvalue()}'.encode()).hexdigest()[:16]}"


def computed() -> Iterator[tuple[str, str]]:
    """Yield each call in words with what it said. The place is the folder of the runs, so that no path shows."""
    with contextlib.chdir(EXAMPLES):
        for name in NAMES:
            for verb in READING:
                yield f"{verb} {name}", said(verb, f"./{name}", "--json")
            yield f"diff {name}", said("diff", f"./{name}", f"./{name}", "--json")
        for verb in (row.name for row in VERBS):
            yield f"help {verb}", said(verb, "--help")
        yield "help --all", said("help", "--all")


def run(arguments: list[str]) -> int:
    """`--write` or `--check`; 1 when something changed."""
    os.environ |= {"COLUMNS": WIDTH, "NO_COLOR": "1", "MOOT_OFFLINE": "1"}
    now = dict(computed())
    if arguments == ["--write"]:
        HASHES.write_text(json.dumps(now, indent=0) + "\n", "utf-8")
        return 0
    before: dict[str, str] = json.loads(HASHES.read_text("utf-8"))
    changed = [call for call in {**before, **now} if before.get(call) != now.get(call)]
    for call in changed:
        print(f"moot {call}: {before.get(call)} before, {now.get(call)} now", file=sys.stderr)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
