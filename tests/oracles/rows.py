"""The raw rows of a state directory, and the part of them that had been written when a round ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass
class Rows:
    """Rows as a JSON reader gives them; `round_files`: text of `rounds/*.md` by name, if there are any."""

    claims: list[Row] = field(default_factory=list)
    verifications: list[Row] = field(default_factory=list)
    lead_history: list[Row] = field(default_factory=list)
    drift_checks: list[Row] = field(default_factory=list)
    concerns: list[Row] = field(default_factory=list)
    round_files: dict[str, str] | None = None
    roles: tuple[str, ...] = ("action", "guardian", "observer", "critic")

    def upto(self, number: int) -> Rows:
        """What was there when round `number` ended. Round files are named by their round here."""

        def past(rows: list[Row]) -> list[Row]:
            return [row for row in rows if row["round"] <= number]

        return Rows(
            past(self.claims),
            past(self.verifications),
            past(self.lead_history),
            past(self.drift_checks),
            past(self.concerns),
            None if self.round_files is None else written_by(self.round_files, number),
            self.roles,
        )

    @property
    def last_round(self) -> int:
        """The greatest round that any row names."""
        every = (*self.claims, *self.verifications, *self.lead_history, *self.drift_checks, *self.concerns)
        return max((row["round"] for row in every), default=0)


def written_by(files: dict[str, str], number: int) -> dict[str, str]:
    """The round files of rounds up to `number`."""
    return {name: text for name, text in files.items() if int("".join(filter(str.isdigit, name))) <= number}


def read_rows(directory: Path) -> Rows:
    """The rows of a state directory; a missing file has none."""

    def lines(name: str) -> list[Row]:
        path = directory / f"{name}.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    return Rows(
        lines("claims"),
        lines("verifications"),
        lines("lead_history"),
        lines("drift_checks"),
        lines("concerns"),
    )
