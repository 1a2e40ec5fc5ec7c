"""A `skill` state directory into a ledger: all of it or, when a line is bad, nothing (FORMAT 12).

`read_skill` is pure: it takes the files by name and gives drafts, so the same rows in any order of lines give the same
bytes. `docs/import.md` says what becomes what.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import UNSET

from ledger.events import Event, RunOpened
from ledger.events.values import LINE_BYTES_MAX
from ledger.format.canonical import encode
from ledger.interchange.report import BadLine, MappedId, StatusDifference
from ledger.interchange.skill_claims import merge_updates
from ledger.interchange.skill_events import Drafting
from ledger.interchange.skill_ids import Numbered, number_rows
from ledger.interchange.skill_lines import Rows, read_rows
from ledger.interchange.skill_opening import PLANNED_ROUNDS, Terms, documents_of, goals_of, opening_of
from ledger.interchange.skill_rows import (
    FILES,
    ClaimRow,
    ConcernRow,
    DecisionRow,
    DriftRow,
    LeadRow,
    Row,
    RunFile,
    VerificationRow,
)
from ledger.interchange.skill_tables import Tables, check_number, present
from ledger.state.fold import fold

SEALING_BYTES: Final = 1_000
"""What sealing can add to a draft's line: hashes, numbers and the instant."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What a source comes to. With `bad` lines there are no events; otherwise `events[0]` is the `run_opened`."""

    events: tuple[Event, ...]
    blobs: Mapping[str, bytes]
    bad: tuple[BadLine, ...]
    mapped: tuple[MappedId, ...] = ()
    differences: tuple[StatusDifference, ...] = ()
    notes: tuple[str, ...] = ()


def read_skill(source: Mapping[str, bytes], terms: Terms | None = None) -> Imported:
    """The ledger that a state directory means.

    `source` maps the names in `FILES`, and the paths of artifacts, round files and other documents as refs write
    them, to their bytes.
    """
    rows = read_rows(source)
    bad = rows.bad or tuple(_contradictions(rows))
    if bad:
        return Imported((), {}, bad)
    claims, updates = merge_updates(rows.of("claims.jsonl", ClaimRow))
    run = next((row for _, row in rows.of("run.json", RunFile)), RunFile())
    tables = _tables(rows, claims, run)
    drafting = Drafting(tables)
    documents, blobs, left_out = documents_of(source)
    opening = opening_of(tables, run, rows, documents, terms or Terms())
    events = (opening, *drafting.events)
    too_long = tuple(_too_long(events))
    if too_long:
        return Imported((), {}, too_long)
    numbered = (tables.claims, tables.verifications, tables.decisions, tables.concerns)
    mapped = tuple(one for table in numbered for one in table.mapped)
    notes = (*rows.notes, *updates, *drafting.notes, *_lead_notes(rows), *left_out)
    return Imported(events, blobs, (), mapped, tuple(_differences(events, tables.claims)), notes)


def _tables(rows: Rows, claims: Sequence[tuple[str, ClaimRow]], run: RunFile) -> Tables:
    numbered = number_rows("claims.jsonl", "claim", claims)
    decisions = number_rows("decisions.jsonl", "decision", rows.of("decisions.jsonl", DecisionRow))
    return Tables(
        claims=numbered,
        verifications=number_rows(
            "verifications.jsonl",
            "verification",
            rows.of("verifications.jsonl", VerificationRow),
            wanted=lambda row: check_number(row) if check_number(row) < 5 else 0,
            floor=4,
        ),
        decisions=decisions,
        concerns=number_rows("concerns.jsonl", "concern", rows.of("concerns.jsonl", ConcernRow)),
        leads=_distinct(rows.of("lead_history.jsonl", LeadRow)),
        drift=_distinct(rows.of("drift_checks.jsonl", DriftRow)),
        goals=goals_of(run, numbered, decisions),
        plan_rows=len(run.plan) or PLANNED_ROUNDS,
    )


def _distinct(rows: Iterable[tuple[str, Any]]) -> tuple[Any, ...]:
    """Rows by round and content, each content once."""
    by_key = dict(rows)
    return tuple(by_key[key] for key in sorted(by_key, key=lambda key: (by_key[key].round, key)))


def _contradictions(rows: Rows) -> Iterable[BadLine]:
    """Rows that cannot all stand: two different drift checks of one round, a verification of no check."""
    first: dict[int, str] = {}
    for placed in rows.by_file["drift_checks.jsonl"]:
        if isinstance(placed.row, DriftRow) and first.setdefault(placed.row.round, placed.key) != placed.key:
            message = f"another drift check of round {placed.row.round}"
            yield BadLine(file="drift_checks.jsonl", line=placed.line, message=message)
    for placed in rows.by_file["verifications.jsonl"]:
        if isinstance(placed.row, VerificationRow) and check_number(placed.row) == 0:
            message = "check is missing, and the id names none of the four"
            yield BadLine(file="verifications.jsonl", line=placed.line, message=message)


def _too_long(events: Sequence[Event]) -> Iterable[BadLine]:
    for event in events:
        if len(encode(event)) > LINE_BYTES_MAX - SEALING_BYTES:
            what = f"{event.kind} {event.id or ''}".strip()
            yield BadLine(file="", line=0, message=f"{what} would be longer than a line may be")


def _differences(events: Sequence[Event], claims: Numbered[ClaimRow]) -> Iterable[StatusDifference]:
    folded = fold(events).claims
    for identity, row in claims.rows:
        stored = present(row.status)
        if stored is not None and stored != folded[identity].status:
            yield StatusDifference(id=identity, stored=stored, folded=folded[identity].status)


def _lead_notes(rows: Rows) -> Iterable[str]:
    """Where a lead row says something that a round cannot hold."""
    counted: dict[int, int] = {}
    for _, row in rows.of("lead_history.jsonl", LeadRow):
        counted[row.round] = counted.get(row.round, 0) + 1
        away = present(row.absent_agent) not in (None, "none")
        if row.is_stress is not UNSET and row.is_stress is not None and row.is_stress != away:
            disagree = "is_stress and absent_agent disagree; nobody is read as absent"
            yield f"lead_history.jsonl: round {row.round}: {disagree}"
        if row.lead in ("system", "none"):
            yield f"lead_history.jsonl: round {row.round}: lead {row.lead} is read as no lead"
    for round_, count in counted.items():
        if count > 1:
            yield f"lead_history.jsonl: round {round_} has {count} rows; each different one opens the round"


def counts(events: Sequence[Event]) -> dict[str, int]:
    """How many events of each kind, and how many documents."""
    found: dict[str, int] = {}
    for event in events:
        found[event.kind] = found.get(event.kind, 0) + 1
        if isinstance(event, RunOpened):
            found["documents"] = len(event.context)
    return dict(sorted(found.items()))


__all__ = ["FILES", "Imported", "Row", "Terms", "counts", "read_skill"]
