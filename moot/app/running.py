"""A deliberation opened and driven: what `moot run` and `run_deliberation` do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.store.spending import Spending
from ledger.store.store import DriverLease
from moot import version
from moot.app.clock import now
from moot.app.speech import Speech
from rounds.run.driver import Outcome, Watch, drive
from rounds.run.reservations import Purse
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.opening import Opening, resolve

if TYPE_CHECKING:
    from ledger.events import Event
    from roles.seats.port import Seat, SeatFailed
    from rounds.run.session import Asked
    from rounds.setup.deliberation import Deliberation

QUIET = Watch()


def opening_of(
    deliberation: Deliberation,
    documents: Mapping[str, bytes],
    seats: Mapping[str, str],
    *,
    casting: str | None = None,
    name: str = "deliberation.toml",
    params: bytes | None = None,
) -> Opening:
    """The opening of a new run; `seats` are specifications by role, `params` a parameter file of one's own."""
    kinds = {role: spec.partition(":")[0] for role, spec in seats.items()}
    return resolve(
        deliberation, documents, moot=version(), name=name, casting=casting, seats=kinds, params=params
    )


def with_tapes(opening: Opening, seats: Collection[Seat]) -> Opening:
    """The opening with the prompts of the recording that its seats play, if they play one: a tape fits no other."""
    if not any(seat.kind == "tape" for seat in seats):
        return opening
    from roles.seats.tape import TapeSeat
    from rounds.setup.on_tape import on_tape

    return on_tape(opening, [seat.tape for seat in seats if isinstance(seat, TapeSeat)])


def open_run_at(path: Path, opening: Opening) -> RunSession:
    """Make the run and open its first round."""
    files = {"deliberation.toml": opening.toml.encode()}
    return start(path, opening.event, blobs=opening.blobs, files=files, verdicts=standard, clock=now)


async def drive_run(session: RunSession, seats: Mapping[str, Seat], watch: Watch = QUIET) -> Outcome:
    """Drive a run under its lease until it ends or has to wait. Raises `DriverBusy` when somebody else drives it."""
    with DriverLease(session.run.path) as lease:
        spending = Spending(session.run.path)
        purse = Purse(spending.entries(), spending.note)
        with Speech(session.run.path, now=now, monotonic=time.monotonic) as speech:
            beating = _beating(watch, lease, speech)
            return await drive(session, seats, monotonic=time.monotonic, watch=beating, purse=purse)


def drive_here(session: RunSession, seats: Mapping[str, Seat], watch: Watch = QUIET) -> Outcome:
    """The same from outside any event loop; Ctrl-C closes the run resumably and is raised again."""
    try:
        return asyncio.run(drive_run(session, seats, watch))
    except KeyboardInterrupt:
        session.stop("human")
        raise


def _beating(watch: Watch, lease: DriverLease, speech: Speech) -> Watch:
    """The same watch, with a sign of life at every call and commit, and a word to those who look on from outside."""

    def asked(one: Asked, seat: Seat) -> None:
        lease.beat()
        speech.asked(one.step.id)
        watch.asked(one, seat)

    def committed(events: tuple[Event, ...]) -> None:
        lease.beat()
        speech.answered({event.step for event in events if event.step is not None})
        watch.committed(events)

    def lost(step: str, failure: SeatFailed) -> None:
        speech.answered({step})
        watch.lost(step, failure)

    def words(step: str, piece: str) -> None:
        speech.words(step, piece)
        watch.words(step, piece)

    return Watch(asked=asked, committed=committed, lost=lost, words=words)
