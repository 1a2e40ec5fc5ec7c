"""Blobs: briefs, replies, schemas, prompt sets and documents, each named by events and by the SHA-256 of its bytes.

`blobs.jsonl` has one line per blob (FORMAT 8):

{"sha256":"<64 hex>","text":"…"}      UTF-8
{"sha256":"<64 hex>","base64":"…"}    other bytes
{"sha256":"<64 hex>","gone":"   "}    redacted: as many bytes as the line had, spaces for its content

Only a commit and the creation of a run append, under the lock. `head` holds the acknowledged length of the file, and
readers go no further. A process keeps offsets, never contents, and reads the file when a blob is first requested.
"""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec
import orjson

from ledger.events import Amendment, Call, Decision, Event, ExperimentPlanned, ExperimentRun, RunOpened
from ledger.events.envelope import GENESIS, Hash
from ledger.plain_json import NotJson, decoded
from ledger.state.amendments import record_of_original
from ledger.store import disk
from ledger.store.disk import plain_file, readable, writing
from ledger.store.failures import Damaged, NotARun, Problem, WriteFailed
from ledger.store.streams import BLOBS, path_in, read_acknowledged


def hash_of(content: bytes) -> str:
    """Return the name of a blob: SHA-256 in 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


MANIFEST_BYTES_MAX: Final = 1 << 20
KEPT_PARAMETERS: Final = frozenset({"gates", "crux"})
"""Profiles whose parameter file a run keeps: the installed one may be another tomorrow."""

BlobKind = Literal[
    "prompt set", "parameters", "document", "brief", "block", "schema", "reply", "record", "experiment"
]


class Named(NamedTuple):
    """Blob that an event names: what it is, in words for a person, and its hash."""

    kind: BlobKind
    what: str
    sha256: str


def named_blobs(event: Event) -> Iterator[Named]:
    """Return the blobs that `event` itself names."""
    return (named for named in _named(event) if named.sha256 != GENESIS)  # an import has no prompts


def named_by_brief(manifest: bytes) -> Iterator[Named]:
    """Yield the blobs that a brief names. One that is not a manifest names none (a rule reports it)."""
    # A blob comes from a file that may be hostile, so its size is checked before it is parsed.
    if not 0 < len(manifest) <= MANIFEST_BYTES_MAX:
        return
    try:
        brief = decoded(manifest, _Manifest)
    except NotJson:
        return
    yield from (Named("block", "a block of the brief", block.sha256) for block in brief.blocks)
    yield Named("schema", "the reply schema of the brief", brief.schema)


def all_named_blobs(event: Event, read: Callable[[str], bytes | None]) -> Iterator[Named]:
    """Yield the blobs that `event` names and, after each brief, those that the brief names."""
    for named in named_blobs(event):
        yield named
        if named.kind == "brief":
            yield from named_by_brief(read(named.sha256) or b"")


def in_order(blobs: Mapping[str, bytes], events: Iterable[Event]) -> dict[str, bytes]:
    """Return the blobs of a commit in the order in which its events first name them, what they do not name last.

    By that order `verify` knows that no line was moved.
    """
    names = dict.fromkeys(named.sha256 for event in events for named in all_named_blobs(event, blobs.get))
    return {sha256: blobs[sha256] for sha256 in (*names, *blobs) if sha256 in blobs}


def own_parameters(opened: RunOpened) -> str | None:
    """Return the hash of the run's own parameter file; None when it has none and the installed ones apply."""
    is_own = opened.stop.profile == "gates" and opened.origin.type != "import"
    return opened.stop.params if is_own else None


def _named(event: Event) -> Iterator[Named]:
    if isinstance(event, RunOpened):
        yield from _of_opening(event)
    if isinstance(event, ExperimentPlanned | ExperimentRun):
        yield from _of_experiment(event)
    if isinstance(event, Amendment):
        record = record_of_original(event)
        if record is not None:
            yield Named("record", "the list of the original's lines", record)
    if isinstance(event, Decision) and event.output is not None:
        yield Named("experiment", f"what the test of {event.id} produced", event.output)
    if event.call is not None:
        yield from _of_call(event.call, event.step or f"@{event.seq}")


def _of_opening(event: RunOpened) -> Iterator[Named]:
    yield Named("prompt set", "the prompt set", event.prompt_set)
    if event.stop.profile in KEPT_PARAMETERS and event.origin.type != "import":
        yield Named("parameters", "the file of the run's own parameters", event.stop.params)
    for document in event.context:
        yield Named("document", f"the document {document.id}", document.sha256)


