"""Ledgers for the detectors: events from rows of a state directory, in the order of an import (FORMAT 12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

import msgspec

from ledger.events import Claim, Concern, DriftCheck, Event, RoundOpened, RunOpened, Verification
from ledger.events.envelope import Evidence
from ledger.events.run import (
    Budgets,
    CastMember,
    ContextDocument,
    Labelled,
    Origin,
    StopRule,
)
from ledger.events.verifications import CHECKS, StatusChange
from ledger.state.book import Book, book
from ledger.state.lifecycle import BEARING_OF_STATUS
from tests.oracles.rows import Row, Rows

NO_HASH = "0" * 64


@dataclass
class Blobs:
    """Blobs in memory."""

    content: dict[str, bytes] = field(default_factory=dict)

    def read(self, sha256: str) -> bytes | None:
        return self.content.get(sha256)


def run_opened(
    roles: tuple[str, ...] = ("action", "guardian", "observer", "critic"),
    context: tuple[ContextDocument, ...] = (),
    origin: Literal["new", "import"] = "import",
) -> RunOpened:
    """The opening of a run with these roles and the neutral verifier."""
    return RunOpened(
        round=0,
        phase="open",
        by="import" if origin == "import" else "controller",
        protocol="structured",
        question="Which storage?",
        goals=(Labelled(id="G-1", text="A ledger that survives a crash."),),
        context=context,
        cast=tuple(
            CastMember(role=role, title=role, charge=role, seat="tape") for role in (*roles, "verifier")
        ),
        plan=(),
        stop=StopRule(profile="published", params=NO_HASH, check_every=3, not_before=6),
        budgets=Budgets(),
        prompt_set=NO_HASH,
        seed=0,
        rules={},
        origin=Origin(type=origin),
        moot="0",
    )


def built(rows: Rows) -> Book:
    """The book of an import of `rows`."""
    blobs = Blobs()
    documents = []
    for number, (name, text) in enumerate((rows.round_files or {}).items(), start=1):
        content = text.encode()
        digest = sha256(content).hexdigest()
        blobs.content[digest] = content
        documents.append(
            ContextDocument(id=f"K-{number}", name=f"rounds/{name}", sha256=digest, bytes=len(content))
        )
    events: list[Event] = [run_opened(rows.roles, tuple(documents))]
    for number in range(rows.last_round + 1):
        events += _round(rows, number)
    return book((msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events)), blobs)


def ends(made: Book) -> dict[int, int]:
    """Round → seq of its last event."""
    return {event.round: event.seq for event in made.events}


def _round(rows: Rows, number: int) -> list[Event]:
    def of(part: list[Row]) -> list[Row]:
        return [row for row in part if row["round"] == number]

    return [
        *map(opened, of(rows.lead_history)),
        *map(claim, of(rows.claims)),
        *map(verification, sorted(of(rows.verifications), key=lambda row: int(row["id"].split("-")[2]))),
        *map(drift_check, of(rows.drift_checks)),
        *map(concern, of(rows.concerns)),
    ]


def opened(row: Row) -> Event:
    absent = row["absent_agent"] if row["is_stress"] else None
    return RoundOpened(
        round=row["round"],
        phase="A",
        by="import",
        lead=row["lead"],
        focus="",
        absent=absent,
        planned_stress=row.get("planned_stress") or absent,
        plan_row=0,
    )


def claim(row: Row) -> Event:
    return Claim(
        id=row["id"],
        round=row["round"],
        phase="D",
        by="import",
        raised_by=row["raised_by"],
        text=row["text"],
        testable_as=row["testable_as"],
        supersedes=row.get("supersedes"),
    )


def verification(row: Row) -> Event:
    number = int(row["id"].split("-")[2])
    check = row.get("check") or (CHECKS[number - 1] if number <= len(CHECKS) else "claim_retest")
    return Verification(
        id=row["id"],
        round=row["round"],
        phase="S" if check == "synthesis_resolution" else "E",
        by="import",
        check=check,
        check_id=min(number, 5),
        result=row["result"],
        evidence_refs=tuple(Evidence(ref=ref) for ref in row.get("evidence_refs", ())),
        notes=row.get("notes", ""),
        claims_affected=tuple(change["claim_id"] for change in row["claim_status_changes"]),
        claim_status_changes=tuple(
            StatusChange(
                claim_id=change["claim_id"],
                from_=change["from"],
                to=change["to"],
                bearing=BEARING_OF_STATUS[change["to"]],
                evidence=(Evidence(ref=change["claim_id"]),),
            )
            for change in row["claim_status_changes"]
        ),
        repeats=row.get("repeats"),
    )


def drift_check(row: Row) -> Event:
    addresses = row.get("addresses")
    return DriftCheck(
        id=f"H-{row['round']}",
        round=row["round"],
        phase="H",
        by="import",
        verdict=row["verdict"],
        deviation_score=1,
        notes="",
        addresses=None if addresses is None else f"H-{addresses}",
    )


def concern(row: Row) -> Event:
    return Concern(
        id=row["id"], round=row["round"], phase="G", by="import", type=row["type"], text=row.get("text", "")
    )
