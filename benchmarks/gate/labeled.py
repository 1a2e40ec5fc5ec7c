"""Read the questions, their three parts, and the labels of the readers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Final, NamedTuple

from rounds.setup.gate_cues import kinds

HERE: Final = Path(__file__).parent
SEED: Final = 7
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


def part_of(rows: list[Question]) -> dict[str, int]:
    """Return id → part: 1 was visible while the cues were written, by a seeded draw; 2 was held out; 3 came later."""
    first = [row.id for row in rows if row.id.startswith("q")]
    seen = frozenset(random.Random(SEED).sample(first, len(first) // 2))
    return {row.id: 1 if row.id in seen else 2 if row.id.startswith("q") else 3 for row in rows}


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
