"""The `host` seat: replies are submitted with `moot submit`, typically by an agent host's own agents."""

from __future__ import annotations

from ledger.events.envelope import SeatKind
from roles.seats.port import Request, Seat, SeatReply, SeatWaits
from roles.seats.registry import Wanted


class HostSeat:
    """Seat that never answers itself; its steps stay open until a reply is submitted."""

    kind: SeatKind = "host"

    async def reply(self, request: Request) -> SeatReply:
        """Raise `SeatWaits`."""
        raise SeatWaits(request.step.id)


def seat_of(_: Wanted) -> Seat:
    """Return a seat whose steps are answered with `moot submit`."""
    return HostSeat()
