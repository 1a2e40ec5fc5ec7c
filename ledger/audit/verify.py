"""Verify: is a run, byte for byte, what was committed? Chain, bytes, schema, head, blobs (FORMAT 1, 8).

One pass decides, in constant memory but for a number per blob. When it meets damage, a second, patient pass says all
that is wrong. A blob that an event refers to is there, with the bytes that its name says, or was redacted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.audit.blobs import BlobAudit, extra_files
from ledger.audit.damage import PROBLEMS_MAX, Tail, damage, tail_of
from ledger.events import RunOpened, StreamName
from ledger.format.chain import Head
from ledger.result import Result
from ledger.store.blob_file import BlobStore
from ledger.store.disk import readable
from ledger.store.failures import Damaged, Problem
from ledger.store.reading import LogPosition, decoded
from ledger.store.store import RunStore
from ledger.store.streams import FILES, LINE_ENDS, has_other_line_ends, read_acknowledged, read_head

if TYPE_CHECKING:
    from ledger.redaction.redacted_copy import Original


class HeadModel(Result, frozen=True):
    """The last commit as the head file names it."""

    seq: int
    hash: str


class ProblemModel(Result, frozen=True):
    """One thing that is wrong, or worth knowing; `line` counts from 1 in `stream`."""

    seq: int | None
    stream: StreamName | None
    line: int | None
    what: str


class CheckpointModel(Result, frozen=True):
    """A head that somebody kept; `holds` when the ledger still begins with everything up to it. `original` when it is
    one of the run that this one is a redacted copy of."""

    seq: int
    hash: str
    holds: bool
    original: bool


class VerifyReport(Result, frozen=True):
    """What `moot verify --json` prints. `events` counts those that stand before the first damage.

    `problems` also names, without calling it damage, what an interrupted or running commit left.
    """

    run: str
    ok: bool
    damaged: bool
    events: int
    head: HeadModel | None
    problems: list[ProblemModel]
    quarantined: list[str]
    checkpoints: list[CheckpointModel]

    @property
    def exit_code(self) -> int:
        """FORMAT 13: 3 damaged, 1 a given checkpoint is not a prefix, 0 intact."""
        return 3 if self.damaged else 0 if self.ok else 1


def verify(path: str | os.PathLike[str], checkpoints: Sequence[Head] = ()) -> VerifyReport:
    """Look at every byte of the run at `path` that the head vouches for; nothing is changed.

    Raises `NotARun`, `OtherFormat` and `Unreadable`; damage is in the report.
    """
    directory = Path(path)
    with readable(directory):
        return _verify(directory, checkpoints)


def _verify(directory: Path, checkpoints: Sequence[Head]) -> VerifyReport:
    if has_other_line_ends(directory):  # every line is damaged then, and for one reason
        return _report(directory, 0, None, (Problem(LINE_ENDS),), (), ())
    try:
        head, acknowledged = read_acknowledged(directory)
    except Damaged as error:
        return _report(directory, 0, None, error.problems, (), ())
    mark = LogPosition(blobs=acknowledged)
    count, problems, kept = _read_through(directory, mark, head, checkpoints)
    is_read = mark.head == head
    tail = tail_of(directory, mark) if is_read else Tail()
    original, unlike = _redacted_copy(directory) if is_read and _is_copy(directory) else (None, [])
    held = [
        CheckpointModel(
            seq=one.seq,
            hash=one.hash,
            holds=kept.get(one.seq) == one.hash,
            original=original is not None and original.holds(one),
        )
        for one in checkpoints
    ]
    return _report(directory, count, head, [*problems, *unlike, *tail.damage], tail.notes, held)


def _is_copy(directory: Path) -> bool:
    """Whether the opening says that the run is a redacted copy."""
    with closing(decoded(directory, LogPosition(), read_head(directory))) as events:
        opening = next(events)
    return isinstance(opening, RunOpened) and opening.origin.type == "redaction"


def _redacted_copy(directory: Path) -> tuple[Original | None, list[Problem]]:
    """What a redacted copy says of its original; lines that are neither the original's nor said to be changed."""
    from ledger.redaction.redacted_copy import original_of, unlike

    run = RunStore(directory)
    original = original_of(run)
    if original is None:
        return None, [Problem("a redacted copy that does not say what was changed in it")]
    what = "not the line of the original, and the redaction does not name it"
    found = [Problem(what, seq) for seq in islice(unlike(run, original), PROBLEMS_MAX)]
    places = ", ".join(f"@{seq}" for seq in sorted(original.changed))
    last = len(original.hashes) - 1
    told = f"a redacted copy of the run with head @{last} {original.hashes[-1]}; changed in it: {places}"
    return original, [*found, Problem(told, is_damage=False)]


