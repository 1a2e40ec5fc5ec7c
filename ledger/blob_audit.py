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


def _hash_of_file(path: str) -> str:
    """By plain calls of the system: a run has thousands of blobs, and most are smaller than one read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, READ_BYTES)
        digest = hashlib.sha256(content)
        while content:
            content = os.read(descriptor, READ_BYTES)
            digest.update(content)
        return digest.hexdigest()
    finally:
        os.close(descriptor)


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
        found = list(self._ask("the brief", sha256, event, remember=False))
        for named in () if found else self._named_by(sha256):
            found += self._ask("a block of the brief", named, event)
        if not found:
            self._remember(sha256)
        yield from found

    def _named_by(self, sha256: str) -> tuple[str, ...]:
        """Hashes of blocks and schema; a brief that is no manifest names none (a validator sees that)."""
        path = self._directory / sha256
        if path.stat().st_size > MANIFEST_BYTES_MAX:
            return ()
        try:
            manifest = msgspec.json.decode(path.read_bytes(), type=_Manifest)
        except msgspec.MsgspecError:
            return ()
        return (*(block.sha256 for block in manifest.blocks), manifest.schema)

    def _ask(self, what: str, sha256: str, event: Event, *, remember: bool = True) -> Iterator[Problem]:
        if sha256 == GENESIS or self._is_remembered(sha256):  # 64 zeros: an import has none
            return
        try:
            actual = _hash_of_file(self._prefix + sha256)
        except FileNotFoundError:
            yield Problem(f"{what} is missing: blob {sha256}", event.seq)
            return
        except OSError as error:
            raise unreadable(error, self._directory) from error
        if actual != sha256:
            yield Problem(f"{what} was changed: blob {sha256} has other bytes", event.seq)
        elif remember:
            self._remember(sha256)

    def _is_remembered(self, sha256: str) -> bool:
        return bytes.fromhex(sha256) in self._good

    def _remember(self, sha256: str) -> None:
        if len(self._good) >= REMEMBERED_MAX:
            self._good.clear()
        self._good.add(bytes.fromhex(sha256))