def _of_experiment(event: ExperimentPlanned | ExperimentRun) -> Iterator[Named]:
    if isinstance(event, ExperimentRun):
        where = f"repetition {event.n} of {event.of}"
        yield Named("experiment", f"what {where} wrote to stdout", event.stdout.kept)
        yield Named("experiment", f"what {where} wrote to stderr", event.stderr.kept)
        files = event.outputs
    else:
        where = event.ref
        yield from (
            Named("experiment", f"the input {file.name} of {where}", file.sha256) for file in event.inputs
        )
        files = (*event.files, *(file for control in event.controls for file in control.files))
    yield from (Named("experiment", f"the file {file.name} of {where}", file.sha256) for file in files)


def _of_call(call: Call, step: str) -> Iterator[Named]:
    yield Named("prompt set", "the prompt set", call.prompt_set)
    yield Named("reply", f"the reply of {step}", call.reply)
    # Attempts repeat the accepted brief and reply. Each blob is yielded once, in the order of its line.
    earlier: set[str | None] = {None, call.brief, call.reply}
    yield Named("brief", f"the brief of {step}", call.brief)
    for attempt in call.attempts:
        if attempt.brief not in earlier:
            yield Named("brief", f"the brief of attempt {attempt.n} at {step}", attempt.brief)
        if attempt.reply is not None and attempt.reply not in earlier:
            yield Named("reply", f"the reply of attempt {attempt.n} at {step}", attempt.reply)
        earlier |= {attempt.brief, attempt.reply}


class _Block(msgspec.Struct, frozen=True):
    sha256: Hash


class _Manifest(msgspec.Struct, frozen=True):
    """The part of a brief that names other blobs (FORMAT 6)."""

    blocks: tuple[_Block, ...]
    schema: Hash


BLOB_LINE_BYTES_MAX: Final = 8 << 20
READ_BYTES: Final = BLOB_LINE_BYTES_MAX + 1
"""A line with its line feed."""
BUFFER_BYTES: Final = 1 << 18
READ_BUFFER_BYTES: Final = 1 << 15
"""For one line: most are shorter."""
_BEGINNING: Final = re.compile(rb'\{"sha256":"([0-9a-f]{64})","(text|base64|gone)":"')
_GONE: Final = re.compile(rb'\{"sha256":"[0-9a-f]{64}","gone":" *"\}\n')
_KEY: Final = re.compile(r"[0-9a-f]{64}")


class NotABlob(ValueError):
    """Line of `blobs.jsonl` that has another form, or other content than its hash says."""


def blob_line(content: bytes) -> bytes:
    """Return the line of a blob, with its line feed."""
    try:
        key, text = "text", content.decode()
    except UnicodeDecodeError:
        key, text = "base64", base64.b64encode(content).decode()
    return orjson.dumps({"sha256": hash_of(content), key: text}) + b"\n"


def tombstone(line: bytes) -> bytes:
    """Return the replacement of a redacted blob's line: the same hash and length, and no content.

    `gone` is as short as `text`, so even an empty blob has room for it.
    """
    begins = line[: len('{"sha256":"') + 64] + b'","gone":"'
    return begins + b" " * (len(line) - len(begins) - len(b'"}\n')) + b'"}\n'


def read_blob_line(line: bytes) -> tuple[str, bytes | None]:
    """Return a line's hash and the blob, None for one that was redacted. Raises `NotABlob`."""
    begins = _BEGINNING.match(line)
    if begins is None or not line.endswith(b"\n"):
        raise NotABlob("the line does not have the form of a blob")
    sha256 = begins[1].decode()
    if begins[2] == b"gone":
        if _GONE.fullmatch(line) is None:
            raise NotABlob(f"blob {sha256} is marked as redacted, but the line has other content")
        return sha256, None
    try:
        value = orjson.loads(line)
        content = value["text"].encode() if "text" in value else base64.b64decode(value["base64"])
    except (ValueError, KeyError, AttributeError, TypeError):
        raise NotABlob(f"the line of blob {sha256} is not JSON") from None
    # Writing the blob again proves the hash and the canonical form at once.
    if blob_line(content) != line:
        raise NotABlob(f"blob {sha256} has other bytes than its name says")
    return sha256, content


