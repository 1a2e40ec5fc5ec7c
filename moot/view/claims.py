"""Claims of a run, each with its lifecycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from ledger.events import (
    Claim,
)
from ledger.events.values import Bearing, Status
from ledger.result import Result, extended
from ledger.state.book import Book
from ledger.state.lifecycle import HistoryEntry
from ledger.state.state import ClaimFacts
from moot.view.evidence import SHOWN_AS, claim_mark, how_tested, last_test, told_move, told_status
from moot.view.marks import STATUSES, Mark
from moot.view.text import WIDTH, folded, joined, listed


class StatusMove(Result, frozen=True):
    """One move of a claim; `by` is the verification's id, or that of the claim that superseded it.

    `class` is the class of the evidence, null where the ledger has none, as in an import; `tested` says in words how
    the move came about: `ran ×3`, `quoted`, `read by verifier`.
    """

    from_: Status = msgspec.field(name="from")
    to: Status
    bearing: Bearing | None
    by: str
    seq: int
    class_: str | None = msgspec.field(name="class")
    tested: str


class ClaimLine(Result, frozen=True):
    """A claim and where it stands. `history` holds the moves that count, in their order (FORMAT 2).

    `class` and `tested` are those of its last test.
    """

    id: str
    round: int
    raised_by: str
    text: str
    testable_as: str
    supersedes: str | None
    status: Status
    about: list[str]
    anchor_ref: str | None
    history: list[StatusMove]
    class_: str | None = msgspec.field(name="class")
    tested: str


class Claims(Result, frozen=True):
    """All claims of a run, by round and number."""

    run: str
    claims: list[ClaimLine]


def claims_of(run: str, book: Book) -> Claims:
    """Return the claims of a book."""
    lines: list[ClaimLine] = []
    for identity, facts in book.state.claims.items():
        event = book.by_id[identity]
        # The fold only creates claim facts from claims, so this guards the type, not the input.
        assert isinstance(event, Claim), f"{identity} is no claim"
        lines.append(_line(book, event, facts))
    return Claims(run=run, claims=lines)


def _line(book: Book, event: Claim, facts: ClaimFacts) -> ClaimLine:
    identity = event.id
    # A superseded claim keeps the level of the test that came before.
    last = last_test(book, identity)
    return ClaimLine.from_parts(
        event,
        facts,
        # Illegal and outweighed moves stay on the ledger but change no status (SD-44).
        history=[
            StatusMove.from_parts(entry, class_=entry.class_ or None, tested=how_tested(book, entry))
            for entry in facts.history
            if entry.counts
        ],
        class_=(last.class_ or None) if last is not None else None,
        tested=how_tested(book, last) if last is not None else "",
    )


class ClaimTold(Claim, frozen=True, kw_only=True):
    """A claim with its lifecycle; `tested` says how each move came about, `mark` shows its status."""

    status: Status
    history: tuple[HistoryEntry, ...]
    tested: tuple[str, ...]
    mark: Mark


def tell_claim(book: Book, event: Claim) -> ClaimTold:
    """Return a claim with its lifecycle."""
    facts = book.state.claims[event.id]
    return extended(
        ClaimTold,
        event,
        status=facts.status,
        history=tuple(facts.history),
        tested=tuple(how_tested(book, entry) for entry in facts.history),
        mark=claim_mark(book, event.id),
    )


def lifecycle(claim: ClaimTold) -> str:
    """Return the moves of a claim: `○ pending → ● quoted (V-3-1) → ⇢ superseded (C-5-2)`."""
    steps = [STATUSES["pending"].plain]
    for entry, how in zip(claim.history, claim.tested, strict=True):
        # A re-test with the same result is recorded as a move of its own (SD-44).
        again = " again" if entry.from_ == entry.to else ""
        illegal = ", not allowed" if not entry.legal else ", outweighed" if entry.outweighed else ""
        status = told_status(entry.to, entry.class_, how)
        steps.append(f"{status}{again} ({entry.by}{illegal})")
    return " → ".join(steps)


def claims_text(claims: Claims, width: int = WIDTH) -> str:
    """Return what `moot claims` prints: each claim, its test, and its moves."""
    lines: list[str] = []
    for claim in claims.claims:
        stands = told_status(claim.status, claim.class_, claim.tested)
        lines.append(f"{claim.id}  {stands}  raised by {claim.raised_by}")
        lines += folded(claim.text, width=width)
        lines += folded(f"testable as: {claim.testable_as}", width=width)
        if claim.supersedes:
            lines.append(f"  supersedes {claim.supersedes}")
        lines += _moves(claim.history)
    # Count by level, not by `ran ×3` and `ran ×5`, or the summary would list every number of runs.
    counts = Counter((claim.status, _class(claim)) for claim in claims.claims)
    ordered = sorted(counts, key=lambda key: list(STATUSES).index(key[0]))
    # The first two characters are the shape and its space, which a summary does not need.
    parts = [f"{counts[key]} {told_status(*key, key[1])[2:]}" for key in ordered]
    lines.append(f"{len(claims.claims)} claims: {listed(parts)}")
    return joined(lines)


def _moves(history: Sequence[StatusMove]) -> Iterator[str]:
    before = STATUSES["pending"].plain
    for move in history:
        bearing = f" ({move.bearing})" if move.bearing else ""
        after = told_move(move.to, move.class_ or "", move.tested, move.by)
        yield f"    {before} → {after}{bearing} @{move.seq}"
        # Each line starts from the status as it was worded on the line before.
        before = told_status(move.to, move.class_, move.tested)


def _class(claim: ClaimLine) -> str:
    """Return the evidence level by which a claim is counted, however often its program ran."""
    return "" if claim.class_ is None else SHOWN_AS[claim.class_]
