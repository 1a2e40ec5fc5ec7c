"""Every command that a page shows is executed: here, page by page and in order, or by the test that a table names."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from tests.data import LABELLED
from tests.long_run import long_run
from tests.protocols.crux_seats import scripted_run
from tests.protocols.playing import played

ROOT: Final = Path(__file__).resolve().parents[2]
FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND: Final = re.compile(
    r"^(?:\$ )?((?:[^|#\n]*\| )?(?:uvx .*)?moot(?:-ledger)? [a-z].*?|jq .* runs/.*?)(?:\s{2,}#.*)?$"
)
READ: Final = ("", "bash", "console", "text")
"""What a block of commands is marked with."""

ELSEWHERE: Final[Mapping[str, str]] = {
    "README.md": "tests/packaging/test_newcomer.py",
    "docs/start.md": "tests/architecture/test_docs.py and tests/packaging/test_newcomer.py",
    "docs/install.md": "tests/packaging/test_recipes.py",
    "docs/experiments.md": "tests/cli/test_experiments_page.py",
    "docs/studies.md": "tests/studies/test_study.py, test_engines.py and test_page.py",
}
"""Page → where its commands are executed."""
SERVED: Final = "tests/web and tests/packaging/test_recipes.py: it serves until it is ended"
ASKED: Final = "tests/seats: the real SDKs against the fakes, whose keys and addresses are not a page's"
LINES: Final[Mapping[str, str]] = {
    "moot serve": SERVED,
    "moot serve runs/mine": SERVED,
    "moot run plan.toml --seats anthropic --seat critic=openai:gpt-6.2-sol --max-usd 5": ASKED,
    "moot review git:main...HEAD --seats anthropic --fail-on 4": "tests/packaging/test_recipes.py",
}  # fmt: skip
"""Command → where else it is executed, and why not here."""
CODES: Final[Mapping[str, tuple[int, ...]]] = {
    "moot run": (4,), "moot signals": (0, 1), "moot submit": (0, 1), "moot diff": (0, 1), "moot fork": (0,),
}  # fmt: skip
"""Verb → the exit codes that the page means; 0 for the others. A reply that was handed in before is refused."""


def commands(page: Path) -> list[str]:
    """The commands that call moot or read its streams, as a shell takes them."""
    found: list[str] = []
    for language, block in FENCE.findall(page.read_text("utf-8")):
        if language in READ:
            found += [match[1].strip() for line in block.splitlines() if (match := COMMAND.match(line))]
    return found


def pages() -> Iterator[Path]:
    yield ROOT / "README.md"
    yield from (page for page in sorted((ROOT / "docs").rglob("*.md")) if commands(page))


def _long(place: Path) -> None:
    shutil.copytree(long_run(), place / "runs/mine")


def _import(place: Path) -> None:
    source = next(path for path in LABELLED if path.name == "08")
    (place / "my-run" / "state").mkdir(parents=True)
    for file in source.glob("*.jsonl"):
        rows = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
        kept = [json.dumps(row) + "\n" for row in rows if row["round"] <= 5]
        (place / "my-run" / "state" / file.name).write_text("".join(kept))


def _inputs(place: Path) -> None:
    (place / "src").mkdir()
    git = "git -c user.name=A -c user.email=a@example.org"
    (place / "src/a.py").write_text("print(1)\n")
    (place / "notes.md").write_text("# Notes\n")
    first = "git init -q -b main && git add -A && {git} commit -qm one && git checkout -qb side"
    then = " && echo 'print(2)' > src/a.py && {git} commit -qam two"
    subprocess.run(["bash", "-c", (first + then).format(git=git)], cwd=place, check=True, capture_output=True)


def _records(place: Path) -> None:
    scripted_run(place / "runs/storage")
    (place / "docs/decisions").mkdir(parents=True)


def _reviews(place: Path) -> None:
    shutil.copytree(played("adversarial"), place / "runs/change")


def _seals(place: Path) -> None:
    shutil.copytree(played("debate"), place / "runs/mine")


def _parameters(place: Path) -> None:
    _long(place)
    (place / "ours.toml").write_bytes((ROOT / "detectors/parameters.toml").read_bytes())


def _seats(place: Path) -> None:
    (place / "plan.toml").write_text('[deliberation]\nquestion = "Which storage?"\nprotocol = "structured"\n')
    section = {"name": "main", "text": "One stream."}
    reply = {"sections": [section], "responds_to": [], "options": []}
    (place / "reply.json").write_text(json.dumps(reply))


def _viewer(place: Path) -> None:
    shutil.copytree(played("debate"), place / "runs/mine")


def _nothing(_: Path) -> None:
    """It begins in an empty directory."""


SCENES: Final[Mapping[str, Callable[[Path], None]]] = {
    "docs/failure-modes.md": _parameters,
    "docs/forks.md": _long,
    "docs/import.md": _import,
    "docs/inputs.md": _inputs,
    "docs/records.md": _records,
    "docs/reviews.md": _reviews,
    "docs/screening.md": _nothing,
    "docs/seals.md": _seals,
    "docs/seats.md": _seats,
    "docs/signals.md": _long,
    "docs/viewer.md": _viewer,
}
"""Page → what is there before its first command."""


def test_every_page_with_a_command_is_executed_somewhere() -> None:
    shown = {page.relative_to(ROOT).as_posix() for page in pages()}
    assert shown - set(SCENES) - set(ELSEWHERE) == set()
    assert {*SCENES, *ELSEWHERE} - shown == set(), "a page without a command needs no scene"
    for where in (*ELSEWHERE.values(), *LINES.values()):
        for path in re.findall(r"tests/[\w/.]+\w", where):
            assert (ROOT / path).exists(), path
    lines = {line for page in pages() for line in commands(page)}
    assert set(LINES) - lines == set(), "an exception whose command no page shows"


@pytest.mark.slow  # whole commands, one after the other
@pytest.mark.parametrize("page", SCENES)
def test_the_commands_of_a_page_do_what_it_says(page: str, tmp_path: Path) -> None:
    SCENES[page](tmp_path)
    (tmp_path / "bin").mkdir()
    for name in ("moot", "jq"):
        if name == "jq" and shutil.which("jq"):
            continue
        script = f'exec {sys.executable} -m moot "$@"' if name == "moot" else "cat > /dev/null"
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MOOT_")}
    environment |= {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "NO_COLOR": "1",
    }
    done = 0
    for line in commands(ROOT / page):
        if line in LINES:
            continue
        said = subprocess.run(
            ["bash", "-o", "pipefail", "-c", re.sub(r"\bRUN\b", "runs/mine", line)],
            cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        verb = " ".join(re.findall(r"moot [a-z]+", line)[:1])
        codes = (0,) if "--dry-run" in line else CODES.get(verb, (0,))
        assert said.returncode in codes, f"{line}\n{said.stdout[-2000:]}{said.stderr[-2000:]}"
        assert "Traceback" not in said.stderr, line
        done += 1
    assert done
