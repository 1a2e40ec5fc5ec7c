"""The gate's question set: every line is a question with its public source, and nothing in it hints at an answer."""

from __future__ import annotations

import json
from pathlib import Path

QUESTIONS = Path(__file__).resolve().parents[2] / "benchmarks" / "gate" / "questions.jsonl"


def test_there_are_220_questions_with_their_sources() -> None:
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 220
    assert all(set(row) == {"id", "question", "source"} for row in rows)
    assert [row["id"] for row in rows] == [
        *(f"q{n:03}" for n in range(1, 121)),
        *(f"n{n:03}" for n in range(1, 101)),
    ]
    assert len({row["question"] for row in rows}) == 220
    assert all(row["source"].startswith(("https://", "http://")) for row in rows)
