"""Verify: whether a run is, byte for byte, what was committed. Chain, bytes, schema, head, blobs (FORMAT 1, 8).

One pass decides, in constant memory but for one number per blob. When it meets damage, a second, slower pass lists
everything that is wrong. A blob that an event refers to is either present with the bytes that its name says, or
redacted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ledger.audit.problems import PROBLEMS_MAX, BlobAudit, Tail, damage, extra_files, tail_of
from ledger.events import RunOpened, StreamName
from ledger.format.canonical import Head
from ledger.plain_json import converted
from ledger.result import Result
from ledger.store.blobs import BlobStore
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
    """A head that was kept outside the run; `holds` when the ledger still begins with everything up to it.

    `original` when it is one of the run that this one is a redacted copy of.
    """

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
        """Return the exit code (FORMAT 13): 3 damaged, 1 a checkpoint is not a prefix of the ledger, 0 intact."""
        return 3 if self.damaged else 0 if self.ok else 1


def verify(path: str | os.PathLike[str], checkpoints: Sequence[Head] = ()) -> VerifyReport:
    """Check every byte of the run at `path` that the head vouches for. Nothing is changed.

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
    # The length of the blobs comes from `head`, not from the file: bytes beyond it were never acknowledged.
    position = LogPosition(blobs=acknowledged)
    count, problems, kept = _read_through(directory, position, head, checkpoints)
    # The position reaches the head only if every line was proven. With damage, what follows the head means nothing.
    is_read = position.head == head
    tail = tail_of(directory, position) if is_read else Tail()
    original, unlike = _redacted_copy(directory) if is_read and _is_copy(directory) else (None, [])
    held = [
        CheckpointModel(
            seq=checkpoint.seq,
            hash=checkpoint.hash,
            holds=kept.get(checkpoint.seq) == checkpoint.hash,
            original=original is not None and original.holds(checkpoint),
        )
        for checkpoint in checkpoints
    ]
    return _report(directory, count, head, [*problems, *unlike, *tail.damage], tail.notes, held)


def _is_copy(directory: Path) -> bool:
    """Return whether the opening says that the run is a redacted copy."""
    with closing(decoded(directory, LogPosition(), read_head(directory))) as events:
        opening = next(events)
    return isinstance(opening, RunOpened) and opening.origin.type == "redaction"


def _redacted_copy(directory: Path) -> tuple[Original | None, list[Problem]]:
    """Return what a redacted copy says of its original, and problems.

    Problems are the lines that are neither the original's nor listed as changed.
    """
    # Redaction is imported here because few runs are redacted copies, and `verify` starts faster without it.
    from ledger.redaction.redacted_copy import original_of, unlike

    run = RunStore(directory)
    original = original_of(run)
    if original is None:
        return None, [Problem("a redacted copy that does not say what was changed in it")]
    what = "not the line of the original, and the redaction does not name it"
    problems = [Problem(what, seq) for seq in islice(unlike(run, original), PROBLEMS_MAX)]
    places = ", ".join(f"@{seq}" for seq in sorted(original.changed))
    last = len(original.hashes) - 1
    summary = f"a redacted copy of the run with head @{last} {original.hashes[-1]}; changed in it: {places}"
    return original, [*problems, Problem(summary, is_damage=False)]


def problems_of(run: RunStore) -> list[Problem]:
    """Return what is wrong or worth knowing about a run besides its events.

    Reading the events proves them; this covers the blobs, bytes after the head, and files that are not part of the
    run.
    Raises what `RunStore.events` raises.
    """
    events, position = run.read()
    audit = BlobAudit(run.blobs, position.blobs)
    with readable(run.path):
        tail = tail_of(run.path, position)
        listed = _Listing()
        listed.take(audit.file_problems())
        for event in events:
            listed.take(audit.problems(event))
        listed.take(audit.absent())
        listed.take(audit.tail())
        listed.take(extra_files(run.path, FILES))
    return [*listed.problems(), *tail.damage, *tail.notes]


class _Listing:
    """Shortened list of problems: the first of each kind (damage, or not), and how many more there are.

    All problems are taken in, because damage may follow many harmless ones.
    """

    def __init__(self) -> None:
        self._shown: list[Problem] = []
        self._counts: Counter[bool] = Counter()

    def take(self, problems: Iterable[Problem]) -> None:
        """Take more problems in."""
        for problem in problems:
            self._counts[problem.is_damage] += 1
            if self._counts[problem.is_damage] <= PROBLEMS_MAX:
                self._shown.append(problem)

    def problems(self) -> list[Problem]:
        """Return the problems in the order they came, at most `PROBLEMS_MAX` of each kind."""
        more = [
            Problem(f"and {count - PROBLEMS_MAX} more of this kind", is_damage=is_damage)
            for is_damage, count in self._counts.items()
            if count > PROBLEMS_MAX
        ]
        return [*self._shown, *more]


def _read_through(
    directory: Path, position: LogPosition, head: Head, checkpoints: Sequence[Head]
) -> tuple[int, list[Problem], dict[int, str]]:
    """Return the number of events read, the problems, and the hashes of the lines that checkpoints ask for."""
    blobs = BlobAudit(BlobStore(directory), position.blobs)
    listed = _Listing()
    listed.take(blobs.file_problems())
    wanted = {checkpoint.seq for checkpoint in checkpoints}
    hashes = {head.seq: head.hash}
    count = 0
    try:
        for event in decoded(directory, position, head):
            count += 1
            if event.seq - 1 in wanted:
                # `prev` is already proven to be the hash of the line before, so no line is hashed twice.
                hashes[event.seq - 1] = event.prev
            listed.take(blobs.problems(event))
    except Damaged as error:
        # The fast pass stops at the first break. The second pass names every disagreement, and its list may be
        # empty when the problem is one that only the fast pass sees.
        return count, [*(list(damage(directory, head)) or error.problems), *listed.problems()], {}
    listed.take(blobs.absent())
    listed.take(blobs.tail())
    listed.take(extra_files(directory, FILES))
    return count, listed.problems(), hashes


def _report(
    directory: Path,
    count: int,
    head: Head | None,
    problems: Sequence[Problem],
    notes: Sequence[Problem],
    checkpoints: Sequence[CheckpointModel],
) -> VerifyReport:
    damaged, quarantine = any(problem.is_damage for problem in problems), directory / "quarantine"
    return VerifyReport(
        run=str(directory),
        ok=not damaged and all(checkpoint.holds for checkpoint in checkpoints),
        damaged=damaged,
        events=count,
        head=HeadModel(seq=head.seq, hash=head.hash) if head else None,
        problems=converted([*problems, *notes], list[ProblemModel], from_attributes=True),
        quarantined=sorted(entry.name for entry in quarantine.iterdir()) if quarantine.is_dir() else [],
        checkpoints=list(checkpoints),
    )
