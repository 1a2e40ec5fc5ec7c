"""What each role saw and what it cost: seats, briefs with their hashes, isolation, cost by role and phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledger.events import Event
from ledger.state.fold import add_call
from ledger.state.state import Spend
from moot.view.seats import Seat, seats_told
from moot.web.followed import Followed
from moot.web.views.overview import isolation_of

PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Answered:
    """A step that was answered: what its brief is, how much it saw, who answered."""

    step: str
    seq: int
    role: str
    phase: str
    brief: str
    saw: int
    filled: str
    isolation: str
    context: str
    tokens: str
    cost: str
    repairs: int
    breach: str | None
    """Why the brief does not come out again; None while it does, or is not judged."""


@dataclass(frozen=True, slots=True)
class SeatsPage:
    """The page. `costs` are sums by (role, phase); `judged` says how the briefs were checked."""

    seats: tuple[Seat, ...]
    isolation: str
    phases: tuple[str, ...]
    costs: Mapping[tuple[str, str], Spend]
    answered: tuple[Answered, ...]
    judged: str
    page: int
    pages: int
    found: int
    role: str


def seats_page(
    run: Followed,
    verdict: str,
    breaches: Mapping[int, str],
    *,
    role: str = "",
    page: int = 1,
    size: int = PAGE,
) -> SeatsPage:
    """Seats and briefs; `breaches` are what deriving the briefs again found, by seq."""
    replies = [event for event in run.book().events if event.call is not None]
    wanted = [event for event in replies if not role or event.by == role]
    pages = max(1, -(-len(wanted) // size))
    page = min(max(1, page), pages)
    costs = costs_of(run)
    return SeatsPage(
        seats=seats_told(run.book()),
        isolation=isolation_of(run),
        phases=tuple(dict.fromkeys(event.phase for event in replies)),
        costs=costs,
        answered=tuple(_answered(event, breaches) for event in wanted[(page - 1) * size : page * size]),
        judged=verdict,
        page=page,
        pages=pages,
        found=len(wanted),
        role=role,
    )


def costs_of(run: Followed) -> dict[tuple[str, str], Spend]:
    """What the calls took, by role and phase."""
    sums: dict[tuple[str, str], Spend] = {}
    for event in run.book().events:
        if event.call is not None:
            add_call(sums.setdefault((event.by, event.phase), Spend()), event.call)
    return sums


def _answered(event: Event, breaches: Mapping[int, str]) -> Answered:
    call = event.call
    assert call is not None, "a reply's first event has its call"
    known = [count for count in (call.tokens_in, call.tokens_out) if count is not None]
    return Answered(
        step=event.step or f"@{event.seq}",
        seq=event.seq,
        role=event.by,
        phase=event.phase,
        brief=call.brief,
        saw=len(event.saw),
        filled=" ".join(part for part in (call.seat, call.provider, call.model) if part),
        isolation=call.isolation,
        context=call.context.mode or "not named",
        tokens=f"{sum(known):,}" if known else "unknown",
        cost=f"{call.cost_usd} USD" if call.cost_usd is not None else "unknown",
        repairs=max(0, len(call.attempts) - 1),
        breach=breaches.get(event.seq),
    )
