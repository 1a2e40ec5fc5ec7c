"""The claims with their lifecycles on a timeline, some hundred at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from markupsafe import Markup

from ledger.events import Claim
from ledger.state.state import State
from moot.view.claims import ClaimTold, tell_claim
from moot.view.marks import STATUSES
from moot.web.drawing import LanePoint, axis, lane
from moot.web.followed import Followed
from moot.web.links import Links
from moot.web.templating import paged

PAGE: Final = 150


class ClaimFilter(NamedTuple):
    """Filter of claims by status, role and words; an empty field matches all."""

    status: str = ""
    role: str = ""
    text: str = ""

    def matches(self, event: Claim, state: State) -> bool:
        """Return whether a claim passes the filter."""
        # The id is searched too, so that a person can paste it into the search field.
        words = f"{event.id} {event.text} {event.testable_as}".casefold()
        return (
            self.status in ("", state.claims[event.id].status)
            and self.role in ("", event.raised_by)
            and all(word in words for word in self.text.casefold().split())
        )


ANY: Final = ClaimFilter()


class ClaimLane(NamedTuple):
    """A claim and its line."""

    claim: ClaimTold
    lane: Markup


@dataclass(frozen=True, slots=True)
class ClaimsPage:
    """One page of the filtered claims; `counts` are of all claims."""

    lanes: tuple[ClaimLane, ...]
    axis: Markup
    counts: dict[str, int]
    roles: tuple[str, ...]
    wanted: ClaimFilter
    found: int
    page: int
    pages: int

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Return the statuses to choose from: value and label."""
        return [(status, f"{status.replace('_', ' ')} ({number})") for status, number in self.counts.items()]


def claims_page(
    run: Followed,
    links: Links,
    wanted: ClaimFilter = ANY,
    *,
    page: int = 1,
    size: int = PAGE,
    named: bool = True,
) -> ClaimsPage:
    """Return the claims that match, in order; with `named` false their lanes are pictures without links."""
    book, state = run.book(), run.state
    matching = [event for event in book.of(Claim) if wanted.matches(event, state)]
    # Only the claims of this page get a lane: drawing thousands would take seconds.
    page, pages, rows = paged(matching, page, size)
    # An import may have claims and no rounds; the axis needs at least one.
    rounds = max([1, *state.rounds])
    counts = claims_by_status(state)
    return ClaimsPage(
        lanes=tuple(_lane(tell_claim(book, event), rounds, links, named) for event in rows),
        axis=axis(rounds, [row.round for row in state.rounds.values() if row.absent]),
        # In the fixed order of the statuses, so that the filter chips never change places.
        counts={status: counts[status] for status in STATUSES if status in counts},
        roles=tuple(dict.fromkeys(event.raised_by for event in book.of(Claim))),
        wanted=wanted,
        found=len(matching),
        page=page,
        pages=pages,
    )


def claims_by_status(state: State) -> dict[str, int]:
    """Return the number of claims in each status."""
    counts: dict[str, int] = {}
    for facts in state.claims.values():
        counts[facts.status] = counts.get(facts.status, 0) + 1
    return counts


def _lane(claim: ClaimTold, rounds: int, links: Links, named: bool) -> ClaimLane:
    points = [
        LanePoint(move.round, move.to, move.by, links.event(move.by)) for move in claim.history if move.counts
    ]
    alt = f"life of {claim.id} over the rounds" if named else ""
    return ClaimLane(claim, lane(claim.round, points, rounds, alt))
