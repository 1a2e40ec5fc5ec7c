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
    """Which claims: of one status, of one role, with these words; empty is any."""

    status: str = ""
    role: str = ""
    text: str = ""

    def matches(self, event: Claim, state: State) -> bool:
        """Whether a claim is wanted."""
        words = f"{event.id} {event.text} {event.testable_as}".casefold()
        return (
            self.status in ("", state.claims[event.id or ""].status)
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
    """One page of the claims that are wanted; `counts` are of all of them."""

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
        """Statuses to choose from: value and word."""
        return [(one, f"{one.replace('_', ' ')} ({number})") for one, number in self.counts.items()]


def claims_page(
    run: Followed,
    links: Links,
    wanted: ClaimFilter = ANY,
    *,
    page: int = 1,
    size: int = PAGE,
    named: bool = True,
) -> ClaimsPage:
    """The claims that match, in order; with `named` false their lines are pictures without links."""
    book, state = run.book(), run.state
    matching = [event for event in book.of(Claim) if wanted.matches(event, state)]
    page, pages, shown = paged(matching, page, size)
    rounds = max([1, *state.rounds])
    counts = claims_by_status(state)
    return ClaimsPage(
        lanes=tuple(_lane(tell_claim(book, event), rounds, links, named) for event in shown),
        axis=axis(rounds, [row.round for row in state.rounds.values() if row.absent]),
        counts={one: counts[one] for one in STATUSES if one in counts},
        roles=tuple(dict.fromkeys(event.raised_by for event in book.of(Claim))),
        wanted=wanted,
        found=len(matching),
        page=page,
        pages=pages,
    )


def claims_by_status(state: State) -> dict[str, int]:
    """How many claims stand where."""
    counts: dict[str, int] = {}
    for facts in state.claims.values():
        counts[facts.status] = counts.get(facts.status, 0) + 1
    return counts


def _lane(claim: ClaimTold, rounds: int, links: Links, named: bool) -> ClaimLane:
    points = [
        LanePoint(one.round, one.to, one.by, links.event(one.by)) for one in claim.history if one.counts
    ]
    alt = f"life of {claim.id} over the rounds" if named else ""
    return ClaimLane(claim, lane(claim.round, points, rounds, alt))
