"""Forks from the command line: where they go, who answers in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ledger.store import Run
from moot import version
from moot.clock import now
from moot.errors import MootError, usage
from moot.output.fork import Fork
from moot.sessions import open_now
from rounds.forking import CannotFork, Wish, fork


def made_fork(
    parent: Path,
    round_: int,
    *,
    without: str | None = None,
    through: int | None = None,
    everybody: str | None = None,
    specs: Mapping[str, str] | None = None,
    out: Path | None = None,
) -> Fork:
    """Make a fork of the run at `parent`, at `out` or beside it. Raises `MootError` and `LedgerError`."""
    if through is not None and without is None:
        raise usage(
            "--through says how long a role is absent, and none is", "add --without ROLE", "--through"
        )
    run = Run(parent)
    book = run.book()
    spoken = {role: everybody for role in book.state.roles if everybody is not None} | dict(specs or {})
    kinds = {role: spec.partition(":")[0] for role, spec in spoken.items()}
    path = out if out is not None else fork_path(parent, round_, without)
    wish = Wish(round_, without, through, kinds)
    try:
        session = fork(run, path, wish, name=parent.resolve().name, moot=version(), clock=now)
    except CannotFork as error:
        raise MootError("cannot_fork", error.what, str(parent), error.mend) from None
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


def fork_path(parent: Path, round_: int, without: str | None) -> Path:
    """`storage.r7-without-critic` beside `storage`, with a number behind it when that is taken."""
    changed = f"without-{without}" if without else "again"
    base = parent.resolve().with_name(f"{parent.resolve().name}.r{round_}-{changed}")
    number, path = 1, base
    while path.exists():
        number += 1
        path = base.with_name(f"{base.name}-{number}")
    return path
