"""Forking: a new run that shares a prefix byte for byte and goes on under another plan or with other seats.

parent   run_opened  round_opened 1 …  round 4's last event │ round_opened 5 …
fork     the same lines, the same hashes                    │ run_opened (origin: fork)  round_opened 5 …

The second opening says what is different, and of which run at which event it is a fork (FORMAT 2, `origin`). An absence
that no plan had foreseen is the honest way to ask what a role carries (SD-74 … SD-77).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import msgspec

from ledger.events import RoundOpened, RunOpened
from ledger.events.run import Origin, PlanRow
from ledger.format.canonical import Head, Sealed, line_hash
from ledger.redaction.removal import FILE, FILE_BYTES_MAX
from ledger.state.book import Book
from ledger.state.fold import fold
from ledger.store.blobs import all_named_blobs
from ledger.store.disk import read_plain
from ledger.store.store import RunStore, adopt_run
from rounds.protocols import protocol_of
from rounds.protocols.plans import default_predictions
from rounds.run.session import Clock, RunSession
from rounds.run.verdicts import standard
from rounds.setup.deliberation import parse, to_toml
from rounds.setup.opening import Opening, resolved

TOOL: Final = "moot fork"


class CannotFork(ValueError):
    """A run or a wish that cannot be forked; `fix` names what can."""

    exit_code = 2

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


@dataclass(frozen=True, slots=True)
class Wish:
    """Differences of a fork: from the opening of `round` on, perhaps without a role through `through`, other seats.

    A fork `here` shares everything that is on the ledger, so that what comes next can be tried twice.

    `base` is what a new run would begin with; going on with an import needs it, for no source holds all of that.
    """

    round: int
    without: str | None = None
    through: int | None = None
    seats: Mapping[str, str] = field(default_factory=dict[str, str])
    base: Opening | None = None
    here: bool = False


def fork_seq(book: Book, round_: int) -> int:
    """Return the seq of the event that opens a round, the first that a fork there does not share. Raises `CannotFork`.

    An import is one commit and shared whole: a fork of it begins behind its last round.
    """
    opened = book.state.opening
    if opened.origin.type == "import":
        if round_ != next_round(book):
            raise CannotFork(
                "an import is shared whole, and goes on behind its last round",
                f"say --round {next_round(book)}",
            )
        return len(book.events)
    openings = [
        event.seq for event in book.events if isinstance(event, RoundOpened) and event.round == round_
    ]
    if not openings:
        known = f"1 to {max(book.state.rounds)}" if book.state.rounds else "none"
        raise CannotFork(f"round {round_} was never opened", f"rounds of this run: {known}")
    return openings[0]


def next_round(book: Book) -> int:
    """Return the round after the last one that was opened."""
    return max(book.state.rounds, default=0) + 1


def opening_after(base: RunOpened, book: Book) -> RunOpened:
    """Return the opening `base` to go on with an import: its goals, documents and rounds, then the rows of `base`.

    Rounds that were imported have no phases in the plan: no role is asked for anything in them.
    """
    opened, last = book.state.opening, next_round(book) - 1
    rows = 1 + max((event.plan_row for event in book.state.rounds.values()), default=-1)
    # Without phases a row asks for nothing; with them the controller would wait for replies that never come.
    held = tuple(msgspec.structs.replace(row, phases=()) for row in opened.plan[:rows])
    coming = tuple(row for row in base.plan if row.round > last)
    return msgspec.structs.replace(
        base,
        goals=opened.goals or base.goals,
        context=opened.context,
        # A plan needs a row to go on with, even where every row of `base` lies before the import's end.
        plan=(*held, *(coming or (PlanRow(round=last + 1, phases=("A", "S")),))),
    )


def fork_opening(opened: RunOpened, wish: Wish, parent: str, head: Head, moot: str) -> RunOpened:
    """Return the opening of the fork: the parent's, with another plan, other seats, and where it comes from.

    `parent` is the parent's name, `head` the last shared event. Raises `CannotFork`.
    """
    plan = _plan(opened, wish)
    _check_roles(opened, wish)
    # A prediction must exist before the absence, or a reader could fit it to the result (SD-75).
    foreseen = {entry.role for entry in opened.predict}
    missing = [wish.without] if wish.without and wish.without not in foreseen else []
    return msgspec.structs.replace(
        # The envelope is that of a draft: the fork has a chain of its own from here on.
        opened,
        prev="0" * 64,
        seq=0,
        rest=0,
        at="",
        round=0,
        phase="open",
        by="controller",
        cast=tuple(
            msgspec.structs.replace(member, seat=wish.seats.get(member.role, member.seat))
            for member in opened.cast
        ),
        plan=plan,
        predict=(*opened.predict, *default_predictions(missing)),
        origin=Origin(type="fork", of=parent, head=head.hash, seq=head.seq, tool=TOOL),
        moot=moot,
    )


def fork(parent: RunStore, path: Path, wish: Wish, *, name: str, moot: str, clock: Clock) -> RunSession:
    """Make the fork at `path` and open its first own round. Raises `CannotFork`, and what creating a run raises."""
    book = parent.book()
    if wish.here and book.state.finished:
        raise CannotFork("the run is finished, so nothing is left to try", "fork before a round: --round N")
    # A fork here shares everything that is on the ledger.
    cut = len(book.events) if wish.here else fork_seq(book, wish.round)
    # The parent's bytes are copied and not encoded again: shared lines must have equal hashes.
    lines = tuple(line for _, (_, _, line) in zip(range(cut), parent.lines(), strict=False))
    head = Head(cut - 1, line_hash(lines[-1]))
    before = msgspec.structs.replace(book, events=book.events[:cut])
    base = _base(parent, before, wish)
    opening = fork_opening(base.event, wish, name, head, moot)
    files = {FILE: _written(base.toml, opening)} if base.toml else {}
    blobs = {**_shared_blobs(before), **base.blobs}
    run = adopt_run(path, Sealed(before.events, lines, head), blobs=blobs, files=files)
    with run.writer() as writer:
        writer.commit([opening], at=clock())
    session = RunSession(run, standard, clock)
    session.settle()
    return session


def _base(parent: RunStore, before: Book, wish: Wish) -> Opening:
    """Return what the fork opens with before any change: the opening in force, or one that continues an import."""
    opened = fold(before.events).opening  # with the plan as amendments had changed it by then
    if opened.origin.type != "import":
        path = parent.path / FILE
        # The file may be missing in a run that was not made by `moot`; a fork of it has no file either.
        return Opening(opened, {}, read_plain(path, FILE_BYTES_MAX).decode() if os.path.lexists(path) else "")
    if wish.base is None:
        raise CannotFork("an import does not say how to go on", "give its question, and who answers")
    return replace(wish.base, event=opening_after(wish.base.event, before))


def _plan(opened: RunOpened, wish: Wish) -> tuple[PlanRow, ...]:
    if wish.without is None:
        return opened.plan
    if protocol_of(opened).fixed_plan:
        raise CannotFork(
            f"protocol {opened.protocol} has no round that a role can be absent from", "give --seat instead"
        )
    last = wish.through or wish.round
    rows = {row.round for row in opened.plan if "G" in row.phases}
    if wish.round not in rows or last < wish.round:
        # Rounds without phase G do not deliberate, so no role can be missed there.
        raise CannotFork(
            f"nobody can be absent from round {wish.round} to {last}",
            f"rounds that deliberate: {', '.join(map(str, sorted(rows)))}",
        )
    return tuple(
        msgspec.structs.replace(row, absent=wish.without)
        if wish.round <= row.round <= last and row.round in rows
        else row
        for row in opened.plan
    )


def _check_roles(opened: RunOpened, wish: Wish) -> None:
    roles = [member.role for member in opened.cast]
    authors = [role for role in roles if role != "verifier"]
    if wish.without is not None and wish.without not in authors:
        raise CannotFork(f"no role {wish.without!r} can be absent", f"roles are {', '.join(authors)}")
    for role in wish.seats:
        if role not in roles:
            raise CannotFork(f"no role {role!r}", f"roles are {', '.join(roles)}")


def _shared_blobs(book: Book) -> dict[str, bytes]:
    """Return the blobs that shared events name; a blob that the parent has lost stays lost, and `verify` reports it."""
    blobs: dict[str, bytes] = {}
    for event in book.events:
        for named in all_named_blobs(event, book.blobs.read):
            if named.sha256 not in blobs and (content := book.blobs.read(named.sha256)) is not None:
                blobs[named.sha256] = content
    return blobs


def _written(toml: str, opening: RunOpened) -> bytes:
    """Return the deliberation file as this fork has resolved it."""
    fixed = protocol_of(opening).fixed_plan
    return to_toml(resolved(parse(toml.encode(), FILE), opening, fixed_plan=fixed)).encode()
