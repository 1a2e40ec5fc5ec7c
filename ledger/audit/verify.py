"""Verify: is a run, byte for byte, what was committed? Chain, bytes, schema, head, blobs (FORMAT 1, 8).

One pass in constant memory decides. When it meets damage, a second, patient pass says all that is wrong. A blob that an
event refers to is there, with the bytes that its name says, or was redacted; others are garbage.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ledger.audit.damage import PROBLEMS_MAX, Tail, damage, tail_of
from ledger.events import Event, RunOpened, StreamName
from ledger.format.chain import Head
from ledger.result import Result
from ledger.state.book import Blobs
from ledger.state.redactions import redacted_blobs
from ledger.store.blobs import BlobStore, named_blobs, named_by_brief
from ledger.store.disk import readable
from ledger.store.failures import Damaged, Problem
from ledger.store.reading import LogPosition, decoded
from ledger.store.store import RunStore
from ledger.store.streams import LINE_ENDS, has_other_line_ends, read_head

if TYPE_CHECKING:
    from ledger.redaction.redacted_copy import Original

REMEMBERED_MAX: Final = 1 << 17


class BlobAudit:
    """Asks for every blob once, and remembers a bounded number of good ones."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
        self._good: set[bytes] = set()
        self._missing: dict[str, tuple[str, int]] = {}
        self._redacted: dict[str, int] = {}

    def problems(self, event: Event) -> Iterator[Problem]:
        """What is wrong with the blobs that `event` names, and with those that its briefs name; but for those that are
        missing, which a later event may have redacted (`absent`)."""
        for sha256 in redacted_blobs(event):
            self._redacted.setdefault(sha256, event.seq)
        for named in named_blobs(event):
            ask = self._brief if named.kind == "brief" else self._ask
            yield from ask(named.what, named.sha256, event)

    def absent(self) -> Iterator[Problem]:
        """When every event was looked at: blobs that are missing, redacted, or to be redacted and still there."""
        for sha256, (what, seq) in self._missing.items():
            if sha256 in self._redacted:
                by = self._redacted[sha256]
                yield Problem(f"{what} was redacted by event {by}: blob {sha256}", seq, is_damage=False)
            else:
                yield Problem(f"{what} is missing: blob {sha256}", seq)
        for sha256, seq in self._redacted.items():
            if sha256 not in self._missing and _is_there(self._blobs, sha256):
                what = f"blob {sha256} is redacted, but its bytes are still there: run `moot redact` again"
                yield Problem(what, seq, is_damage=False)

    def _brief(self, what: str, sha256: str, event: Event) -> Iterator[Problem]:
        if self._is_remembered(sha256):
            return
        manifest, problem = self._read(what, sha256, event)
        found = [problem] if problem else []
        whole = manifest is not None
        for named in named_by_brief(manifest or b""):
            if not self._is_remembered(named.sha256):
                found += self._ask(named.what, named.sha256, event)
                whole = whole and named.sha256 not in self._missing
        if whole and not found:
            self._remember(sha256)
        yield from found

    def _ask(self, what: str, sha256: str, event: Event) -> Iterator[Problem]:
        if self._is_remembered(sha256):
            return
        content, problem = self._read(what, sha256, event)
        if problem:
            yield problem
        elif content is not None:
            self._remember(sha256)

    def _read(self, what: str, sha256: str, event: Event) -> tuple[bytes | None, Problem | None]:
        """A blob's bytes, None when it is missing, and what is wrong with those that are there."""
        try:
            content = self._blobs.read(sha256)
        except Damaged:
            return b"", Problem(f"{what} was changed: blob {sha256} has other bytes", event.seq)
        if content is None:
            self._missing.setdefault(sha256, (what, event.seq))
        return content, None

    def _is_remembered(self, sha256: str) -> bool:
        return bytes.fromhex(sha256) in self._good

    def _remember(self, sha256: str) -> None:
        if len(self._good) >= REMEMBERED_MAX:
            self._good.clear()
        self._good.add(bytes.fromhex(sha256))


def _is_there(blobs: Blobs, sha256: str) -> bool:
    try:
        return blobs.read(sha256) is not None
    except Damaged:
        return False  # other bytes; said already where an event names them


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
        head = read_head(directory)
    except Damaged as error:
        return _report(directory, 0, None, error.problems, (), ())
    mark = LogPosition()
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


def problems_of(run: RunStore, blobs: Blobs | None = None) -> list[Problem]:
    """What is wrong or worth knowing about a run beside its events, which reading them proves: its blobs, read through
    `blobs` when that is given, and what follows the head. Raises what `RunStore.events` raises."""
    events, position = run.read()
    audit = BlobAudit(blobs or run.blobs)
    with readable(run.path):
        tail = tail_of(run.path, position)
    told = _Told()
    for event in events:
        told.take(audit.problems(event))
    told.take(audit.absent())
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
    blobs = BlobAudit(BlobStore(directory / "blobs"))
    told = _Told()
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
            ProblemModel(seq=one.seq, stream=one.stream, line=one.line, what=one.what)
            for one in (*problems, *notes)
        ],
        quarantined=_names(directory / "quarantine"),
        checkpoints=list(checkpoints),
    )


def _names(directory: Path) -> list[str]:
    return sorted(entry.name for entry in directory.iterdir()) if directory.is_dir() else []
