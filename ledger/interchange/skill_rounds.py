"""Round files: what one round claimed, tested and decided, for people and for the published drift signal (SD-68)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ledger.events import Claim, Concern, Decision, DriftCheck, Verification
from ledger.interchange.prose import document, inline, quoted
from ledger.state.book import Book


def round_file(book: Book, round_: int, place: Callable[[str, str], str]) -> bytes:
    """The file of one round; `place` turns a ref into a path. A drift verdict stands on a line of its own."""
    opened = book.state.rounds.get(round_)
    lead = f" led by {inline(opened.lead)}" if opened and opened.lead else ""
    away = f", without {inline(opened.absent)}" if opened and opened.absent else ""
    parts = [*_claims(book, round_), *_verifications(book, round_, place), *_concerns(book, round_)]
    parts += [*_decisions(book, round_), *_drift(book, round_)]
    return document(f"Round {round_}{lead}{away}", parts)


def _claims(book: Book, round_: int) -> Iterator[tuple[str, str]]:
    for claim in book.of(Claim, round_):
        status = book.state.claims[claim.id or ""].status
        testable = f"Testable as:\n\n{quoted(claim.testable_as)}"
        yield (
            f"{inline(claim.id or '')}-text",
            f"Claim of {inline(claim.raised_by)}, {inline(status)}.\n\n{quoted(claim.text)}\n\n{testable}",
        )


def _verifications(book: Book, round_: int, place: Callable[[str, str], str]) -> Iterator[tuple[str, str]]:
    for check in book.of(Verification, round_):
        refs = "".join(f"\n- {inline(place(one.ref, check.by))}" for one in check.evidence_refs)
        moved = "".join(
            f"\n- {inline(one.claim_id)} becomes {inline(one.to)}" for one in check.claim_status_changes
        )
        body = f"{inline(check.check)}: {check.result}.\n\n{quoted(check.notes)}"
        yield (
            f"{inline(check.id or '')}-text",
            body + (f"\n\nEvidence:\n{refs}" if refs else "") + (moved and f"\n{moved}"),
        )


def _concerns(book: Book, round_: int) -> Iterator[tuple[str, str]]:
    for concern in book.of(Concern, round_):
        yield f"{inline(concern.id or '')}-text", f"{concern.type.capitalize()}.\n\n{quoted(concern.text)}"


def _decisions(book: Book, round_: int) -> Iterator[tuple[str, str]]:
    for decision in book.of(Decision, round_):
        identity = decision.id or ""
        cites = "".join(f"\n- {cite.relation} {inline(cite.id)}" for cite in decision.cites)
        ended = book.state.decisions[identity].overturned_by
        made = f"Made by {decision.made_by}{f'; overturned by {inline(ended)}' if ended else ''}."
        yield f"{inline(identity)}-text", f"{made}\n\n{quoted(decision.text)}\n{cites}"


def _drift(book: Book, round_: int) -> Iterator[tuple[str, str]]:
    for drift in book.of(DriftCheck, round_):
        verdict = f"Drift check: {drift.verdict}\n\nDeviation {drift.deviation_score} of 5."
        yield f"{inline(drift.id or '')}-text", f"{verdict}\n\n{quoted(drift.notes)}"
