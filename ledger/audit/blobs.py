"""Blob checks of `verify`: every acknowledged line, and every blob that events and their briefs name (FORMAT 8).

Lines follow the order in which events first name them; only a program may come earlier. A line that was changed,
repeated, cut, moved or added is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ledger.events import Event
from ledger.state.redactions import redacted_blobs
from ledger.store.blob_file import BlobStore, NotABlob, read_blob_line
from ledger.store.blobs import Named, named_blobs, named_by_brief
from ledger.store.disk import plain_file
from ledger.store.failures import Damaged, Problem
from ledger.store.streams import BLOBS


class BlobAudit:
    """Single pass over the blobs of a run, against which every event is then checked. Keeps one line number per blob
    and no contents.
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
