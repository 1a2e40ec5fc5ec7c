"""Blobs that events refer to: each is there, with the bytes that its name says. Others are garbage."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from ledger.disk import unreadable
from ledger.events import Call, Event, RunOpened
from ledger.failures import Problem
from ledger.values import GENESIS, Hash

REMEMBERED_MAX: Final = 1 << 17
MANIFEST_BYTES_MAX: Final = 1 << 20
READ_BYTES: Final = 1 << 15


class _Block(msgspec.Struct, frozen=True):
    sha256: Hash


class _Manifest(msgspec.Struct, frozen=True):
    """The part of a brief that names other blobs (FORMAT 6)."""

    blocks: tuple[_Block, ...]
    schema: Hash


_read_manifest: Final = msgspec.json.Decoder(_Manifest).decode


def _pieces(path: str) -> Iterator[bytes]:
    """The bytes of a file, by plain calls of the system: a run has thousands of blobs, most smaller than one read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while True:
            piece = os.read(descriptor, READ_BYTES)
            if piece:
                yield piece
            if len(piece) < READ_BYTES:
                return
    finally:
        os.close(descriptor)


def _named_by(manifest: bytearray) -> tuple[str, ...]:
    """Hashes of blocks and schema; a brief that is no manifest names none (a validator sees that)."""
    if len(manifest) > MANIFEST_BYTES_MAX:
        return ()
    try:
        brief = _read_manifest(manifest)
    except msgspec.MsgspecError:
        return ()
    return (*(block.sha256 for block in brief.blocks), brief.schema)


class BlobAudit:
    """Asks every blob once, and remembers a bounded number of good ones."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._prefix = f"{directory}{os.sep}"
        self._good: set[bytes] = set()

    def problems(self, event: Event) -> Iterator[Problem]:
        """What is wrong with the blobs that `event` names, and with those that its briefs name."""
        if isinstance(event, RunOpened):
            yield from self._ask("the prompt set", event.prompt_set, event)
            for document in event.context:
                yield from self._ask(f"the document {document.id}", document.sha256, event)
        if event.call is not None:
            yield from self._call(event.call, event)

    def _call(self, call: Call, event: Event) -> Iterator[Problem]:
        yield from self._ask("the prompt set", call.prompt_set, event)
        yield from self._ask("the reply", call.reply, event)
        for brief in dict.fromkeys((call.brief, *(attempt.brief for attempt in call.attempts))):
            yield from self._brief(brief, event)
        for attempt in call.attempts:
            if attempt.reply is not None:
                yield from self._ask(f"the reply of attempt {attempt.n}", attempt.reply, event)

    def _brief(self, sha256: str, event: Event) -> Iterator[Problem]:
        if self._is_remembered(sha256):
            return
        manifest = bytearray()
        found = list(self._ask("the brief", sha256, event, kept=manifest))
        for named in () if found else _named_by(manifest):
            found += self._ask("a block of the brief", named, event)
        if not found:
            self._remember(sha256)
        yield from found

    def _ask(
        self, what: str, sha256: str, event: Event, *, kept: bytearray | None = None
    ) -> Iterator[Problem]:
        """Look at one blob; the bytes of a manifest go to `kept`, and it is not good before those that it names."""
        if sha256 == GENESIS or self._is_remembered(sha256):  # 64 zeros: an import has none
            return
        digest = hashlib.sha256()
        try:
            for piece in _pieces(self._prefix + sha256):
                digest.update(piece)
                if kept is not None and len(kept) <= MANIFEST_BYTES_MAX:
                    kept += piece
        except FileNotFoundError:
            yield Problem(f"{what} is missing: blob {sha256}", event.seq)
            return
        except OSError as error:
            raise unreadable(error, self._directory) from error
        if digest.hexdigest() != sha256:
            yield Problem(f"{what} was changed: blob {sha256} has other bytes", event.seq)
        elif kept is None:
            self._remember(sha256)

    def _is_remembered(self, sha256: str) -> bool:
        return bytes.fromhex(sha256) in self._good

    def _remember(self, sha256: str) -> None:
        if len(self._good) >= REMEMBERED_MAX:
            self._good.clear()
        self._good.add(bytes.fromhex(sha256))
