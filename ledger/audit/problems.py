"""Problems of a run's files: streams that do not lead to their head, blobs, and what lies beyond the head.

Lines are taken by the number that they claim, and every disagreement is listed, not only the first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ledger.events import STREAMS, Event, StreamName, stream_of
from ledger.format.canonical import BEGINNING, Head, NotCanonical, decode, line_hash
from ledger.plain_text import counted
from ledger.state.amendments import redacted_blobs
from ledger.store.blobs import BlobStore, Named, NotABlob, named_blobs, named_by_brief, read_blob_line
from ledger.store.disk import plain_file
from ledger.store.failures import Damaged, Problem
from ledger.store.reading import LogPosition
from ledger.store.streams import BLOBS, PREFIX, line_number, lines_of, stream_path

PROBLEMS_MAX: Final = 100
"""More are not listed: a report is for reading."""


class _Line(NamedTuple):
    """A line with what its prefix claims."""

    seq: int
    stream: StreamName
    number: int
    prev: str
    rest: int
    content: bytes

    def problem(self, what: str) -> Problem:
        return Problem(what, self.seq, self.stream, self.number)


def damage(directory: Path, head: Head) -> Iterator[Problem]:
    """Yield everything that is wrong up to `head`, at most `PROBLEMS_MAX` problems."""
    yield from islice(_damage(directory, head), PROBLEMS_MAX)


def _damage(directory: Path, head: Head) -> Iterator[Problem]:
    with ExitStack() as stack:
        streams: list[Iterator[_Line | Problem]] = []
        for stream in STREAMS:
            path = stream_path(directory, stream)
            if not path.is_file():
                yield Problem("the stream is missing", None, stream)
                continue
            streams.append(_lines(stream, lines_of(stack.enter_context(plain_file(path)))))
        last, hash_, rest = BEGINNING.seq, BEGINNING.hash, 0
        for line in _by_seq(streams, head.seq):
            if isinstance(line, Problem):
                yield line
                continue
            # A number that was seen before is reported and skipped: following it would make every later line
            # look wrong.
            if line.seq <= last:
                yield line.problem(f"event {line.seq} stands here again, or too late")
                continue
            if line.seq > last + 1:
                yield Problem(_missing(last + 1, line.seq - 1), last + 1)
            else:
                yield from _link(line, hash_, rest)
            yield from _content(line)
            # Go on from the bytes that are there, so that one changed line is reported once and not as a broken
            # chain to the end.
            last, hash_, rest = line.seq, line_hash(line.content), line.rest
        if last < head.seq:
            yield Problem(_missing(last + 1, head.seq), last + 1)
        elif hash_ != head.hash:
            yield Problem("head has another hash than the line it names", head.seq)
        if rest:
            yield Problem(f"the commit is not whole: {counted(rest, 'more event')} announced", last)


def _missing(first: int, last: int) -> str:
    return "the event is missing" if first == last else f"events {first} to {last} are missing"


def _lines(stream: StreamName, lines: Iterator[bytes], first: int = 1) -> Iterator[_Line | Problem]:
    for number, content in enumerate(lines, first):
        prefix = PREFIX.match(content)
        if prefix is None:
            yield Problem("the line does not begin with prev, seq and rest", None, stream, number)
        else:
            yield _Line(int(prefix[2]), stream, number, prefix[1].decode(), int(prefix[3]), content)


def _by_seq(streams: list[Iterator[_Line | Problem]], until: int) -> Iterator[_Line | Problem]:
    """Yield the lines of all streams in the order of their numbers, none beyond `until`."""
    fronts: dict[int, _Line] = {}
    ready = set(range(len(streams)))
    while True:
        for index in list(ready):
            for front in streams[index]:
                if isinstance(front, Problem):
                    yield front
                elif front.seq <= until:
                    # The claimed numbers of a damaged stream may not ascend. Taking one front per stream bounds
                    # memory all the same.
                    fronts[index] = front
                    break
        ready.clear()
        if not fronts:
            return
        index = min(fronts, key=lambda i: fronts[i].seq)
        yield fronts.pop(index)
        ready.add(index)


def _link(line: _Line, hash_: str, rest: int) -> Iterator[Problem]:
    if line.prev != hash_:
        yield line.problem(f"prev is not the hash of event {line.seq - 1}: one of the two was changed")
    if rest and line.rest != rest - 1:
        yield line.problem(f"rest is {line.rest}, but the event before leaves {rest - 1}")


def _content(line: _Line) -> Iterator[Problem]:
    try:
        event = decode(line.content)
    except NotCanonical as error:
        yield line.problem(str(error))
        return
    if stream_of(event) != line.stream:
        yield line.problem(f"a {event.kind} belongs to {stream_of(event)}")


class Tail(msgspec.Struct, frozen=True):
    """What lies beyond the head: `damage` can be no interrupted commit, `notes` can."""

    damage: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


def tail_of(directory: Path, position: LogPosition) -> Tail:
    """Judge what follows the head, which is at `position`."""
    damage: list[Problem] = []
    notes: list[Problem] = []
    for index, stream in enumerate(STREAMS):
        with plain_file(stream_path(directory, stream)) as file:
            extra = file.seek(0, os.SEEK_END) - position.offsets[index]
            number = line_number(file, position.offsets[index])
            impossible = list(islice(_impossible(stream, lines_of(file), position, number), PROBLEMS_MAX))
        damage += impossible
        if extra and not impossible:
            what = f"{extra} bytes beyond head, of a commit interrupted or being written: no damage"
            notes.append(Problem(what, None, stream, number, is_damage=False))
    return Tail(tuple(damage), tuple(notes))


def _impossible(
    stream: StreamName, lines: Iterator[bytes], position: LogPosition, number: int
) -> Iterator[Problem]:
    """Yield whole lines beyond the head that an interrupted writer cannot have left there."""
    for line in _lines(stream, lines, number):
        if isinstance(line, Problem):
            continue  # torn pages after a power failure look like anything
        # A writer appends only numbers after the head, so an older number was copied here.
        if line.seq <= position.head.seq:
            yield line.problem(f"event {line.seq} stands here again")
        elif line.seq == position.head.seq + 1 and line.prev != position.head.hash:
            yield line.problem("the line continues another ledger")


class BlobAudit:
    """Single pass over the blobs of a run, against which every event is then checked.

    Keeps one line number per blob and no contents.
    """

    def __init__(self, blobs: BlobStore, acknowledged: int) -> None:
        self._blobs = blobs
        self._acknowledged = acknowledged
        self._lines: dict[str, int] = {}
        self._gone: set[str] = set()
        self._changed: set[str] = set()
        self._named: set[str] = set()
        self._missing: dict[str, tuple[str, int]] = {}
        self._redacted: dict[str, int] = {}
        self._last = 0
        self._unread_briefs = False

    def file_problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the lines themselves. Run it before `problems`."""
        number, end = 0, 0
        for number, (begin, line) in enumerate(self._blobs.lines(), 1):
            end = begin + len(line)
            try:
                sha256, content = read_blob_line(line)
            except NotABlob as error:
                # The hash is cut out of a line that may hold anything, so undecodable bytes are replaced
                # instead of raised.
                self._changed.add(line[11:75].decode("ascii", "replace"))
                yield _at(number, str(error))
                continue
            if sha256 in self._lines:
                yield _at(number, f"blob {sha256} stands here again")
                continue
            self._lines[sha256] = number
            if content is None:
                self._gone.add(sha256)
        if end < self._acknowledged:
            yield _at(
                number + 1, f"the last {self._acknowledged - end} bytes that head acknowledges are missing"
            )

    def problems(self, event: Event) -> Iterator[Problem]:
        """Yield what is wrong with the blobs that `event` and its briefs name.

        Missing blobs are left to `absent`, because a later event may have redacted them.
        """
        for sha256 in redacted_blobs(event):
            self._redacted.setdefault(sha256, event.seq)
        for named in named_blobs(event):
            if named.sha256 in self._named:
                continue
            yield from self._ask(named, event)
            if named.kind == "brief":
                for part in named_by_brief(self._manifest(named.sha256)):
                    yield from self._ask(part, event)

    def absent(self) -> Iterator[Problem]:
        """Yield the blobs that are missing, redacted, redacted but still present, or named by no event.

        Call it after the last event.
        """
        for sha256, (what, seq) in self._missing.items():
            if sha256 in self._redacted:
                # A redaction is recorded before bytes are removed, so a missing blob with a record is no
                # damage.
                by = self._redacted[sha256]
                yield Problem(f"{what} was redacted by event {by}: blob {sha256}", seq, is_damage=False)
            elif sha256 in self._gone:
                yield Problem(f"{what} was removed, and no event says so: blob {sha256}", seq)
            else:
                yield Problem(f"{what} is missing: blob {sha256}", seq)
        for sha256, seq in self._redacted.items():
            if sha256 in self._lines and sha256 not in self._gone:
                # The process died between the amendment and the tombstones. Running the command again finishes
                # the job.
                what = f"blob {sha256} is redacted, but its bytes are still there: run `moot redact` again"
                yield Problem(what, seq, is_damage=False)
        for sha256, number in self._lines.items():
            if sha256 not in self._named and not (self._unread_briefs or sha256 in self._redacted):
                yield _at(number, f"no event names blob {sha256}", is_damage=False)

    def tail(self) -> Iterator[Problem]:
        """Yield what is wrong or worth knowing about bytes beyond the acknowledged length."""
        try:
            file = plain_file(self._blobs.path)
        except FileNotFoundError:
            return
        with file:
            file.seek(self._acknowledged)
            extra = 0
            # The tail is not acknowledged and may hold anything, so each read is bounded.
            while line := file.readline(1 << 20):
                extra += len(line)
                if line.startswith(b'{"sha256":"') and line[11:75].decode("ascii", "replace") in self._lines:
                    yield Problem(f"{BLOBS}: beyond head, blob {line[11:75].decode()} stands again")
        if extra:
            what = f"{BLOBS}: {extra} bytes beyond head, of a commit interrupted or being written: no damage"
            yield Problem(what, is_damage=False)

    def _ask(self, named: Named, event: Event) -> Iterator[Problem]:
        sha256 = named.sha256
        if sha256 in self._named:
            return
        self._named.add(sha256)
        if sha256 in self._gone or sha256 not in self._lines:
            # A brief that cannot be read may name any blob, so order and "named by no event" can no longer be
            # judged.
            self._unread_briefs |= named.kind == "brief"
            if sha256 in self._changed:
                yield Problem(f"{named.what} was changed: blob {sha256} has other bytes", event.seq)
            else:
                self._missing[sha256] = (named.what, event.seq)
        if sha256 not in self._lines:
            return
        number, before = self._lines[sha256], self._last
        # A reply brings its program at once, but the event that names it may come when all replies of the group are in.
        if named.kind == "experiment" and number < before:
            return
        self._last = number
        # A missing brief may have named a blob first, whose line then precedes those that are known.
        if number < before and not self._unread_briefs:
            yield _at(number, f"blob {sha256} was moved: line {before} belongs before it")

    def _manifest(self, sha256: str) -> bytes:
        try:
            return self._blobs.read(sha256) or b""
        except Damaged:
            return b""  # `file_problems` reported it where it read the line


def _at(number: int, what: str, *, is_damage: bool = True) -> Problem:
    return Problem(f"{BLOBS}:{number}: {what}", is_damage=is_damage)


def extra_files(directory: Path, known: frozenset[str]) -> Iterator[Problem]:
    """Yield a notice for each entry of a run's directory that moot does not write there."""
    for name in sorted(entry.name for entry in directory.iterdir()):
        if name not in known and not name.endswith(".tmp"):
            yield Problem(f"{name} is no part of the run", is_damage=False)
