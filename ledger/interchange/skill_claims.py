"""Rows of claims.jsonl into claims: rows that repeat id and text are updates of one claim (SD-71)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ledger.interchange.skill_ids import Keyed, together
from ledger.interchange.skill_rows import ClaimRow
from ledger.state.lifecycle import STATUSES

_FILLED_IN: Final = (
    "testable_as",
    "supersedes",
    "raised_at_artifact",
    "anchor_ref",
    "sightings",
    "phase",
)

_EMPTY: Final = (UNSET, None, "", ())


def merge_updates(rows: Sequence[Keyed[ClaimRow]]) -> tuple[list[Keyed[ClaimRow]], tuple[str, ...]]:
    """One row a claim, and a note for every claim that several rows stood for.

    Of several statuses the most advanced is taken as the stored one; the verifications decide anyway (SD-57).
    """
    merged: list[Keyed[ClaimRow]] = []
    notes: list[str] = []
    for (identity, _), group in together(rows).items():
        texts = sorted({row.text for _, row in group if row.text}) or [""]
        for text in texts:
            same = [keyed for keyed in group if (keyed[1].text or texts[0]) == text]
            same.sort(key=lambda keyed: (not keyed[1].text, keyed[0]))
            merged.append((same[0][0], _merged([row for _, row in same])))
            if len(same) > 1:
                notes.append(f"claims.jsonl: {len(same)} rows with id {identity} are one claim with updates")
    return merged, tuple(notes)


def _merged(rows: list[ClaimRow]) -> ClaimRow:
    """The first row, completed from the others."""
    changes: dict[str, Any] = {}
    for name in _FILLED_IN:
        found = [value for row in rows if (value := getattr(row, name)) not in _EMPTY]
        if found:
            changes[name] = found[0]
    statuses = [row.status for row in rows if row.status is not UNSET and row.status is not None]
    if len(rows) > 1 and statuses:
        changes["status"] = max(statuses, key=STATUSES.index)
    return msgspec.structs.replace(rows[0], **changes)
