"""What the rows of a source say once defaults are applied, and which rows a round has (FORMAT 12)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from msgspec import UNSET, UnsetType

from ledger.events.ids import number_of
from ledger.events.verifications import CHECKS, Check
from ledger.interchange.skill_ids import N, Numbered
from ledger.interchange.skill_rows import (
    Author,
    ClaimRow,
    ConcernRow,
    DecisionRow,
    DriftRow,
    LeadRow,
    VerificationRow,
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows of a source with their final ids. `goals` maps the text of an anchor to its goal's id."""

    claims: Numbered[ClaimRow]
    verifications: Numbered[VerificationRow]
    decisions: Numbered[DecisionRow]
    concerns: Numbered[ConcernRow]
    leads: tuple[LeadRow, ...]
    drift: tuple[DriftRow, ...]
    goals: Mapping[str, str]
    plan_rows: int

    def rounds(self) -> tuple[int, ...]:
        """Every round that some row names."""
        tables = (self.claims, self.verifications, self.decisions, self.concerns)
        found = {round_ for table in tables for round_ in table.rounds()}
        found |= {row.round for row in self.leads} | {row.round for row in self.drift}
        return tuple(sorted(found))


def present(value: T | UnsetType | None) -> T | None:
    """None for a key that is absent, null or an empty string."""
    return None if value is UNSET or value is None or value == "" else value


def absent_of(row: LeadRow) -> Author | None:
    """Who was away: only a round that does not deny being a stress round has somebody away."""
    away = row.absent_agent
    return None if away is UNSET or away is None or away == "none" or row.is_stress is False else away


def planned_of(row: LeadRow) -> Author | None:
    """Who was to be away; `absent_agent` where nobody wrote it down."""
    return absent_of(row) if row.planned_stress is UNSET else present(row.planned_stress)


def check_number(row: VerificationRow) -> int:
    """1–4 for the four checks, else 5; 0 when neither the row nor its id says it."""
    if row.check is UNSET:
        number = number_of(row.id)
        return number if 1 <= number <= len(CHECKS) else 0
    return CHECKS.index(row.check) + 1 if row.check in CHECKS else 5


def check_name(row: VerificationRow) -> Check:
    """The check of a row that `check_number` knows."""
    return CHECKS[check_number(row) - 1] if row.check is UNSET else row.check


class Rounds:
    """The rows of every round."""

    def __init__(self, tables: Tables) -> None:
        self.claims = _grouped(tables.claims)
        self.verifications = _grouped(tables.verifications)
        self.decisions = _grouped(tables.decisions)
        self.concerns = _grouped(tables.concerns)
        self.leads: dict[int, list[LeadRow]] = defaultdict(list)
        self.drift: dict[int, list[DriftRow]] = defaultdict(list)
        for lead in tables.leads:
            self.leads[lead.round].append(lead)
        for drift in tables.drift:
            self.drift[drift.round].append(drift)


def _grouped(table: Numbered[N]) -> dict[int, list[tuple[str, N]]]:
    groups: dict[int, list[tuple[str, N]]] = defaultdict(list)
    for identity, row in table.rows:
        groups[row.round].append((identity, row))
    return groups


def check_order(pair: tuple[str, VerificationRow]) -> tuple[str, int, int]:
    identity, row = pair
    return phase_of(row), check_number(row), number_of(identity)


def phase_of(row: VerificationRow) -> Literal["E", "S"]:
    """S for what the closing synthesis resolved, E for every other test."""
    return "S" if row.check == "synthesis_resolution" else "E"
