"""Forks: a new run that shares the beginning of another one, its directory, and what the forks of a run lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from detectors.observations import deliberating_roles
from detectors.signals import signals_of_state
from ledger.state.book import Book
from ledger.store.disk import read_plain, real
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot import version
from moot.app.runs import AnyPath, Run, example_directories, fork_directory
from moot.app.seat_specs import spoken
from moot.app.seats import note_opened, was_opened_here
from moot.app.session import Session
from moot.app.settings import RunOptions, deliberation_of
from moot.environment import now, read_settings
from moot.errors import MootError, usage
from moot.view.agreement import pools_without
from moot.view.comparison import Stress
from moot.view.results import Fork
from roles.seats.registry import declared_of
from rounds.analysis.stress import (
    ForkLosses,
    changed_rounds,
    is_fork_of,
    lost,
    missing,
    planned_forks,
    report_order,
    role_losses,
)
from rounds.protocols import named_protocol
from rounds.run.forking import CannotFork, Wish, fork as fork_ledger, next_round
from rounds.setup.opening import Opening, cast_roles, resolve

NOTHING_SAID: Final = RunOptions()
STREAM_BYTES_MAX: Final = 1 << 28
MARK: Final = b'"origin":{"type":"fork"'
"""Text in the decisions of every fork; searching for it first is cheaper than reading each run."""


class ForkPoint(NamedTuple):
    """Where a fork parts from its parent: at a round, perhaps without a role through another one, or at the end."""

    round: int | None = None
    without: str | None = None
    through: int | None = None
    here: bool = False

    def check(self) -> None:
        """Raise `MootError` for options that exclude each other."""
        if self.through is not None and self.without is None:
            what = "--through says how long a role is absent, and none is"
            raise usage(what, "add --without ROLE", "--through")
        if self.here and (self.round is not None or self.without is not None):
            raise usage("--here parts at the last commit", "leave --round and --without out", "--here")


def made_fork(
    parent: Path,
    parting: ForkPoint,
    seats: tuple[str | None, Mapping[str, str]] = (None, {}),
    *,
    out: Path | None = None,
    runs: Path | None = None,
    options: RunOptions = NOTHING_SAID,
) -> Fork:
    """Create a fork of the run at `parent`, at `out` or under a generated name below `runs`.

    `seats`: one specification for all roles, and those of single roles. `options` say how an import goes on; the fork
    of an import parts at its next round. Raises `MootError` and `LedgerError`.
    """
    parting.check()
    run = RunStore(parent)
    book = run.book()
    kinds = {role: declared_of(spec) for role, spec in spoken(book.state.roles, *seats).items()}
    round_, base = _going_on(book, book.state.round if parting.here else parting.round, options, kinds)
    wish = Wish(round_, parting.without, parting.through, kinds, base, parting.here)
    path = out if out is not None else _place(runs or _runs_for_forks(parent), parent, book, wish)
    try:
        session = fork_ledger(run, path, wish, name=real(parent).name, moot=version(), clock=now)
    except CannotFork as error:
        raise MootError("cannot_fork", error.what, str(parent), error.fix) from None
    # A fork holds the parent's ledger, so it is trusted exactly as far as the parent was.
    if was_opened_here(parent):
        note_opened(path)
    origin = session.opened.origin
    return Fork(
        run=str(path),
        of=str(parent),
        round=round_,
        seq=origin.seq or 0,
        head=origin.head or "",
        without=parting.without,
        through=parting.through,
        seats=dict(kinds),
        waiting=Session(path).open_ids,
    )


def fork(
    run: AnyPath | Run,
    round: int,
    out: AnyPath | None = None,
    *,
    without: str | None = None,
    seats: str = "host",
) -> Session:
    """Create a run that shares everything before `round` with `run`, byte for byte, and goes on with `seats`.

    `without` names a role that is absent from that round. Raises `errors.MootError` for an impossible fork.
    """
    parent = run.path if isinstance(run, Run) else Path(run)
    place = None if out is None else Path(out)
    return Session(made_fork(parent, ForkPoint(round, without), (seats, {}), out=place).run)


def _going_on(
    book: Book, round_: int | None, options: RunOptions, kinds: Mapping[str, str]
) -> tuple[int, Opening | None]:
    """Return the round to part at, and the opening that an import goes on with."""
    opened = book.state.opening
    # A run of moot brings its question and plan along; an import has neither, so the fork must be given both.
    if opened.origin.type != "import":
        if round_ is None:
            raise usage("a fork needs to know where to part", "add --round N or --here", "--round")
        if options.table:
            raise usage("a fork keeps the question and the plan of its parent", "leave them out", "moot fork")
        return round_, None
    if named_protocol(opened).fixed_plan:
        raise usage(
            f"an import of {opened.protocol} is finished", "start a new run on its question", "moot fork"
        )
    # Files of other systems often keep the answers without the question.
    settings = {"question": opened.question, **options.of("deliberation")}
    if not settings["question"]:
        raise usage("the import does not say what is deliberated", "add -q QUESTION", "moot fork")
    settings |= {"protocol": opened.protocol, **({} if opened.domain is None else {"domain": opened.domain})}
    deliberation = deliberation_of(None, RunOptions({"deliberation": settings}))
    seats = {role: kinds.get(role, "host") for role in cast_roles(deliberation)}
    base = resolve(deliberation, {}, moot=version(), seats=seats)
    return next_round(book) if round_ is None else round_, base


def _runs_for_forks(parent: Path) -> Path:
    """Return the directory next to the parent; forks of a recorded example go where new runs go."""
    beside = real(parent).parent
    is_example = beside in (real(directory) for directory in example_directories())
    return read_settings().runs if is_example else beside


def _place(runs: Path, parent: Path, book: Book, wish: Wish) -> Path:
    # The name tells what differs, and nothing of the question: every seat sees it.
    change = f"r{wish.round}-without-{wish.without}" if wish.without else f"r{wish.round}-again"
    change = f"from-{len(book.events) - 1}" if wish.here else change
    return fork_directory(runs, real(parent).name, change)


def stress(path: Path, *, roles: Sequence[str] = (), per_role: int, make: bool) -> Stress:
    """Return what the forks of a run show. With `make`, create the missing planned ones, ready to be answered.

    Raises `MootError` and `LedgerError`.
    """
    parent = RunStore(path).book()
    known = deliberating_roles(parent.state)
    # A misspelled role would match no fork, and look like a run without losses.
    for role in roles:
        if role not in known:
            raise usage(f"no role {role!r}", f"roles are {', '.join(known)}", "--role")
    if parent.state.opening.origin.type == "import":
        raise usage("an import has no steps, so it has no forks", "stress a run that moot made", str(path))
    planned = [wish for wish in planned_forks(parent.state, per_role) if not roles or wish.role in roles]
    shares = pools_without(parent)
    # Leaving a role out of the group forecast costs nothing to compute: a role that moves nothing there needs no
    # fork.
    spared = [] if roles else [share.role for share in shares if not (share.changes or share.close)]
    planned = [wish for wish in planned if wish.role not in spared]
    forks = list(_forks(path, parent))
    changed = [changed_rounds(book.state, parent.state) for _, book in forks]
    wanted = missing(planned, changed)
    created = [made_fork(path, ForkPoint(wish.round, wish.role)).run for wish in wanted] if make else []
    compared = [_compared(name, book, parent) for name, book in forks]
    return Stress(
        run=str(path),
        made=created,
        missing=[] if make else wanted,
        unfinished=[fork.run for fork in compared if not fork.rounds] + created,
        forks=report_order([fork for fork in compared if fork.rounds]),
        roles=[loss for loss in role_losses(known, compared) if not roles or loss.role in roles],
        left_out=list(shares),
        spared=spared,
    )


def _forks(path: Path, parent: Book) -> Iterator[tuple[str, Book]]:
    """Yield the runs that share the parent's beginning, next to it and under the settings' runs."""
    places = dict.fromkeys((real(path).parent, real(read_settings().runs)))
    for place in places:
        # Sorted, because the order of a directory differs between file systems and the report must not.
        for head in sorted(place.glob("*/head")):
            directory = head.parent
            if directory == real(path) or MARK not in _decisions(directory):
                continue
            try:
                book = RunStore(directory).book()
            except LedgerError:
                continue  # a damaged run beside this one is `verify`'s business
            if is_fork_of(book.state, parent):
                yield str(directory), book


def _decisions(directory: Path) -> bytes:
    file = directory / "decisions.jsonl"
    try:
        return read_plain(file, STREAM_BYTES_MAX)
    except OSError:  # whether it is a run is said when it is opened
        return b""


def _compared(name: str, fork: Book, parent: Book) -> ForkLosses:
    # The same profile for both, since a fork may have been opened with another one.
    ready = tuple(signals_of_state(book.state, "gates", book.blobs).ready for book in (parent, fork))
    return lost(name, fork, parent, ready=(ready[0], ready[1]))
