"""The claims with their lifecycles on a timeline, some hundred at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from ledger.events import Claim
from moot.view.claims import ClaimTold, tell_claim
from moot.view.marks import STATUSES
from moot.web.drawing.lanes import Point, axis, lane
from moot.web.followed import Followed
from moot.web.links import Links
from moot.web.views.overview import claims_by_status

PAGE: Final = 150


@dataclass(frozen=True, slots=True)
class ClaimLane:
    """A claim and its line."""

    claim: ClaimTold
    lane: Markup


@dataclass(frozen=True, slots=True)
class Claims:
    """One page of them, filtered by status, role and words."""

    lanes: tuple[ClaimLane, ...]
    axis: Markup
    counts: dict[str, int]
    roles: tuple[str, ...]
    status: str
    role: str
    text: str
    found: int
    page: int
    pages: int


def claims(
    run: Followed,
    links: Links,
    *,
    status: str = "",
    role: str = "",
    text: str = "",
    page: int = 1,
    size: int = PAGE,
    named: bool = True,
) -> Claims:
    """The claims that match, in order; with `named` false their lines are pictures without links."""
    book, state = run.book(), run.state
    wanted = [
        event
        for event in book.of(Claim)
        if (not status or state.claims[event.id or ""].status == status)
        and (not role or event.raised_by == role)
        and _says(event, text)
    ]
    pages = max(1, -(-len(wanted) // size))
    page = min(max(1, page), pages)
    rounds = max([1, *state.rounds])
    shown = wanted[(page - 1) * size : page * size]
    return Claims(
        lanes=tuple(_lane(tell_claim(book, event), rounds, links, named) for event in shown),
        axis=axis(rounds, [row.round for row in state.rounds.values() if row.absent]),
        counts={one: number for one in STATUSES if (number := claims_by_status(state).get(one))},
        roles=tuple(dict.fromkeys(event.raised_by for event in book.of(Claim))),
        status=status,
        role=role,
        text=text,
        found=len(wanted),
        page=page,
        pages=pages,
    )


def _says(event: Claim, text: str) -> bool:
    said = f"{event.id} {event.text} {event.testable_as}".casefold()
    return all(word in said for word in text.casefold().split())


def _lane(claim: ClaimTold, rounds: int, links: Links, named: bool) -> ClaimLane:
    points = [
        Point(entry.round, entry.to, entry.by, links.event(entry.by))
        for entry in claim.history
        if entry.legal
    ]
    alt = f"life of {claim.id} over the rounds" if named else ""
    return ClaimLane(claim, lane(claim.round, points, rounds, alt))
