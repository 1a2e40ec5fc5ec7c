"""The stored results of release 0.1 in the simulated worlds: `release_0_1.json`, one row per circumstances.

Per world it keeps whether three answers are right (one bit each, the first world in the highest bit of the first hex
digit) and the number of replies (one character: `0` is 0, `A` is 10, `a` is 36).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final, NamedTuple

PATH: Final = Path(__file__).with_name("release_0_1.json")
WORLDS: Final = 2_000
REPLIES: Final = digits + ascii_uppercase + ascii_lowercase


class Row(NamedTuple):
    """Results of release 0.1 in the worlds of one row, in the order of their seeds."""

    first_answers: list[bool]
    """Whether the mean of the four first answers is right."""
    right: list[bool]
    """Whether the rule is right."""
    all_tested: list[bool]
    """Whether the mean is right once a program tested every fact."""
    replies: list[int]
    reasons: Mapping[str, int]
    """Stop reason of the rule → count."""

    def first(self, worlds: int) -> Row:
        """Return the row of the first worlds alone; the reasons are those of all."""
        return Row(
            self.first_answers[:worlds],
            self.right[:worlds],
            self.all_tested[:worlds],
            self.replies[:worlds],
            self.reasons,
        )


def read() -> dict[str, Row]:
    """Read the rows by the names of their circumstances."""
    document: Any = json.loads(PATH.read_text(encoding="utf-8"))
    return {row["name"]: _unpacked(row) for row in document["rows"]}


def _unpacked(row: Mapping[str, Any]) -> Row:
    worlds = row["worlds"]
    return Row(
        _bits(row["first_answers"], worlds),
        _bits(row["rule"], worlds),
        _bits(row["all_tested"], worlds),
        [REPLIES.index(character) for character in row["replies"]],
        row["reasons"],
    )


def _bits(text: str, count: int) -> list[bool]:
    return [bit == "1" for digit in text for bit in f"{int(digit, 16):04b}"][:count]
