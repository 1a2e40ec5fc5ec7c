"""Driving of a run until it ends or has to wait, for `moot run` and for programs, which open and resume runs here."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, Final

from ledger.events import Event
from ledger.store.lock import DriverLease
from ledger.store.spending import Spending
from moot import version
from moot.app.opening import bench_of, open_run_at, place_of, seats_again
from moot.app.runs import AnyPath, Run, remove_run
from moot.app.seats import (
    SeatChoice,
    check_ready,
    declared_seats,
    need_word_for_seats,
    note_opened,
    seated,
    unknown_costs,
    was_opened_here,
)
from moot.app.session import Session
from moot.app.settings import RunOptions, deliberation_of, documents_of
from moot.app.speech import Speech
from moot.errors import SEAT_FAILED, WAITING, MootError
from moot.view.results import RunEnd
from moot.view.seats import unrecorded_spend
from roles.seats.port import Seat, SeatFailed
from rounds.experiments.bench import Bench
from rounds.run.budget import Reservations
from rounds.run.driver import Drive, DriveEnd, Pause, Watch
from rounds.run.session import PendingStep, RunSession
from rounds.setup.deliberation import Deliberation, checked
from rounds.setup.opening import cast_roles, resolve

QUIET: Final = Watch()
UNWATCHED: Final = nullcontext(QUIET)
Deliberating = AnyPath | Mapping[str, Any] | Deliberation
"""A deliberation: a file, the table that such a file holds, or one that was read."""
Seats = str | Mapping[str, Seat | str]
"""Seats: one specification for all roles, as for `moot run --seats`, or a specification or a seat by role."""
STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def driven(
    session: Session,
    seats: Mapping[str, Seat],
    watched: AbstractContextManager[Watch] = UNWATCHED,
    *,
    is_new: bool = False,
    pause: Pause | None = None,
    bench: Bench | None = None,
) -> RunEnd:
    """Drive a run until it ends, has to wait, or reaches a `pause`. Without a `bench` no program is run.

    Raises `MootError` when it is interrupted or a seat fails for good. A new run that failed before anything was
    answered or paid is then removed: it would only lead the list of runs.
    """
    try:
        with watched as watch:
            ended = _drive_here(session.inner, seats, watch, pause, bench)
    except KeyboardInterrupt:
        raise MootError(
            "interrupted",
            "interrupted; everything accepted is kept",
            str(session.path),
            f"go on with `moot run --resume {session.path}`",
            WAITING,
        ) from None
    if ended.state == "failed":
        fix = f"fix the seat, or give another one: `moot run --resume {session.path} --seats …`"
        so_far = (
            f"with {session.state.quorum.text}" if session.state.answered else "before any step was answered"
        )
        # Only a new run: a resumed one holds work of an earlier call, whatever failed now.
        if is_new and _came_to_nothing(session, seats):
            remove_run(session.path)
            so_far = "before anything was answered or paid"
            fix = "the run was removed: put that right and start it again"
        what = f"a seat failed for good {so_far}: {ended.detail}"
        raise MootError("seat_failed", what, str(session.path), fix, SEAT_FAILED)
    # Steps first: a host can answer them without the person, who is needed for the rest.
    awaited = session.open_ids or [*session.experiments, *session.questions]
    return RunEnd.from_parts(
        ended,
        session,
        run=str(session.path),
        waiting=awaited if ended.state in ("waiting", "paused") else [],
    )


def _came_to_nothing(session: Session, seats: Mapping[str, Seat]) -> bool:
    """Return whether a failed run holds no reply and its attempts certainly cost nothing.

    The price of a program is unknown, so a run of programs is kept.
    """
    # Attempts whose answer never reached the ledger still cost: the spending file has them, the state has not.
    unrecorded = unrecorded_spend(session.path)
    return (
        unrecorded.tokens == unrecorded.micro_usd == 0
        and not unknown_costs(seats)
        and not session.state.answered
    )


def _drive_here(
    run: RunSession, seats: Mapping[str, Seat], watch: Watch, pause: Pause | None, bench: Bench | None
) -> DriveEnd:
    """Drive from outside any event loop. Ctrl-C, SIGTERM and SIGHUP close the run resumably and end its programs."""
    try:
        return asyncio.run(_until_ended(drive_run(run, seats, watch, pause, bench)))
    except (KeyboardInterrupt, asyncio.CancelledError) as stopped:
        # The stop is written after the loop has ended, so that no reply can be committed after it. Ctrl-C is a
        # person; any other signal may come from a program, such as a study whose pool broke.
        run.stop("human", " ".join({*stopped.args} - {signal.SIGINT.name}))
        raise KeyboardInterrupt from None


async def _until_ended(driving: Coroutine[Any, Any, DriveEnd]) -> DriveEnd:
    """Drive until the end or a signal to stop: programs of seats would outlive the run that pays for them.

    After a first signal all are ignored: a second one must not interrupt what ends the programs and the run.
    """
    task, loop = asyncio.ensure_future(driving), asyncio.get_running_loop()
    before: dict[signal.Signals, Any] = {}

    def stop(number: int, _frame: object) -> None:
        # For good, since the interpreter gives handlers back before the process is gone.
        for handled in before:
            signal.signal(handled, signal.SIG_IGN)
        loop.call_soon_threadsafe(task.cancel, signal.Signals(number).name)

    # A closed terminal and a shutdown end a run as cleanly as Ctrl-C does.
    for number in STOPPING:
        # `nohup` ignores SIGHUP on purpose; a thread other than the first one may set no handler.
        if signal.getsignal(number) is not signal.SIG_IGN:
            # Not the loop's own handlers: closing the loop takes them away while the run is still being stopped.
            with suppress(ValueError):
                before[number] = signal.signal(number, stop)
    try:
        return await task
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is stop:
                signal.signal(number, handler)


async def drive_run(
    run: RunSession,
    seats: Mapping[str, Seat],
    watch: Watch = QUIET,
    pause: Pause | None = None,
    bench: Bench | None = None,
) -> DriveEnd:
    """Drive a run under its lease until it ends or has to wait. Raises `DriverBusy` when another process drives it.

    `bench` runs the programs of a run that runs them: a ledger's word alone is not the person's consent.
    """
    path = run.run.path
    with DriverLease(path) as lease:
        # Read before the first call, so that a budget counts what earlier processes spent.
        spending = Spending(path)
        reservations = Reservations(spending.entries(), spending.note)
        with Speech(path) as speech:
            beating = _beating(watch, lease, speech)
            return await Drive(
                run,
                seats,
                monotonic=time.monotonic,
                watch=beating,
                reservations=reservations,
                bench=bench,
                pause=pause,
            ).run()


def _beating(watch: Watch, lease: DriverLease, speech: Speech) -> Watch:
    """Return the same watch, with a heartbeat at every call and commit, and news for other processes that watch."""

    def started(step: PendingStep, seat: Seat) -> None:
        lease.beat()
        speech.started(step.step.id)
        watch.started(step, seat)

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

    return Watch(started=started, committed=committed, lost=lost, words=words)


def start(
    deliberation: Deliberating,
    out: AnyPath | None = None,
    seats: Seats = "host",
) -> Session:
    """Open a run and its first round, for step-by-step work; no seat is called.

    `deliberation` is a file, or its table; `out` a new directory, by default one below ./runs. `seats` are recorded as
    what answers. Raises `errors.DeliberationError` for an invalid deliberation.
    """
    return _opened(deliberation, seats, out)[0]


def run_deliberation(deliberation: Deliberating, seats: Seats, out: AnyPath | None = None) -> Run:
    """Run a deliberation until it ends or has to wait, and return the run.

    `deliberation` is a file, its table, or a parsed one; `seats` is a specification for all roles, or a specification
    or a seat by role. Raises `errors.DeliberationError` for an invalid deliberation, `errors.MootError` when a role has
    no seat, and `errors.SeatFailed` when a seat fails for good.
    """
    return asyncio.run(run_deliberation_async(deliberation, seats, out))


async def run_deliberation_async(deliberation: Deliberating, seats: Seats, out: AnyPath | None = None) -> Run:
    """Do the same as `run_deliberation` inside an event loop."""
    return await _driven(*_opened(deliberation, seats, out))


def resume(run: AnyPath | Run, seats: Seats | None = None, *, programs: bool = False) -> Run:
    """Continue a run until it ends or has to wait, by default with the seats that it names itself.

    `programs`: run programs of its replies here, if the run says so; without it the run waits for them. A run that
    another person opened names no seats by itself. Raises what `run_deliberation` raises.
    """
    session = Session(run.path if isinstance(run, Run) else run)
    if seats is None:
        seats = seats_again(str(session.path), session, SeatChoice(None, {}))
        # A library call has no terminal to ask on, so a stranger's run needs its seats named.
        need_word_for_seats(str(session.path), seats, None, is_allowed=was_opened_here(session.path))
    bench = bench_of(session, None) if programs else None
    return asyncio.run(_driven(session, seated(session.state.roles, seats), bench))


def _opened(source: Deliberating, seats: Seats, out: AnyPath | None) -> tuple[Session, dict[str, Seat]]:
    file = None
    if isinstance(source, Mapping):
        deliberation = checked(dict(source), name="deliberation")
    elif isinstance(source, Deliberation):
        deliberation = source
    else:
        file = os.fspath(source)
        deliberation = deliberation_of(file, RunOptions())
    name = file or "deliberation"
    built = seated(cast_roles(deliberation, name), seats)
    check_ready(built)
    documents = documents_of(deliberation, file)
    opening = resolve(deliberation, documents, moot=version(), name=name, seats=declared_seats(built))
    session = open_run_at(place_of(None if out is None else os.fspath(out)), opening, built)
    note_opened(session.path)
    return session, built


async def _driven(session: Session, seats: Mapping[str, Seat], bench: Bench | None = None) -> Run:
    ended = await drive_run(session.inner, seats, bench=bench)
    if ended.state == "failed":
        # The run stays on the disk and can be resumed; the caller learns which seat failed.
        raise SeatFailed("unavailable", ended.detail, fatal=True)
    return Run(session.path)
