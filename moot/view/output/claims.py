"""`moot claims --json`: every claim with its lifecycle, computed by replay."""

from __future__ import annotations

import msgspec

from detectors.standing import OptionStanding, Standing, by_option, standings
from ledger.events import Claim
from ledger.events.values import Bearing, Status
from ledger.state.book import Book
from ledger.state.lifecycle import HistoryEntry
from ledger.state.state import ClaimFacts
from moot.view.output.base import Output


class Step(Output, frozen=True):
    """One move of a claim; `by` is the verification's id, or that of the claim that superseded it."""

    from_: Status = msgspec.field(name="from")
    to: Status
    bearing: Bearing | None
    by: str
    seq: int


class ClaimLine(Output, frozen=True):
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
    history: list[Step]
    standing: Standing


class Claims(Output, frozen=True):
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


def _line(identity: str, event: Claim, facts: ClaimFacts, standing: Standing) -> ClaimLine:
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


def _step(entry: HistoryEntry) -> Step:
    return Step(from_=entry.from_, to=entry.to, bearing=entry.bearing, by=entry.by, seq=entry.seq)
