"""Claims: each with its lifecycle and its standing by arguments, computed by replay."""

from __future__ import annotations

from collections import Counter

import msgspec

from detectors.standing import ClaimStanding, OptionStanding, by_option, standings
from ledger.events import (
    Claim,
)
from ledger.events.values import Bearing, Status
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.lifecycle import HistoryEntry
from ledger.state.state import ClaimFacts
from moot.view.text import WIDTH, folded, joined, listed


class StatusMove(Result, frozen=True):
    """One move of a claim; `by` is the verification's id, or that of the claim that superseded it."""

    from_: Status = msgspec.field(name="from")
    to: Status
    bearing: Bearing | None
    by: str
    seq: int


class ClaimLine(Result, frozen=True):
    """A claim and where it stands. `history` holds the moves that count, in their order (FORMAT 2)."""

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
    standing: ClaimStanding


class Claims(Result, frozen=True):
    """All claims of a run, by round and number, and the options with the standing of the claims about them."""

    run: str
    claims: list[ClaimLine]
    options: list[OptionStanding]


def claims_of(run: str, book: Book) -> Claims:
    """The claims of a book."""
    lines: list[ClaimLine] = []
    found = standings(book.state)
    for identity, facts in book.state.claims.items():
        event = book.by_id[identity]
        assert isinstance(event, Claim), f"{identity} is no claim"
        lines.append(_line(identity, event, facts, found[identity]))
    opened = book.state.opened
    options = [option.id for option in opened.options] if opened else []
    return Claims(
        run=run, claims=lines, options=by_option(options, [(line.about, line.standing) for line in lines])
    )


def _line(identity: str, event: Claim, facts: ClaimFacts, standing: ClaimStanding) -> ClaimLine:
    return ClaimLine(
        id=identity,
        round=event.round,
        raised_by=event.raised_by,
        text=event.text,
        testable_as=event.testable_as,
        supersedes=event.supersedes,
        status=facts.status,
        about=list(event.about),
        anchor_ref=event.anchor_ref,
        history=[_step(entry) for entry in facts.history if entry.legal],
        standing=standing,
    )


def _step(entry: HistoryEntry) -> StatusMove:
    return StatusMove(from_=entry.from_, to=entry.to, bearing=entry.bearing, by=entry.by, seq=entry.seq)


class ClaimTold(msgspec.Struct, frozen=True):
    """A claim with its lifecycle."""

    id: str
    seq: int
    round: int
    raised_by: str
    text: str
    testable_as: str
    status: Status
    history: tuple[HistoryEntry, ...]
    anchor: str | None
    supersedes: str | None
    source: str | None


def tell_claim(book: Book, event: Claim) -> ClaimTold:
    """A claim with its lifecycle."""
    identity = event.id or ""
    facts = book.state.claims[identity]
    return ClaimTold(
        id=identity,
        seq=event.seq,
        round=event.round,
        raised_by=event.raised_by,
        text=event.text,
        testable_as=event.testable_as,
        status=facts.status,
        history=tuple(facts.history),
        anchor=event.anchor_ref,
        supersedes=event.supersedes,
        source=event.raised_at_artifact,
    )


STATUS_MARKS = {
    "pending": "… pending",
    "tested_confirmed": "✓ confirmed",
    "tested_refuted": "✗ refuted",
    "partially_refuted": "◐ partly refuted",
    "tested_unclear": "? unclear",
    "superseded": "→ superseded",
}


def claims_text(found: Claims, width: int = WIDTH) -> str:
    """What `moot claims` prints: each claim, its test, and its moves."""
    lines: list[str] = []
    for claim in found.claims:
        lines.append(f"{claim.id}  {STATUS_MARKS[claim.status]}  raised by {claim.raised_by}")
        lines += folded(claim.text, width=width)
        lines += folded(f"testable as: {claim.testable_as}", width=width)
        if claim.supersedes:
            lines.append(f"  supersedes {claim.supersedes}")
        lines += [
            f"    {STATUS_MARKS[move.from_]} → {STATUS_MARKS[move.to]} by {move.by}"
            f"{f' ({move.bearing})' if move.bearing else ''} @{move.seq}"
            for move in claim.history
        ]
        lines += standing_lines(claim.standing)
    counts: Counter[str] = Counter(claim.status for claim in found.claims)
    parts = [f"{counts[status]} {mark[2:]}" for status, mark in STATUS_MARKS.items() if counts[status]]
    lines.append(f"{len(found.claims)} claims: {listed(parts)}")
    for option in found.options:
        mean = "none tested" if option.strength is None else f"mean strength {option.strength:.2f}"
        told = f"{option.confirmed} confirmed, {option.contested} contested, {option.refuted} refuted"
        lines.append(f"{option.option} by arguments: {told}, {option.untested} without an argument ({mean})")
    return joined(lines)


def standing_lines(standing: ClaimStanding) -> list[str]:
    """A claim's standing by its arguments, and the arguments; nothing while it has none."""
    if standing.label == "untested":
        return []
    lines = [
        f"    by arguments: {standing.label} {standing.strength:.2f}, grounded {standing.grounded},"
        f" probability {standing.probability:.2f}"
    ]
    for one in standing.arguments:
        attacked = f", attacked by {listed(one.attacked_by)}" if one.attacked_by else ""
        lines.append(f"      {one.by} {one.side} {one.strength:.2f}{attacked}")
    return lines
