"""Events from the rows of a state directory, in the order that FORMAT 12 gives: by round, then by kind and number.

In a round: leads, claims, sealed positions, verifications, flips, concerns, decisions, drift check.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import UNSET

from ledger.events import (
    Claim,
    Concern,
    Decision,
    DriftCheck,
    Event,
    Flip,
    Position,
    RoundOpened,
    Verification,
)
from ledger.events.claims import Sighting
from ledger.events.decisions import Cite
from ledger.events.envelope import Evidence, Status
from ledger.events.ids import event_id
from ledger.events.run import FindingCount
from ledger.events.verifications import CHECK_NEEDS, CHECKS, StatusChange
from ledger.interchange.skill_rows import (
    AUTHORS,
    Author,
    ChangeRow,
    ClaimRow,
    DecisionRow,
    DriftRow,
    FlipRow,
    LeadRow,
    SkillConcernRow,
    Verdict,
    VerificationRow,
)
from ledger.interchange.skill_tables import (
    Numberable,
    Tables,
    absent_of,
    by_round,
    check_number,
    check_order,
    phase_of,
    planned_of,
    present,
    unique,
)
from ledger.state.decided import has_precedent
from ledger.state.fold import step
from ledger.state.lifecycle import BEARING_OF_STATUS
from ledger.state.state import State


class Drafting:
    """Drafts of a source's events, round by round, folded as they come.

    `documents` maps paths to the ids of context documents. `notes` list rows that had no place.
    """

    def __init__(self, tables: Tables, documents: Mapping[str, str]) -> None:
        self.events: list[Event] = []
        self.notes: list[str] = []
        self._tables = tables
        self._documents = documents
        self._state = State()
        self._used: Counter[str] = Counter()
        claims = by_round(tables.claims.rows, _round_of)
        verifications = by_round(tables.verifications.rows, _round_of)
        concerns = by_round(tables.concerns.rows, _round_of)
        decisions = by_round(tables.decisions.rows, _round_of)
        leads = by_round(tables.leads, lambda row: row.round)
        drift = by_round(tables.drift, lambda row: row.round)
        for round_ in tables.rounds():
            self._add(self._opened(round_, leads[round_]))
            self._add(self._claim(identity, row) for identity, row in claims[round_])
            self._checks(sorted(verifications[round_], key=check_order))
            self._add(self._concern(identity, row) for identity, row in concerns[round_])
            self._add(self._decision(identity, row) for identity, row in decisions[round_])
            self._add(_drift_check(row) for row in drift[round_])

    def _add(self, events: Iterable[Event]) -> None:
        for event in events:
            step(self._state, event)
            self.events.append(event)

    def _checks(self, checks: Sequence[tuple[str, VerificationRow]]) -> None:
        """Add sealed positions, the verifications that they are about, and then the flips."""
        flips: list[Event] = []
        for identity, row in checks:
            seats = self._positions(identity, row)
            self._add(seats.values())
            flips.extend(self._flips(identity, row, seats))
        self._add(self._verification(identity, row) for identity, row in checks)
        self._add(flips)

    def _opened(self, round_: int, rows: Sequence[LeadRow]) -> list[Event]:
        decided = has_precedent(self._state)
        plan_row = min(max(round_ - 1, 0), self._tables.plan_rows - 1)
        return [_round_opened(row, decided, plan_row) for row in rows or [LeadRow(round=round_)]]

    def _claim(self, identity: str, row: ClaimRow) -> Claim:
        anchor = present(row.anchor_ref)
        older = present(row.supersedes)
        return Claim(
            id=identity,
            round=row.round,
            phase="D" if row.phase is UNSET else row.phase,
            by="import",
            raised_by=row.raised_by,
            text=row.text or "",
            testable_as=row.testable_as or "",
            supersedes=self._tables.claims.now(older) if older else None,
            raised_at_artifact=present(row.raised_at_artifact),
            anchor_ref=self._tables.goals[anchor] if anchor else None,
            sightings=tuple(
                Sighting(role=sighting.role, round=sighting.round)
                for sighting in present(row.sightings) or ()
            ),
        )

    def _positions(self, identity: str, row: VerificationRow) -> dict[Author, Position]:
        stances = present(row.positions_pre) or {}
        number = check_number(row)
        return {
            role: Position(
                id=unique(event_id("position", row.round, number, role), self._used),
                round=row.round,
                phase=phase_of(row),
                by="import",
                on=identity,
                check_id=number,
                stance=stances[role],
                reason="",
            )
            for role in AUTHORS
            if role in stances
        }

    def _verification(self, identity: str, row: VerificationRow) -> Verification:
        now = self._tables.claims.now
        repeats = present(row.repeats)
        refs = (row.evidence_refs,) if isinstance(row.evidence_refs, str) else row.evidence_refs or ()
        return Verification(
            id=identity,
            round=row.round,
            phase=phase_of(row),
            by="import",
            check=CHECKS[check_number(row) - 1] if row.check is UNSET else row.check,
            check_id=check_number(row),
            result=row.result,
            evidence_refs=tuple(Evidence(ref=ref) for ref in refs if ref),
            notes=row.notes or "",
            claims_affected=tuple(now(claim) for claim in row.claims_affected or ()),
            claim_status_changes=tuple(self._change(change) for change in row.claim_status_changes or ()),
            repeats=self._tables.verifications.now(repeats) if repeats else None,
            confidence=present(row.confidence),
        )

    def _change(self, row: ChangeRow) -> StatusChange:
        claim = self._tables.claims.now(row.claim_id)
        facts = self._state.claims.get(claim)
        status: Status = facts.status if facts else "pending"
        implied = BEARING_OF_STATUS.get(row.to, "inconclusive")
        return StatusChange(
            claim_id=claim,
            # A source may leave `from` out. Replay knows the status by then, because events are folded while
            # they are drafted.
            from_=status if row.from_ is UNSET or row.from_ is None else row.from_,
            to=row.to,
            bearing=implied if row.bearing is UNSET else row.bearing,
            class_=present(row.class_),
        )

    def _flips(self, identity: str, row: VerificationRow, seats: Mapping[Author, Position]) -> list[Flip]:
        """Return the flips that a row lists, then those that only its later positions show."""
        stances: dict[Author, Verdict] = {**(present(row.positions_pre) or {})}
        listed = present(row.flips) or ()
        after = present(row.positions_post) or {}
        flips = [event for flip in listed for event in self._flip(identity, row, flip, seats, stances)]
        for role in AUTHORS:
            if role in after and stances.get(role) != after[role]:
                # A changed position without a listed flip is still a flip: leaving it out would hide conformity
                # (FM-1).
                silent = FlipRow(role=role, to=after[role])
                flips.extend(self._flip(identity, row, silent, seats, stances))
        return flips

    def _flip(
        self,
        identity: str,
        row: VerificationRow,
        flip: FlipRow,
        seats: Mapping[Author, Position],
        stances: dict[Author, Verdict],
    ) -> Iterator[Flip]:
        seat = seats.get(flip.role)
        if seat is None:
            self.notes.append(
                f"verifications.jsonl: {identity}: {flip.role} changes a position that was not taken"
            )
            return
        before, stances[flip.role] = stances[flip.role], flip.to
        because = present(flip.because) or ()
        refs = (because,) if isinstance(because, str) else because
        yield Flip(
            id=unique(event_id("flip", row.round, check_number(row), flip.role), self._used),
            round=row.round,
            phase="F" if phase_of(row) == "E" else "S",
            by="import",
            of=seat.id,
            from_=before,
            to=flip.to,
            because=tuple(Evidence(ref=ref) for ref in refs if ref),
        )

    def _concern(self, identity: str, row: SkillConcernRow) -> Concern:
        return Concern(
            id=identity,
            round=row.round,
            phase="G",
            by="import",
            type=row.type,
            text=row.text or "",
            between=row.between,
            severity=present(row.severity),
            for_human=row.for_human is True,
        )

    def _decision(self, identity: str, row: DecisionRow) -> Decision:
        anchor = present(row.anchor_ref)
        return Decision(
            id=identity,
            round=row.round,
            phase="S" if row.type == "final" else "G",
            by="import",
            text=row.text or "",
            type="round" if row.type is UNSET else row.type,
            cites=tuple(
                Cite(type=cite.type, id=self._cited(cite.type, cite.id), relation=cite.relation)
                for cite in row.cites or ()
            ),
            made_by=row.made_by,
            round_artifact_refs=tuple(ref for ref in present(row.round_artifact_refs) or () if ref),
            anchor_ref=self._tables.goals[anchor] if anchor else None,
        )

    def _cited(self, kind: str, identity: str) -> str:
        tables = self._tables
        aliases = {
            "claim": tables.claims.aliases,
            "verification": tables.verifications.aliases,
            "decision": tables.decisions.aliases,
            "concern": tables.concerns.aliases,
            "document": self._documents,
        }
        return aliases.get(kind, {}).get(identity, identity)


def _round_of(pair: tuple[str, Numberable]) -> int:
    return pair[1].round


def _round_opened(row: LeadRow, decided: bool, plan_row: int) -> RoundOpened:
    absent = absent_of(row)
    findings = present(row.findings)
    lead = present(row.lead)
    return RoundOpened(
        round=row.round,
        phase="A",
        by="import",
        lead=None if lead in ("system", "none") else lead,
        focus="",
        absent=absent,
        planned_stress=planned_of(row),
        applicable=tuple(
            check for check, roles in CHECK_NEEDS.items() if absent not in roles and (check != 4 or decided)
        ),
        findings=None
        if findings is None
        else tuple(
            FindingCount(role=role, listed=findings[role].listed, unlinked=findings[role].unlinked)
            for role in AUTHORS
            if role in findings
        ),
        plan_row=plan_row,
    )


def _drift_check(row: DriftRow) -> DriftCheck:
    earlier = present(row.addresses)
    return DriftCheck(
        id=event_id("drift_check", row.round),
        round=row.round,
        phase="H",
        by="import",
        verdict=row.verdict,
        deviation_score=row.deviation_score,
        notes=row.notes or "",
        addresses=None if earlier is None else event_id("drift_check", earlier),
    )
