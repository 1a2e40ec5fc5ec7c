"""Verifications and drift checks: what they are about, and the evidence that they rest on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Claim, DriftCheck, Verification
from ledger.events.ids import parse_reference
from roles.evidence import evidence_class, exhibits
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule


@rule("REF001", "error", source="SD-49 (1), SD-50", published=1)
def affected_claims_exist(index: LedgerIndex) -> Iterator[Breach]:
    """Every claim that a verification tests or moves was raised before.

    A verdict on a claim that was never raised, or raised later, tests nothing.
    """
    for event in index.events:
        if not isinstance(event, Verification):
            continue
        named = (*event.claims_affected, *(change.claim_id for change in event.claim_status_changes))
        for identity in dict.fromkeys(named):
            if not isinstance(index.earlier(identity, event.seq), Claim):
                yield Breach(event.seq, f"{event.id} names {identity}, which is no claim raised before it")


@rule("REF002", "error", source="SD-49 (2), SD-50, FORMAT 2 (`Ref`), FORMAT 12", published=2)
def evidence_resolves(index: LedgerIndex) -> Iterator[Breach]:
    """The evidence of a verification points at a section or at lines that exist.

    It points at a section of an earlier event or at lines of a context document; in an import at a file that came
    with it,
    where a missing one is a warning. This closes three gaps: sections were never looked up, `#x` pointed at the
    folder,
    and inapplicable checks could point anywhere.
    """
    files = (
        frozenset(_bare(entry.name) for entry in index.opened.context) if index.opened else frozenset[str]()
    )
    for event in index.events:
        if not isinstance(event, Verification):
            continue
        of_changes = (evidence for change in event.claim_status_changes for evidence in change.evidence)
        # The same reference may serve several claims; it is reported once.
        refs = dict.fromkeys(evidence.ref for evidence in (*event.evidence_refs, *of_changes))
        lost = [ref for ref in refs if index.passages(ref, event.seq) is None]
        if event.by != "import" and lost:
            what = "no section of an earlier event and no document's lines"
            yield Breach(event.seq, f"{event.id}: {', '.join(map(repr, lost))}: {what}")
        # Refs of an import are paths. The file part decides, because sections of foreign files are not indexed.
        missing = [repr(ref) for ref in lost if _bare(ref.partition("#")[0]) not in files]
        if event.by == "import" and missing:
            yield Breach(
                event.seq, f"{event.id}: no file came with this import for {', '.join(missing)}", "warning"
            )


def _bare(path: str) -> str:
    return path.strip().removeprefix("./")


PIECES_MIN: Final = 2


@rule("REF005", "error", source="SD-38, SD-49 (7), SD-50", published=7)
def evidence_has_two_references(index: LedgerIndex) -> Iterator[Breach]:
    """A verification has at least two different pieces of evidence, unless it is inapplicable.

    One piece is an anecdote, and the same piece twice is still one. Asked of imports alone: elsewhere each claim that a
    verification moves has evidence of its own, and one piece is enough.
    """
    for event in index.events:
        if isinstance(event, Verification) and event.result != "NOT_APPLICABLE" and event.by == "import":
            # Two different quotes from one place are two pieces of evidence.
            pieces = {(evidence.ref, evidence.quote) for evidence in event.evidence_refs}
            if len(pieces) < PIECES_MIN:
                yield Breach(
                    event.seq,
                    f"{event.id} rests on {len(pieces)} different pieces of evidence, not {PIECES_MIN}",
                )


@rule("REF007", "error", source="FORMAT 2 (`class`)", applies_to_imports=False)
def class_follows_from_its_evidence(index: LedgerIndex) -> Iterator[Breach]:
    """The class of a status change follows from its own evidence, not from what a seat calls it.

    A document's words are quoted, arithmetic that agrees is calculated, another role's text is argued; a claim that
    rests on its own author alone is stated, not tested. What was run is judged by experiments, never by a verdict.
    What
    the controller computes from an expression is computed again from the reply.
    """
    for event in index.events:
        if not isinstance(event, Verification) or event.by == "controller":
            continue
        for change in event.claim_status_changes:
            claim = index.earlier(change.claim_id, event.seq)
            # Verdicts that were recorded before classes existed state none.
            if change.class_ is None or not isinstance(claim, Claim):
                continue
            pieces = exhibits(index.book, change.claim_id, change.evidence)
            # A seat's own word for its evidence is never trusted (SD-45): a higher class would outweigh real
            # tests.
            expected = evidence_class(pieces, claim.raised_by, change.bearing)
            if change.class_ != expected:
                yield Breach(
                    event.seq,
                    f"{event.id} calls {change.claim_id} {change.class_}; its evidence comes to {expected}",
                )


@rule("STY007", "warning", source="SD-10, SD-11, SD-37", applies_to_imports=False)
def evidence_is_quoted(index: LedgerIndex) -> Iterator[Breach]:
    """A verification quotes at least one of the things it rests on.

    A paraphrase is the verifier's word for it; a quotation can be looked up.
    """
    for event in index.events:
        if not isinstance(event, Verification) or event.step is None or not event.evidence_refs:
            continue
        if _found_nothing(event):
            continue
        if not any(evidence.quote for evidence in event.evidence_refs):
            yield Breach(event.seq, f"{event.id} quotes nothing of what it rests on")


@rule("STY008", "warning", source="SD-40, SD-83")
def evidence_is_deep(index: LedgerIndex) -> Iterator[Breach]:
    """At least one piece of a verification's evidence points below a header.

    A reference to a whole artifact or to a section without a number shows that something was opened, not that it was
    read.
    """
    for event in index.events:
        if not isinstance(event, Verification) or not event.evidence_refs or _found_nothing(event):
            continue
        if all(is_shallow(evidence.ref) for evidence in event.evidence_refs):
            yield Breach(event.seq, f"{event.id} points at headers alone: {event.evidence_refs[0].ref}")


def _found_nothing(event: Verification) -> bool:
    """Return whether documents were read and do not settle the claim, so that there is nothing to quote."""
    return event.phase == "D" and event.result == "UNCLEAR"


def is_shallow(ref: str) -> bool:
    """Return whether a reference names no lines and no numbered section (FORMAT 3)."""
    reference = parse_reference(ref)
    return reference.lines is None and not (reference.section or "")[-1:].isdigit()


@rule("DRF001", "error", source="SD-58, SD-68, FORMAT 2 (`drift_check`)")
def drift_check_covers_every_goal(index: LedgerIndex) -> Iterator[Breach]:
    """A drift check judges every goal, and only a PASS answers an earlier FAIL.

    A goal that is left out is where a deliberation has drifted from.
    """
    goals = sorted(goal.id for goal in index.opened.goals) if index.opened else []
    for event in index.events:
        if not isinstance(event, DriftCheck):
            continue
        if not index.is_imported(event.seq) and sorted(anchor.goal for anchor in event.anchors) != goals:
            yield Breach(event.seq, f"{event.id} does not judge each of {', '.join(goals)} once")
        if event.addresses is not None:
            failed = index.earlier(event.addresses, event.seq)
            # S5 counts answered FAILs, so a wrong `addresses` could satisfy a stop signal.
            if event.verdict != "PASS" or not isinstance(failed, DriftCheck) or failed.verdict != "FAIL":
                yield Breach(
                    event.seq, f"{event.id} addresses {event.addresses}; only a PASS answers an earlier FAIL"
                )
