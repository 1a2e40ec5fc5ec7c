"""The same question several times, each in a run of its own below one directory; said again, it goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from moot.app import running
from moot.app.run_options import RunOptions
from moot.app.seats import SeatChoice
from moot.app.session import Session
from moot.view.repeats import Repeats, repeated_run, repeats_of

if TYPE_CHECKING:
    from roles.seats.port import Seat
    from rounds.run.driver import Watch

Watched = Callable[[Session, Mapping[str, "Seat"]], "AbstractContextManager[Watch]"]


def repeated(
    times: int,
    folder: Path,
    file: str | None,
    options: RunOptions,
    choice: SeatChoice,
    *,
    casting: str | None,
    watched: Watched,
) -> Repeats:
    """Open and drive `times` runs, one after the other; those that are finished stay as they are.

    The n-th has the seed of the first and n − 1 more. What all of them may cost is said before the first. Raises
    `MootError` when one is interrupted or a seat fails for good; the same call goes on there.
    """
    first = replace(choice, times=times)
    paths = [folder / f"{n:0{len(str(times))}d}" for n in range(1, times + 1)]
    for n, path in enumerate(paths):
        if (path / "head").is_file():
            if Session(path).finished:
                continue
            later = RunOptions(
                budget=options.budget, experiments=options.experiments, no_wait=options.no_wait
            )
            session, made = running.resumed(str(path), replace(first, told=None), later)
        else:
            seeded = replace(options, seed=(options.seed or 0) + n)
            session, made = running.opened(file, seeded, first, casting=casting, directory=path)
        first = replace(first, told=None)  # the size was said, and agreed to, once for all
        running.driven(session, made, watched(session, made))
    return told_of(folder, times, paths)


def told_of(folder: Path, times: int, paths: list[Path]) -> Repeats:
    """What the runs that are there came to."""
    books = [(path, Session(path).inner.book()) for path in paths if (path / "head").is_file()]
    question = books[0][1].state.opening.question if books else ""
    return repeats_of(str(folder), question, times, [repeated_run(str(path), book) for path, book in books])
