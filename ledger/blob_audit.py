"""Blobs that events refer to: each is there, with the bytes that its name says. Others are garbage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from ledger.book import Blobs
from ledger.events import Call, Event, RunOpened
from ledger.failures import Damaged, Problem
from ledger.values import GENESIS, Hash

REMEMBERED_MAX: Final = 1 << 17
MANIFEST_BYTES_MAX: Final = 1 << 20


class _Block(msgspec.Struct, frozen=True):
    sha256: Hash


class _Manifest(msgspec.Struct, frozen=True):
    """The part of a brief that names other blobs (FORMAT 6)."""

    blocks: tuple[_Block, ...]
    schema: Hash


_read_manifest: Final = msgspec.json.Decoder(_Manifest).decode


class BlobAudit:
    """Asks for every blob once, and remembers a bounded number of good ones."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs
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
        manifest, problem = self._read("the brief", sha256, event)
        found = [problem] if problem else []
        for named in _named_by(manifest):
            if not self._is_remembered(named):
                found += self._ask("a block of the brief", named, event)
        if not found:
            self._remember(sha256)
        yield from found

    def _ask(self, what: str, sha256: str, event: Event) -> Iterator[Problem]:
        if self._is_remembered(sha256):
            return
        _, problem = self._read(what, sha256, event)
        if problem:
            yield problem
        else:
            self._remember(sha256)

    def _read(self, what: str, sha256: str, event: Event) -> tuple[bytes, Problem | None]:
        """A blob's bytes, or none and what is wrong with it."""
        if sha256 == GENESIS:  # an import has none
            return b"", None
        try:
            content = self._blobs.read(sha256)
        except Damaged:
            return b"", Problem(f"{what} was changed: blob {sha256} has other bytes", event.seq)
        if content is None:
            return b"", Problem(f"{what} is missing: blob {sha256}", event.seq)
        return content, None

    def _is_remembered(self, sha256: str) -> bool:
        return bytes.fromhex(sha256) in self._good

    def _remember(self, sha256: str) -> None:
        if len(self._good) >= REMEMBERED_MAX:
            self._good.clear()
        self._good.add(bytes.fromhex(sha256))


def named_blobs(event: Event, blobs: Blobs) -> Iterator[str]:
    """Hashes of all blobs that `event` names, and of those that its briefs name. Raises `Damaged` for a changed one."""
    if isinstance(event, RunOpened):
        yield event.prompt_set
        yield from (document.sha256 for document in event.context)
    if event.call is None:
        return
    call = event.call
    yield from (call.prompt_set, call.reply)
    yield from (attempt.reply for attempt in call.attempts if attempt.reply is not None)
    for brief in dict.fromkeys((call.brief, *(attempt.brief for attempt in call.attempts))):
        yield brief
        yield from _named_by(blobs.read(brief) or b"")


def _named_by(manifest: bytes) -> tuple[str, ...]:
    """Hashes of blocks and schema; a brief that is no manifest names none (a validator sees that)."""
    if not 0 < len(manifest) <= MANIFEST_BYTES_MAX:
        return ()
    try:
        brief = _read_manifest(manifest)
    except msgspec.MsgspecError:
        return ()
    return (*(block.sha256 for block in brief.blocks), brief.schema)
