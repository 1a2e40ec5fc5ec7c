"""Forks from the command line: where they go, who answers in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

from ledger.state.book import Book
from ledger.store.store import RunStore
from moot import version
from moot.app.clock import now
from moot.app.examples import example_directories
from moot.app.naming import fork_directory
from moot.app.run_options import Wishes, wished
from moot.app.running import opening_of
from moot.app.sessions import open_now
from moot.app.settings import read_settings
from moot.errors import MootError, usage
from moot.view.results import Fork
from rounds.setup.forking import CannotFork, Wish, fork, next_round
from rounds.setup.opening import Opening, cast_roles

NOTHING_SAID = Wishes()


def made_fork(
    parent: Path,
    round_: int | None,
    *,
    without: str | None = None,
    through: int | None = None,
    everybody: str | None = None,
    specs: Mapping[str, str] | None = None,
    out: Path | None = None,
    runs: Path | None = None,
    wishes: Wishes = NOTHING_SAID,
) -> Fork:
    """Make a fork of the run at `parent`, at `out`, or by a name of ours below `runs`.

    `wishes` say how an import goes on; its next round is the one to part at. Raises `MootError` and `LedgerError`.
    """
    if through is not None and without is None:
        raise usage(
            "--through says how long a role is absent, and none is", "add --without ROLE", "--through"
        )
    run = RunStore(parent)
    book = run.book()
    spoken = {role: everybody for role in book.state.roles if everybody is not None} | dict(specs or {})
    kinds = {role: spec.partition(":")[0] for role, spec in spoken.items()}
    round_, base = _going_on(book, round_, wishes, kinds)
    wish = Wish(round_, without, through, kinds, base)
    path = out if out is not None else _place(runs or _runs_for_forks(parent), parent, book, wish)
    try:
        session = fork(run, path, wish, name=parent.resolve().name, moot=version(), clock=now)
    except CannotFork as error:
        raise MootError("cannot_fork", error.what, str(parent), error.fix) from None
    origin = session.opened.origin
    return Fork(
        run=str(path),
        of=str(parent),
        round=round_,
        seq=origin.seq or 0,
        head=origin.head or "",
        without=without,
        through=through,
        seats=dict(kinds),
        waiting=open_now(session),
    )


def _going_on(
    book: Book, round_: int | None, wishes: Wishes, kinds: Mapping[str, str]
) -> tuple[int, Opening | None]:
    """The round to part at, and what an import goes on with."""
    opened = book.state.opening
    if opened.origin.type != "import":
        if round_ is None:
            raise usage("a fork needs to know where to part", "add --round N", "--round")
        if wishes != NOTHING_SAID:
            raise usage("a fork keeps the question and the plan of its parent", "leave them out", "moot fork")
        return round_, None
    if opened.protocol != "structured":
        raise usage(
            f"an import of {opened.protocol} is finished", "start a new run on its question", "moot fork"
        )
    if not (wishes.question or opened.question):
        raise usage("the import does not say what is deliberated", "add -q QUESTION", "moot fork")
    asked = replace(wishes, question=wishes.question or opened.question, domain=opened.domain)
    deliberation = wished(None, asked)
    roles = cast_roles(deliberation)
    seats = {role: kinds.get(role, "host") for role in roles}
    base = opening_of(deliberation, {}, seats)
    return next_round(book) if round_ is None else round_, base


def _runs_for_forks(parent: Path) -> Path:
    """Beside the parent; the fork of a recorded example goes where new runs go."""
    beside = parent.resolve().parent
    is_example = beside in (directory.resolve() for directory in example_directories())
    return read_settings().runs if is_example else beside


def _place(runs: Path, parent: Path, book: Book, wish: Wish) -> Path:
    opened = book.state.opening
    change = f"r{wish.round}-without-{wish.without}" if wish.without else f"r{wish.round}-again"
    return fork_directory(runs, parent.resolve().name, opened.question, change, date.today())
