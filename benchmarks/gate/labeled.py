"""Read the held-out questions and the labels of the readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NamedTuple

from rounds.setup.gate import kinds

HERE: Final = Path(__file__).parent
NAMES: Final = tuple(kinds())
"""Kinds that a reader can choose."""


class Question(NamedTuple):
    """Question of the set."""

    id: str
    text: str


class WrongLabels(ValueError):
    """Error in a file of labels."""


def questions() -> list[Question]:
    """Return all questions, in the order of the file."""
    rows = [json.loads(line) for line in (HERE / "questions.jsonl").read_text("utf-8").splitlines()]
    return [Question(row["id"], row["question"]) for row in rows]


def labels(path: Path, known: list[Question]) -> dict[str, str]:
    """Return id → kind. Raises `WrongLabels` for an unknown kind, and an unknown, missing or repeated id."""
    kinds: dict[str, str] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        row = json.loads(line)
        if row["kind"] not in NAMES:
            raise WrongLabels(f"{path.name}:{number}: no kind {row['kind']!r}; kinds are {', '.join(NAMES)}")
        if row["id"] in kinds:
            raise WrongLabels(f"{path.name}:{number}: {row['id']} has a label already")
        kinds[row["id"]] = row["kind"]
    if wrong := sorted(kinds.keys() ^ {question.id for question in known}):
        raise WrongLabels(f"{path.name}: missing or unknown ids: {', '.join(wrong[:5])}")
    return kinds
