"""The questions of this folder: read, decided again by their programs, and as a paper for readers who run nothing.

A folder a question: `question.md` (the question, then `- O-1: …`), the given programs, `truth.py` (decides it, prints
`answer: O-n` last) and `output.txt` (what it printed when it was recorded). `keys.toml` has the answers and is in no
paper. A question named there as `measured` is about time on a machine: there only the answer has to come again.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).resolve().parent
PAPER: Final = FOLDER / "paper.md"
TIMEOUT_S: Final = 120
"""A truth takes at most 20 s on an idle machine; others may be at work."""


class Question(NamedTuple):
    """What a reader is shown: the question, its options in order, and the given files by name."""

    name: str
    text: str
    options: Mapping[str, str]
    documents: Mapping[str, str]


class Keys(NamedTuple):
    """Question → right option; and the questions whose output is a measurement."""

    answers: Mapping[str, str]
    measured: frozenset[str]


class Rerun(NamedTuple):
    """What a truth printed now."""

    answer: str
    output: str
    seconds: float


def questions(folder: Path = FOLDER) -> list[Question]:
    """All questions in the order of their numbers."""
    return [_read(path) for path in sorted(folder.glob("q[0-9][0-9]-*"))]


def _read(folder: Path) -> Question:
    text, _, listed = (folder / "question.md").read_text("utf-8").partition("\n\n- O-1: ")
    options = dict(re.findall(r"^- (O-\d): (.+)$", f"- O-1: {listed}", re.MULTILINE))
    given = [path for path in sorted(folder.glob("*.py")) if path.name != "truth.py"]
    return Question(folder.name, text, options, {path.name: path.read_text("utf-8") for path in given})


def keys(folder: Path = FOLDER) -> Keys:
    """The file of keys."""
    read = tomllib.loads((folder / "keys.toml").read_text("utf-8"))
    return Keys(read["answers"], frozenset(read["measured"]))


def recorded(name: str) -> str:
    """The output that is kept."""
    return (FOLDER / name / "output.txt").read_text("utf-8")


def rerun(name: str) -> Rerun:
    """Run a question's truth; an error of the program is an error here."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-B", "truth.py"],
        cwd=FOLDER / name,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{name}/truth.py ended with {done.returncode}:\n{done.stderr}")
    return Rerun(answer(done.stdout), done.stdout, time.perf_counter() - begin)


def answer(output: str) -> str:
    """The option that the last line of an output names."""
    found = re.search(r"^answer: (O-\d)\n\Z", output, re.MULTILINE)
    if found is None:
        raise ValueError(f"The last line has to be 'answer: O-n', not {output[-40:]!r}.")
    return found[1]


def differences(name: str, now: Rerun, known: Keys) -> list[str]:
    """What does not agree: the answer with the key, the output with the recorded one."""
    found = []
    if now.answer != known.answers[name]:
        found.append(f"answer {now.answer}, key {known.answers[name]}")
    if name not in known.measured and now.output != recorded(name):
        found.append("output differs from output.txt")
    return found


def paper() -> str:
    """All questions with options and documents and nothing else."""
    parts = ["Answer each question with one option. Nothing may be run.\n"]
    for question in questions():
        options = "\n".join(f"- {option}: {text}" for option, text in question.options.items())
        parts.append(f"# {question.name}\n\n{question.text}\n\n{options}\n")
        parts += [f"`{name}`\n\n```python\n{text}```\n" for name, text in question.documents.items()]
    return "\n".join(parts)
