"""The `host` seat: whoever runs `moot next` and `moot submit`, typically an agent host's own agents."""

from __future__ import annotations

from ledger.events.envelope import SeatKind
from roles.seats.port import Request, Seat, SeatReply, SeatWaits
from roles.seats.registry import Wanted


class HostSeat:
    """Answers nothing itself; the step stays open for a submit."""

    kind: SeatKind = "host"

    async def reply(self, request: Request) -> SeatReply:
        """Always raises `SeatWaits`."""
        raise SeatWaits(request.step.id)


def seat_of(_: Wanted) -> Seat:
    """Return a seat that leaves its steps to `moot submit`."""
    return HostSeat()