def problems_of(run: RunStore) -> list[Problem]:
    """Return what is wrong or worth knowing about a run beside its events, which reading them proves: its blobs, what
    follows the head, and files that are no part of it. Raises what `RunStore.events` raises."""
    events, position = run.read()
    audit = BlobAudit(run.blobs, position.blobs)
    with readable(run.path):
        tail = tail_of(run.path, position)
        told = _Told()
        told.take(audit.file_problems())
        for event in events:
            told.take(audit.problems(event))
        told.take(audit.absent())
        told.take(audit.tail())
        told.take(extra_files(run.path, FILES))
    return [*told.problems(), *tail.damage, *tail.notes]


class _Told:
    """What is told of many problems: the first of each kind, damage and what is none, and how many more there are.

    All of them are taken in: what comes after many harmless ones may be damage.
    """

    def __init__(self) -> None:
        self._shown: list[Problem] = []
        self._counts: Counter[bool] = Counter()

    def take(self, problems: Iterable[Problem]) -> None:
        """Take more of them in."""
        for problem in problems:
            self._counts[problem.is_damage] += 1
            if self._counts[problem.is_damage] <= PROBLEMS_MAX:
                self._shown.append(problem)

    def problems(self) -> list[Problem]:
        """In the order they came; at most `PROBLEMS_MAX` of each kind."""
        more = [
            Problem(f"and {count - PROBLEMS_MAX} more of this kind", is_damage=is_damage)
            for is_damage, count in self._counts.items()
            if count > PROBLEMS_MAX
        ]
        return [*self._shown, *more]


def _read_through(
    directory: Path, mark: LogPosition, head: Head, checkpoints: Sequence[Head]
) -> tuple[int, list[Problem], dict[int, str]]:
    """Events read, problems, and the hashes of the lines that checkpoints ask for."""
    blobs = BlobAudit(BlobStore(directory), mark.blobs)
    told = _Told()
    told.take(blobs.file_problems())
    wanted = {one.seq for one in checkpoints}
    hashes = {head.seq: head.hash}
    count = 0
    try:
        for event in decoded(directory, mark, head):
            count += 1
            if event.seq - 1 in wanted:
                hashes[event.seq - 1] = event.prev
            told.take(blobs.problems(event))
    except Damaged as error:
        found = list(damage(directory, head))
        return count, [*(found or error.problems), *told.problems()], {}
    told.take(blobs.absent())
    told.take(blobs.tail())
    told.take(extra_files(directory, FILES))
    return count, told.problems(), hashes


def _report(
    directory: Path,
    count: int,
    head: Head | None,
    problems: Sequence[Problem],
    notes: Sequence[Problem],
    checkpoints: Sequence[CheckpointModel],
) -> VerifyReport:
    damaged = any(problem.is_damage for problem in problems)
    return VerifyReport(
        run=str(directory),
        ok=not damaged and all(mark.holds for mark in checkpoints),
        damaged=damaged,
        events=count,
        head=HeadModel(seq=head.seq, hash=head.hash) if head else None,
        problems=[
            ProblemModel(seq=entry.seq, stream=entry.stream, line=entry.line, what=entry.what)
            for entry in (*problems, *notes)
        ],
        quarantined=_names(directory / "quarantine"),
        checkpoints=list(checkpoints),
    )


def _names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir()) if directory.is_dir() else []
