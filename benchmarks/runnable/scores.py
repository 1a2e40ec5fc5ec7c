"""What readers who ran nothing answered, against the keys: picks that are right, Brier score, and all of them pooled.

`answers/reader-N.json` holds the points of one reader: question → option → points of 100. A question that the first
reader was nearly sure of, and right about, shows nothing and is left out (`saturated` in `keys.toml`).
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from benchmarks.runnable.questions import FOLDER, keys, questions

ANSWERS: Final = FOLDER / "answers"
Points = Mapping[str, float]


class Score(NamedTuple):
    """How one reader, or all of them pooled, did; `brier` is 0 at best and 2 at worst."""

    reader: str
    right: int
    of: int
    brier: float


def contested() -> list[str]:
    """The questions that are scored: all but the saturated ones."""
    read = tomllib.loads((FOLDER / "keys.toml").read_text("utf-8"))
    return [question.name for question in questions() if question.name not in read["saturated"]]


def read_answers() -> dict[str, dict[str, Points]]:
    """Reader → question (`q01`) → points."""
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(ANSWERS.glob("*.json"))}


def scores(names: Sequence[str]) -> Iterator[Score]:
    """Every reader, then the mean of their points. A reader who was not shown a question is not asked about it."""
    given = read_answers()
    for reader, answered in given.items():
        yield _score(reader, {name: answered[name[:3]] for name in names if name[:3] in answered})
    yield _score("pooled", {name: _mean([one[name[:3]] for one in given.values()]) for name in names})


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
    return {option: sum(one[option] for one in beliefs) / len(beliefs) for option in beliefs[0]}
