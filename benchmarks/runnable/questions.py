"""Read the questions of this folder, decide them again with their programs, and print them for readers who run nothing.

`questions.md` holds each question, then its options (`- O-1: …`), under the name of its folder. The folder holds the
given programs and `truth.py`, which decides it and prints `answer: O-n` last. `outputs.json` has what each printed when
it was recorded, `keys.toml` the answers; the paper has neither. A question named there as `measured` is about time on a
machine: there only the answer has to come again.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).resolve().parent
OUTPUTS: Final = FOLDER / "outputs.json"
TIMEOUT_S: Final = 120
"""A truth takes at most 20 s on an idle machine; others may be at work."""


class Question(NamedTuple):
    """Question as a reader sees it: text, options in order, and files by name."""

    name: str
    text: str
    options: Mapping[str, str]
    documents: Mapping[str, str]


class Keys(NamedTuple):
    """Question → right option; and the questions whose output is a measurement."""

    answers: Mapping[str, str]
    measured: frozenset[str]


class Rerun(NamedTuple):
    """Output of a truth in this run."""

    answer: str
    output: str
    seconds: float


def questions(folder: Path = FOLDER) -> list[Question]:
    """Return all questions in the order of their numbers."""
    sections = (folder / "questions.md").read_text("utf-8").split("\n## ")[1:]
    return [_read(folder, section) for section in sections]


def _read(folder: Path, section: str) -> Question:
    name, _, body = section.partition("\n\n")
    text, _, listed = body.partition("\n\n- O-1: ")
    options = dict(re.findall(r"^- (O-\d): (.+)$", f"- O-1: {listed}", re.MULTILINE))
    programs = [path for path in sorted((folder / name).glob("*.py")) if path.name != "truth.py"]
    return Question(name, text, options, {path.name: path.read_text("utf-8") for path in programs})


def keys(folder: Path = FOLDER) -> Keys:
    """Read the file of keys."""
    read = tomllib.loads((folder / "keys.toml").read_text("utf-8"))
    return Keys(read["answers"], frozenset(read["measured"]))


def recorded(name: str) -> str:
    """Return the recorded output of a question."""
    return str(json.loads(OUTPUTS.read_text("utf-8"))[name])


def record(name: str, output: str) -> None:
    """Write the recorded output of a question anew."""
    outputs = json.loads(OUTPUTS.read_text("utf-8")) | {name: output}
    OUTPUTS.write_text(json.dumps(outputs, indent=1, ensure_ascii=False, sort_keys=True) + "\n", "utf-8")


def rerun(name: str) -> Rerun:
    """Run the truth of a question. Raises `RuntimeError` when the program fails."""
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
    """Return the option in the last line of an output. Raises `ValueError` without one."""
    match = re.search(r"^answer: (O-\d)\n\Z", output, re.MULTILINE)
    if match is None:
        raise ValueError(f"The last line has to be 'answer: O-n', not {output[-40:]!r}.")
    return match[1]


def differences(name: str, now: Rerun, known: Keys) -> list[str]:
    """Return the differences of an answer from the key, and of the output from the recorded one."""
    lines = []
    if now.answer != known.answers[name]:
        lines.append(f"answer {now.answer}, key {known.answers[name]}")
    if name not in known.measured and now.output != recorded(name):
        lines.append("output differs from the recorded one")
    return lines


def paper() -> str:
    """Return all questions with options and documents as one text."""
    parts = ["Answer each question with one option. Nothing may be run.\n"]
    for question in questions():
        options = "\n".join(f"- {option}: {text}" for option, text in question.options.items())
        parts.append(f"# {question.name}\n\n{question.text}\n\n{options}\n")
        parts += [f"`{name}`\n\n```python\n{text}```\n" for name, text in question.documents.items()]
    return "\n".join(parts)
