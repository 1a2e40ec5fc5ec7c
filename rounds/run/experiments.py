"""Conducting the experiments of a run: one commit per run of the series, then the judgment.

No lock is held while a program runs. The next slot is read from the ledger before every run, so that a resumed driver
after a crash runs exactly what is missing, and a run that another process committed meanwhile is not committed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ledger.events import Event
from ledger.state.book import Book
from ledger.state.experiments import (
    Slot,
    content_of,
    has_wrong_control,
    next_slot,
    plan_of,
    runs_of,
    slots,
)
from rounds.experiments.bench import Bench, Conducted
from rounds.run.session import RunSession


def conduct(
    session: RunSession,
    bench: Bench,
    experiment: str,
    *,
    times: int | None = None,
    is_interrupted: Callable[[], bool] | None = None,
) -> Iterator[tuple[Event, ...]]:
    """Run an experiment, and yield every commit as soon as it is on disk; the last one holds its judgment.

    Without `times`, the rest of the planned series; with it, that many further repetitions after controls of
    their own. Raises `LookupError` for an experiment that is not planned, and `SandboxInterrupted`.
    """
    # The slots of a further series are numbered after all existing runs.
    earlier = max((run.n for run in runs_of(session.book(), experiment)), default=0)
    more = None if times is None else tuple(slots(times, earlier=earlier))
    while True:
        # The ledger is read before every run: another process may work on the same series at the same time.
        book = session.book()
        slot = (
            next_slot(book, experiment) if more is None else next(iter(_left(book, experiment, more)), None)
        )
        if slot is None:
            break
        conducted = bench.conduct(
            plan_of(book, experiment),
            slot,
            content_of(book.blobs),
            started_at=session.now(),
            is_interrupted=is_interrupted,
        )
        if written := _committed(session, conducted):
            yield written
    # The judgment is the controller's, like all verdicts, and is owed once the series is complete.
    if written := session.settle():
        yield written


def _left(book: Book, experiment: str, more: tuple[Slot, ...]) -> Iterator[Slot]:
    runs = runs_of(book, experiment)
    there = {Slot(run.control, run.n) for run in runs}
    # A control that came out the wrong way makes further repetitions worthless, so they are not run.
    is_over = has_wrong_control(plan_of(book, experiment), runs, content_of(book.blobs))
    return (slot for slot in more if slot not in there and not is_over)


def _committed(session: RunSession, conducted: Conducted) -> tuple[Event, ...]:
    """Commit one run, in the present round and phase; nothing when another process committed it meanwhile."""

    def make(book: Book) -> tuple[Event, ...]:
        # This runs under the lock, so two processes that ran the same slot cannot both commit it.
        slot = Slot(conducted.event.control, conducted.event.n)
        if any(Slot(run.control, run.n) == slot for run in runs_of(book, conducted.event.of)):
            return ()
        state = book.state
        # The round may have moved on while the program ran; the event belongs where it is written.
        return (msgspec.structs.replace(conducted.event, round=state.round, phase=state.phase),)

    return session.commit(make, conducted.blobs)
