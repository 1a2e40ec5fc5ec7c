"""Rows into tables: ids, updates of claims, defaults, and which rows a round has (FORMAT 12).

Ids are kept when legal and unique, otherwise mapped; never by file order (FORMAT 3). Rows of claims.jsonl that repeat
id and text are updates of one claim (SD-71).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from ledger.events.ids import event_id, id_pattern, number_of, round_of
from ledger.events.verifications import CHECKS
from ledger.interchange.report import MappedId
from ledger.interchange.skill_rows import (
    Author,
    ClaimRow,
    DecisionRow,
    DriftRow,
    LeadRow,
    SkillConcernRow,
    VerificationRow,
)
from ledger.state.lifecycle import STATUSES


class Numberable(Protocol):
    """Row with an id and a round."""

    @property
    def id(self) -> str:
        """Return the id."""
        ...

    @property
    def round(self) -> int:
        """Return the round."""
        ...


N = TypeVar("N", bound=Numberable)
Keyed = tuple[str, N]
"""Content in a fixed form, and the row."""


@dataclass(frozen=True, slots=True)
class Numbered(Generic[N]):
    """Rows with their ids in the order (round, number), and the ids that had to change."""

    rows: tuple[tuple[str, N], ...]
    aliases: dict[str, str]
    mapped: tuple[MappedId, ...]

    def now(self, identity: str) -> str:
        """Return the id that a reference to `identity` means now."""
        return self.aliases.get(identity, identity)


def number_rows(
    file: str,
    kind: str,
    rows: Iterable[Keyed[N]],
    *,
    wanted: Callable[[N], int] = lambda _: 0,
    floor: int = 0,
) -> Numbered[N]:
    """Give every row an id of `kind`. A row whose id cannot stay gets the number `wanted`, else one above `floor`."""
    pattern: Final = re.compile(id_pattern(kind) or "")
    waiting: list[tuple[N, str]] = []
    kept: dict[str, N] = {}
    given_out: dict[int, set[int]] = defaultdict(set)
    # Sorted by content, so that the same rows in another order of lines get the same ids (FORMAT 3).
    for _, row in sorted(rows, key=lambda keyed: (keyed[1].round, keyed[1].id, keyed[0])):
        if not pattern.search(row.id):
            waiting.append((row, "not a legal id"))
        elif round_of(row.id) != row.round:
            waiting.append((row, f"its round is {row.round}"))
        elif row.id in kept:
            waiting.append((row, "the id is taken by another row"))
        else:
            kept[row.id] = row
            given_out[row.round].add(number_of(row.id))
    numbered = list(kept.items())
    mapped: list[MappedId] = []
    aliases: dict[str, str] = {}
    for row, why in waiting:
        taken, n = given_out[row.round], wanted(row)
        n = n if n and n not in taken else max([floor, *taken]) + 1
        taken.add(n)
        new = event_id(kind, row.round, n)
        mapped.append(MappedId(file=file, old=row.id, new=new, why=why))
        numbered.append((new, row))
        if row.id not in kept:
            # Several rows may claim one illegal id. References mean the first of them, in the sorted order.
            aliases.setdefault(row.id, new)
    numbered.sort(key=lambda pair: (pair[1].round, number_of(pair[0])))
    return Numbered(tuple(numbered), aliases, tuple(mapped))


def unique(base: str, used: Counter[str]) -> str:
    """Return `base`, or `base~2`, `base~3`, … when it was given out before (positions and flips)."""
    used[base] += 1
    return base if used[base] == 1 else f"{base}~{used[base]}"


_FILLED_IN: Final = (
    "testable_as",
    "supersedes",
    "raised_at_artifact",
    "anchor_ref",
    "sightings",
    "phase",
)


def merge_updates(rows: Sequence[Keyed[ClaimRow]]) -> tuple[list[Keyed[ClaimRow]], tuple[str, ...]]:
    """Return one row per claim, and a note for every claim that several rows described.

    Of several statuses the most advanced is taken as the stored one; the verifications decide anyway (SD-57).
    """
    merged: list[Keyed[ClaimRow]] = []
    notes: list[str] = []
    groups: dict[tuple[str, int], list[Keyed[ClaimRow]]] = {}
    for keyed in sorted(rows, key=lambda keyed: keyed[0]):
        groups.setdefault((keyed[1].id, keyed[1].round), []).append(keyed)
    for (identity, _), group in groups.items():
        texts = sorted({row.text for _, row in group if row.text}) or [""]
        for text in texts:
            same = [keyed for keyed in group if (keyed[1].text or texts[0]) == text]
            same.sort(key=lambda keyed: (not keyed[1].text, keyed[0]))
            merged.append((same[0][0], _merged([row for _, row in same])))
            if len(same) > 1:
                notes.append(f"claims.jsonl: {len(same)} rows with id {identity} are one claim with updates")
    return merged, tuple(notes)


def _merged(rows: list[ClaimRow]) -> ClaimRow:
    """Return the first row, completed from the others."""
    changes: dict[str, Any] = {
        name: value for row in reversed(rows) for name in _FILLED_IN if (value := getattr(row, name))
    }
    statuses = [row.status for row in rows if row.status is not UNSET and row.status is not None]
    if len(rows) > 1 and statuses:
        changes["status"] = max(statuses, key=STATUSES.index)
    return msgspec.structs.replace(rows[0], **changes)


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Tables:
    """Rows of a source with their final ids. `goals` maps the text of an anchor to its goal's id."""

    claims: Numbered[ClaimRow]
    verifications: Numbered[VerificationRow]
    decisions: Numbered[DecisionRow]
    concerns: Numbered[SkillConcernRow]
    leads: tuple[LeadRow, ...]
    drift: tuple[DriftRow, ...]
    goals: Mapping[str, str]
    plan_rows: int

    def rounds(self) -> tuple[int, ...]:
        """Return every round that some row names."""
        tables: tuple[Numbered[Any], ...] = (self.claims, self.verifications, self.decisions, self.concerns)
        rows = (row for table in tables for _, row in table.rows)
        return tuple(sorted({row.round for row in (*rows, *self.leads, *self.drift)}))


