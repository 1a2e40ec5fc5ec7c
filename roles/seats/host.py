"""Seats of people and agents outside: `human` types at the terminal, `host` submits with `moot submit`."""

from __future__ import annotations

from ledger.events.envelope import SeatKind
from roles.seats.port import Ask, Request, Seat, SeatFailed, SeatReply, SeatWaits
from roles.seats.registry import Wanted


class HostSeat:
    """Seat that never answers itself; its steps stay open until a reply is submitted."""

    kind: SeatKind = "host"

    async def reply(self, request: Request) -> SeatReply:
        """Raise `SeatWaits`."""
        raise SeatWaits(request.step.id)


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
    """Return a seat for the person at the terminal, or one whose steps are answered with `moot submit`."""
    return HumanSeat(wanted.ask()) if wanted.row.runs == "person" else HostSeat()
