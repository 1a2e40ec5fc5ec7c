"""Stress tests from the command line: where a run's forks are, what they lost, which ones are still to be made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from detectors.observations import deliberating_roles
from detectors.signals import signals_of_state
from ledger.state.book import Book
from ledger.store.disk import read_plain
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot.app.forking import made_fork
from moot.app.settings import read_settings
from moot.errors import usage
from moot.view.comparison import Stress
from rounds.analysis.stress import (
    Lost,
    changed_rounds,
    is_fork_of,
    lost,
    missing,
    planned_forks,
    role_losses,
    told_order,
)

STREAM_BYTES_MAX = 1 << 28
MARK = b'"origin":{"type":"fork"'
"""Stands in the decisions of every fork; looking for it first is cheaper than reading each run."""


def stress(path: Path, *, roles: Sequence[str] = (), per_role: int, make: bool) -> Stress:
    """What the forks of a run show. With `make` the planned ones that are missing are made, ready to be answered.

    Raises `MootError` and `LedgerError`.
    """
    parent = RunStore(path).book()
    known = deliberating_roles(parent.state)
    for role in roles:
        if role not in known:
            raise usage(f"no role {role!r}", f"roles are {', '.join(known)}", "--role")
    if parent.state.opened is None or parent.state.opened.origin.type == "import":
        raise usage("an import has no steps, so it has no forks", "stress a run that moot made", str(path))
    planned = [one for one in planned_forks(parent.state, per_role) if not roles or one.role in roles]
    found = list(_forks(path, parent))
    changed = [changed_rounds(book.state, parent.state) for _, book in found]
    wanted = missing(planned, changed)
    made = [made_fork(path, one.round, without=one.role).run for one in wanted] if make else []
    compared = [_compared(name, book, parent) for name, book in found]
    return Stress(
        run=str(path),
        made=made,
        missing=[] if make else wanted,
        unfinished=[one.run for one in compared if not one.rounds] + made,
        forks=told_order([one for one in compared if one.rounds]),
        roles=[one for one in role_losses(known, compared) if not roles or one.role in roles],
    )


def _forks(path: Path, parent: Book) -> Iterator[tuple[str, Book]]:
    """Runs beside the parent and under the settings' runs that share its beginning."""
    places = dict.fromkeys((path.resolve().parent, read_settings().runs.resolve()))
    for place in places:
        for head in sorted(place.glob("*/head")):
            directory = head.parent
            if directory == path.resolve() or MARK not in _decisions(directory):
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


def _compared(name: str, fork: Book, parent: Book) -> Lost:
    ready = tuple(signals_of_state(book.state, "calibrated", book.blobs).ready for book in (parent, fork))
    return lost(name, fork, parent, ready=(ready[0], ready[1]))
