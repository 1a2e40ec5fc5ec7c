"""Blobs: briefs, replies, schemas, prompt sets and documents, each named by the SHA-256 of its bytes, and by events."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from ledger.events import Amendment, Call, Decision, Event, ExperimentPlanned, ExperimentRun, RunOpened
from ledger.events.values import GENESIS, Hash
from ledger.state.book import Blobs
from ledger.state.redactions import record_of_original
from ledger.store.disk import Disk, open_plain, readable, refuse_link, unreadable, writing
from ledger.store.failures import Damaged, Problem

REMEMBERED_BYTES_MAX: Final = 1 << 25
READ_BYTES: Final = 1 << 15
_HEX64: Final = re.compile(r"[0-9a-f]{64}")


def hash_of(content: bytes) -> str:
    """The name of a blob: SHA-256 in 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def _read(path: str) -> bytes:
    """A whole file, by plain calls of the system: a run has thousands of blobs, most smaller than one read."""
    descriptor = open_plain(path)
    try:
        pieces = [os.read(descriptor, READ_BYTES)]
        while len(pieces[-1]) == READ_BYTES:
            pieces.append(os.read(descriptor, READ_BYTES))
        return b"".join(pieces)
    finally:
        os.close(descriptor)


class Remembered:
    """Blobs that are asked for again and again: each is read once, as long as they are small together."""

    __slots__ = ("_blobs", "_bytes_left", "_kept")

    def __init__(self, blobs: Blobs, bytes_max: int = REMEMBERED_BYTES_MAX) -> None:
        self._blobs = blobs
        self._kept: dict[str, bytes] = {}
        self._bytes_left = bytes_max

    def read(self, sha256: str) -> bytes | None:
        """As `BlobStore.read`."""
        content = self._kept.get(sha256)
        if content is None:
            content = self._blobs.read(sha256)
            if content is not None and len(content) <= self._bytes_left:
                self._kept[sha256] = content
                self._bytes_left -= len(content)
        return content


class BlobStore:
    """The blobs of one run. Writing needs no lock: a blob that nothing refers to is garbage, not damage."""

    __slots__ = ("_directory", "_disk")

    def __init__(self, directory: Path, *, sync: bool = True) -> None:
        self._directory = directory
        self._disk = Disk(sync)

    def read(self, sha256: str) -> bytes | None:
        """The bytes with that hash, None when not there. Raises `Damaged` when they have another hash."""
        content = self._content(sha256)
        if content is not None and hash_of(content) != sha256:
            problem = Problem(f"blob {sha256} has other bytes than its name says")
            raise Damaged((problem,), str(self._directory.parent))
        return content

    def write(self, content: bytes) -> str:
        """Keep `content` durably; its hash."""
        sha256 = hash_of(content)
        self.write_all({sha256: content})
        return sha256

    def write_all(self, blobs: Mapping[str, bytes]) -> None:
        """Keep blobs durably, with one sync of the directory. A name that is no hash is the caller's bug."""
        if not blobs:
            return
        with writing(self._directory):
            refuse_link(self._directory)
            for sha256, content in blobs.items():
                assert hash_of(content) == sha256, f"{sha256} is not the hash of its blob"
                if self._content(sha256) != content:
                    self._disk.replace(self._directory / sha256, content, self._temporary(sha256))
            self._disk.settle(self._directory)

    def names(self) -> list[str]:
        """The hashes of all blobs that are there, sorted. Raises `Unreadable`."""
        with readable(self._directory):
            return sorted(name for name in os.listdir(self._directory) if _HEX64.fullmatch(name))

    def remove(self, sha256: str) -> None:
        """Remove a blob, durably; nothing when it is not there. Raises `WriteFailed`."""
        with writing(self._directory):
            refuse_link(self._directory)
            (self._directory / sha256).unlink(missing_ok=True)
            self._disk.settle(self._directory)

    def _content(self, sha256: str) -> bytes | None:
        if not _HEX64.fullmatch(sha256):
            return None
        try:
            return _read(f"{self._directory}{os.sep}{sha256}")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise unreadable(error, self._directory) from error

    def _temporary(self, sha256: str) -> Path:
        return self._directory / f"{sha256}.{os.getpid()}.{os.urandom(4).hex()}.tmp"


MANIFEST_BYTES_MAX: Final = 1 << 20
BlobKind = Literal[
    "prompt set", "parameters", "document", "brief", "block", "schema", "reply", "record", "experiment"
]


class Named(NamedTuple):
    """A blob that an event names: what it is, in words for a person, and its hash."""

    kind: BlobKind
    what: str
    sha256: str


def named_blobs(event: Event) -> Iterator[Named]:
    """The blobs that stand in `event` itself."""
    return (named for named in _named(event) if named.sha256 != GENESIS)  # an import has no prompts


def named_by_brief(manifest: bytes) -> Iterator[Named]:
    """The blobs that a brief names; one that is no manifest names none (a rule sees that)."""
    if not 0 < len(manifest) <= MANIFEST_BYTES_MAX:
        return
    try:
        brief = _read_manifest(manifest)
    except msgspec.MsgspecError:
        return
    yield from (Named("block", "a block of the brief", block.sha256) for block in brief.blocks)
    yield Named("schema", "the reply schema of the brief", brief.schema)


def all_named_blobs(event: Event, blobs: Blobs) -> Iterator[Named]:
    """The blobs that `event` names, and behind each brief those that it names. Raises `Damaged` for a changed one."""
    for named in named_blobs(event):
        yield named
        if named.kind == "brief":
            yield from named_by_brief(blobs.read(named.sha256) or b"")


def own_parameters(opened: RunOpened) -> str | None:
    """The hash of the run's own parameter file; None when it has none and the installed ones hold."""
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
    parameters = own_parameters(event)
    if parameters is not None:
        yield Named("parameters", "the file of the run's own parameters", parameters)
    for document in event.context:
        yield Named("document", f"the document {document.id}", document.sha256)


def _of_experiment(event: ExperimentPlanned | ExperimentRun) -> Iterator[Named]:
    if isinstance(event, ExperimentRun):
        where = f"repetition {event.n} of {event.of}"
        yield Named("experiment", f"what {where} wrote to stdout", event.stdout.kept)
        yield Named("experiment", f"what {where} wrote to stderr", event.stderr.kept)
        files = event.outputs
    else:
        where = event.id or f"@{event.seq}"
        yield from (
            Named("experiment", f"the input {one.name} of {where}", one.sha256) for one in event.inputs
        )
        files = (*event.files, *(one for control in event.controls for one in control.files))
    yield from (Named("experiment", f"the file {one.name} of {where}", one.sha256) for one in files)


def _of_call(call: Call, step: str) -> Iterator[Named]:
    yield Named("prompt set", "the prompt set", call.prompt_set)
    yield Named("reply", f"the reply of {step}", call.reply)
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


_read_manifest: Final = msgspec.json.Decoder(_Manifest).decode
