"""How a run is watched while it goes: the live view on a terminal, plain lines elsewhere, nothing when silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.render.lines import event_line
from moot.terminal import show
from rounds.driver import Watch

if TYPE_CHECKING:
    from ledger.events import Event
    from roles.seats.port import Seat, SeatFailed
    from rounds.session import Asked

OUTSIDE = ("host",)
"""Seats that answer from outside: that they were asked is no news."""


def watch_of(*, live: bool, silent: bool) -> Watch:
    """The watch for a run of `moot run`."""
    del live
    return Watch() if silent else Watch(asked=_asked, committed=_committed, lost=_lost)


def _asked(asked: Asked, seat: Seat) -> None:
    if seat.kind not in OUTSIDE:
        show(f"      {asked.step.id} is asked ({seat.kind})\n")


def _committed(events: tuple[Event, ...]) -> None:
    show("".join(f"{event_line(event)}\n" for event in events))


def _lost(step: str, failure: SeatFailed) -> None:
    show(f"      {step} is lost: {failure.reason}, {failure.detail.splitlines()[0]}\n")
