"""Score the answers of readers who ran nothing: right picks and Brier scores, per reader and pooled.

`answers.json` holds the points of each reader: question → option → points of 100. A question that the first
reader was nearly sure of, and right about, shows nothing and is left out (`saturated` in `keys.toml`).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from benchmarks.runnable.questions import FOLDER, keys, questions

ANSWERS: Final = FOLDER / "answers.json"
Points = Mapping[str, float]


class Score(NamedTuple):
    """Score of one reader, or of all pooled; `brier` is 0 at best and 2 at worst."""

    reader: str
    right: int
    of: int
    brier: float


def contested() -> list[str]:
    """Return the names of the scored questions: all but the saturated ones."""
    read = tomllib.loads((FOLDER / "keys.toml").read_text("utf-8"))
    return [question.name for question in questions() if question.name not in read["saturated"]]


def read_answers() -> dict[str, dict[str, Points]]:
    """Return reader → question (`q01`) → points."""
    answers: dict[str, dict[str, Points]] = json.loads(ANSWERS.read_text("utf-8"))
    return answers


def scores(names: Sequence[str]) -> Iterator[Score]:
    """Yield the score of every reader, then that of their mean. Readers are scored only on questions they saw."""
    readers = read_answers()
    for reader, answered in readers.items():
        yield _score(reader, {name: answered[name[:3]] for name in names if name[:3] in answered})
    yield _score("pooled", {name: _mean([points[name[:3]] for points in readers.values()]) for name in names})


def _score(reader: str, beliefs: Mapping[str, Points]) -> Score:
    known = keys().answers
    right = sum(max(points, key=lambda o: points[o]) == known[name] for name, points in beliefs.items())
    missed = (
        (points[option] / sum(points.values()) - (option == known[name])) ** 2
        for name, points in beliefs.items()
        for option in points
    )
    return Score(reader, right, len(beliefs), sum(missed) / len(beliefs))


def _mean(beliefs: Sequence[Points]) -> Points:
    return {option: sum(points[option] for points in beliefs) / len(beliefs) for option in beliefs[0]}