class BlobStore:
    """Blobs of one run. Safe for threads; creating one touches nothing."""

    __slots__ = ("_directory", "_end", "_lock", "_places")

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._places: dict[bytes, int] = {}
        self._end = 0

    def read(self, sha256: str) -> bytes | None:
        """Return the bytes with that hash; None when they are not there. Raises `Damaged` when they have another."""
        # The file may be another than the one that was indexed, such as a run restored from a copy. Then the
        # index is built once more; a second mismatch is damage.
        for _ in range(2):
            place = self._place(sha256)
            if place is None:
                return None
            with (
                readable(self._directory),
                plain_file(path_in(self._directory, BLOBS), READ_BUFFER_BYTES) as file,
            ):
                file.seek(place)
                line = file.readline(READ_BYTES)
            # The hash at the offset proves that the index belongs to this file, before the content is trusted.
            if line[11:75] == sha256.encode():
                try:
                    return read_blob_line(line)[1]
                except NotABlob as error:
                    raise self._damaged(str(error)) from None
            # The file is another than the one that was read.
            with self._lock:
                self._places, self._end = {}, 0
        raise self._damaged(f"blob {sha256} is not where it was")

    def has(self, sha256: str) -> bool:
        """Return whether the file has a line of that blob, redacted or not."""
        return self._place(sha256) is not None

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield offset and bytes of every acknowledged line; the last may be cut."""
        return self._lines(0, self._acknowledged())

    def items(self) -> Iterator[tuple[str, bytes]]:
        """Yield hash and bytes of every blob that is there, in constant memory. Raises `Damaged`."""
        for _, line in self.lines():
            try:
                sha256, content = read_blob_line(line)
            except NotABlob as error:
                raise self._damaged(str(error)) from None
            if content is not None:
                yield sha256, content

    def names(self) -> list[str]:
        """Return the hashes of all blobs that are there, sorted."""
        return sorted(sha256 for sha256, _ in self.items())

    def new_lines(self, blobs: Mapping[str, bytes]) -> bytes:
        """Return the lines of the blobs that have none yet. One that was redacted has a line, and stays redacted."""
        lines: list[bytes] = []
        for sha256, content in blobs.items():
            if self.has(sha256):
                continue
            lines.append(blob_line(content))
            assert lines[-1][11:75] == sha256.encode(), f"{sha256} is not the hash of its blob"
            if len(lines[-1]) > READ_BYTES:
                what = f"a text of {len(content)} bytes takes a line of more than {BLOB_LINE_BYTES_MAX} bytes"
                raise WriteFailed(what, str(self.path), "shorten it: nothing was acknowledged")
        return b"".join(lines)

    def remove(self, hashes: Collection[str]) -> None:
        """Put tombstones in place of blobs, durably. The caller holds the lock. Raises `WriteFailed`."""
        wanted = {sha256.encode() for sha256 in hashes if self.has(sha256)}
        if not wanted:
            return
        # Lines keep their lengths, so offsets that others have read stay right. A file that is replaced at once shows
        # no reader a line half blank, and leaves no place where an interrupted writer could have stopped.
        with writing(self.path):
            lines = (line for _, line in self.lines())
            disk.replace(self.path, (tombstone(line) if line[11:75] in wanted else line for line in lines))
            disk.settle(self._directory)

    @property
    def path(self) -> Path:
        """Return the path of the file, which may be missing."""
        return self._directory / BLOBS

    def _acknowledged(self) -> int:
        try:
            return read_acknowledged(self._directory).blobs
        except NotARun:
            return 0

    def _place(self, sha256: str) -> int | None:
        if _KEY.fullmatch(sha256) is None:
            return None
        key = bytes.fromhex(sha256)
        with self._lock:
            if key not in self._places:
                self._index(self._acknowledged())
            return self._places.get(key)

    def _index(self, until: int) -> None:
        # The head acknowledges less than was indexed, so this is another run in the same directory.
        if until < self._end:
            self._places, self._end = {}, 0
        for place, line in self._lines(self._end, until):
            begins = _BEGINNING.match(line)
            if begins is not None:
                # The first line of a hash counts; `verify` reports a second one.
                self._places.setdefault(bytes.fromhex(begins[1].decode()), place)
            self._end = place + len(line)

    def _lines(self, begin: int, until: int) -> Iterator[tuple[int, bytes]]:
        if begin >= until:
            return
        with readable(self._directory):
            try:
                file = plain_file(self.path, BUFFER_BYTES)
            except FileNotFoundError:
                return  # `verify` says so; every blob is missing
            with file:
                file.seek(begin)
                # Reads are bounded by the acknowledged length, because a writer may be appending right now.
                while begin < until and (line := file.readline(min(READ_BYTES, until - begin))):
                    yield begin, line
                    begin += len(line)

    def _damaged(self, what: str) -> Damaged:
        return Damaged((Problem(f"{BLOBS}: {what}"),), str(self._directory))


def are_new_lines(content: bytes, blobs: BlobStore) -> bool:
    """Return whether `content` is whole lines, each of a blob that has none yet."""
    hashes: set[str] = set()
    lines = content.split(b"\n")
    for line in lines[:-1]:
        try:
            sha256, blob = read_blob_line(line + b"\n")
        except NotABlob:
            return False
        # A writer never appends a tombstone or a known blob, so such a tail was not written by moot.
        if blob is None or sha256 in hashes or blobs.has(sha256):
            return False
        hashes.add(sha256)
    return not lines[-1]
