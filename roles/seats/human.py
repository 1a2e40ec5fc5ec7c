"""The `human` seat: a person at the terminal. The shell decides how that person is asked."""

from __future__ import annotations

from ledger.events.envelope import SeatKind
from roles.seats.port import Ask, Request, Seat, SeatFailed, SeatReply
from roles.seats.registry import Wanted


class HumanSeat:
    """Seat of one person, for one or more roles. Isolation is trusted: the person may know more."""

    kind: SeatKind = "human"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def reply(self, request: Request) -> SeatReply:
        """Ask the person and return the typed reply. Raises `SeatFailed` when the person gives up the step."""
        content = await self._ask(request)
        if content is None:
            raise SeatFailed("given_up", "the person gave the step up")
        return SeatReply(content=content, seat="human", isolation="trusted")


def seat_of(wanted: Wanted) -> Seat:
    """Return a seat for the person at the terminal."""
    return HumanSeat(wanted.ask())
