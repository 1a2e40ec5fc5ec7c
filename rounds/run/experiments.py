"""Running an experiment of a run: each run of its series a commit of its own, then its judgement.

No lock is held while a program runs. What comes next is read from the ledger before every run, so that whoever goes on
after a crash runs exactly what is not there yet; and what somebody else committed meanwhile is not committed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ledger.events import Event
from ledger.state.book import Book
from ledger.state.series import (
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
    """Run an experiment, and give every commit as soon as it is on the disk; the last one holds its judgement.

    Without `times` the planned series, as far as it is not there; with it so many repetitions more, behind controls of
    their own. Raises `LookupError` for an experiment that is not planned, and `SandboxInterrupted`.
    """
    more = None if times is None else tuple(_more(session.book(), experiment, times))
    while True:
        book = session.book()
        slot = (
            next_slot(book, experiment) if more is None else next(iter(_left(book, experiment, more)), None)
        )
        if slot is None:
            break
        made = bench.conduct(
            plan_of(book, experiment),
            slot,
            content_of(book.blobs),
            started_at=session.now(),
            is_interrupted=is_interrupted,
        )
        if written := _committed(session, made):
            yield written
    if written := session.settle():
        yield written


def _more(book: Book, experiment: str, times: int) -> Iterator[Slot]:
    """The slots of a further series, numbered behind all that there are."""
    behind = max((run.n for run in runs_of(book, experiment)), default=0)
    return slots(times, behind=behind)


def _left(book: Book, experiment: str, more: tuple[Slot, ...]) -> Iterator[Slot]:
    runs = runs_of(book, experiment)
    there = {Slot(run.control, run.n) for run in runs}
    is_over = has_wrong_control(plan_of(book, experiment), runs, content_of(book.blobs))
    return (slot for slot in more if slot not in there and not is_over)


def _committed(session: RunSession, made: Conducted) -> tuple[Event, ...]:
    """Commit one run, in the round and phase that the run is in; nothing when somebody did it meanwhile."""

    def make(book: Book) -> tuple[Event, ...]:
        slot = Slot(made.event.control, made.event.n)
        if any(Slot(run.control, run.n) == slot for run in runs_of(book, made.event.of)):
            return ()
        state = book.state
        return (msgspec.structs.replace(made.event, round=state.round, phase=state.phase),)

    return session.commit(make, made.blobs)
