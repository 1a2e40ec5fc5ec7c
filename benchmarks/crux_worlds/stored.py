"""The stored results of release 0.1 in the simulated worlds: `release_0_1.json`, one row per circumstances.

Per world it keeps whether three answers are right (one bit each, the first world in the highest bit of the first hex
digit) and the number of replies (one character: `0` is 0, `A` is 10, `a` is 36).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final, NamedTuple

PATH: Final = Path(__file__).with_name("release_0_1.json")
WORLDS: Final = 2_000
REPLIES: Final = digits + ascii_uppercase + ascii_lowercase


class Row(NamedTuple):
    """What release 0.1 did in the worlds of one row, in the order of their seeds."""

    first_answers: list[bool]
    """Whether the mean of the four first answers is right."""
    right: list[bool]
    """Whether the rule is right."""
    all_tested: list[bool]
    """Whether the mean is right once a program tested every fact."""
    replies: list[int]
    reasons: Mapping[str, int]
    """How often the rule stopped for which reason."""

    def first(self, worlds: int) -> Row:
        """Return the row of the first worlds alone; the reasons are those of all."""
        return Row(
            self.first_answers[:worlds],
            self.right[:worlds],
            self.all_tested[:worlds],
            self.replies[:worlds],
            self.reasons,
        )


def write(rows: Mapping[str, Row]) -> None:
    """Write the rows, each readable as totals and exact as bits."""
    document = {
        "what": "The rule of crux in release 0.1 in simulated worlds. No language model took part.",
        "rule": "release 0.1, tag v0.1.0, detectors/beliefs",
        "program": "python -m benchmarks.crux_worlds.store_0_1, in the commit that added this file",
        "seeds": f"0 to {WORLDS - 1}, the same in every row",
        "rows": [_packed(name, row) for name, row in rows.items()],
    }
    PATH.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read() -> dict[str, Row]:
    """Read the rows by the names of their circumstances."""
    document: Any = json.loads(PATH.read_text(encoding="utf-8"))
    return {row["name"]: _unpacked(row) for row in document["rows"]}


def _packed(name: str, row: Row) -> dict[str, Any]:
    worlds = len(row.right)
    return {
        "name": name,
        "worlds": worlds,
        "first_answers_right": sum(row.first_answers),
        "rule_right": sum(row.right),
        "all_tested_right": sum(row.all_tested),
        "mean_replies": sum(row.replies) / worlds,
        "most_replies": max(row.replies),
        "reasons": dict(row.reasons),
        "first_answers": _hex(row.first_answers),
        "rule": _hex(row.right),
        "all_tested": _hex(row.all_tested),
        "replies": "".join(REPLIES[count] for count in row.replies),
    }


def _unpacked(row: Mapping[str, Any]) -> Row:
    worlds = row["worlds"]
    return Row(
        _bits(row["first_answers"], worlds),
        _bits(row["rule"], worlds),
        _bits(row["all_tested"], worlds),
        [REPLIES.index(character) for character in row["replies"]],
        row["reasons"],
    )


def _hex(bits: Sequence[bool]) -> str:
    padded = [*bits, *[False] * (-len(bits) % 4)]
    return f"{int(''.join(str(int(bit)) for bit in padded), 2):0{len(padded) // 4}x}"


def _bits(text: str, count: int) -> list[bool]:
    return [bit == "1" for digit in text for bit in f"{int(digit, 16):04b}"][:count]