def present(value: T | UnsetType | None) -> T | None:
    """Return the value, or None for a key that is absent, null or an empty string."""
    return None if value is UNSET or value is None or value == "" else value


def absent_of(row: LeadRow) -> Author | None:
    """Return the absent role. A round that denies being a stress round has none."""
    away = row.absent_agent
    return None if away is UNSET or away is None or away == "none" or row.is_stress is False else away


def planned_of(row: LeadRow) -> Author | None:
    """Return the role that was planned to be absent; `absent_agent` where no plan was recorded."""
    return absent_of(row) if row.planned_stress is UNSET else present(row.planned_stress)


def check_number(row: VerificationRow) -> int:
    """Return 1–4 for the four checks, else 5; 0 when neither the row nor its id names one."""
    if row.check is UNSET:
        number = number_of(row.id)
        return number if 1 <= number <= len(CHECKS) else 0
    return CHECKS.index(row.check) + 1 if row.check in CHECKS else 5


def by_round(rows: Iterable[T], round_of_row: Callable[[T], int]) -> Mapping[int, list[T]]:
    """Return round → its rows, in their order; a round without rows has none."""
    groups: dict[int, list[T]] = defaultdict(list)
    for row in rows:
        groups[round_of_row(row)].append(row)
    return groups


def check_order(pair: tuple[str, VerificationRow]) -> tuple[str, int, int]:
    """Return the place of a verification: phase, check, number."""
    identity, row = pair
    return phase_of(row), check_number(row), number_of(identity)


def phase_of(row: VerificationRow) -> Literal["E", "S"]:
    """Return S for what the closing synthesis resolved, E for every other test."""
    return "S" if row.check == "synthesis_resolution" else "E"
