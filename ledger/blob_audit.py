"""Blobs that events refer to: each is there, with the bytes that its name says, or was redacted. Others are garbage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from ledger.book import Blobs
from ledger.events import Amendment, Call, Event, RunOpened
from ledger.failures import Damaged, Problem
from ledger.redaction import record_of_original, redacted_blobs
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
        self._missing: dict[str, tuple[str, int]] = {}
        self._redacted: dict[str, int] = {}

    def problems(self, event: Event) -> Iterator[Problem]:
        """What is wrong with the blobs that `event` names, and with those that its briefs name; but for those that are
        missing, which a later event may have redacted (`absent`)."""
        if isinstance(event, Amendment):
            yield from self._amendment(event)
        if isinstance(event, RunOpened):
            yield from self._ask("the prompt set", event.prompt_set, event)
            for document in event.context:
                yield from self._ask(f"the document {document.id}", document.sha256, event)
        if event.call is not None:
            yield from self._call(event.call, event)

    def _amendment(self, event: Amendment) -> Iterator[Problem]:
        for sha256 in redacted_blobs(event):
            self._redacted.setdefault(sha256, event.seq)
        record = record_of_original(event)
        if record is not None:
            yield from self._ask("the list of the original's lines", record, event)

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
        whole = manifest is not None
        for named in _named_by(manifest or b""):
            if not self._is_remembered(named):
                found += self._ask("a block of the brief", named, event)
                whole = whole and named not in self._missing
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
        if sha256 == GENESIS:  # an import has none
            return b"", None
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


def _is_there(blobs: Blobs, sha256: str) -> bool:
    try:
        return blobs.read(sha256) is not None
    except Damaged:
        return False  # other bytes; said already where an event names them


def _named_by(manifest: bytes) -> tuple[str, ...]:
    """Hashes of blocks and schema; a brief that is no manifest names none (a validator sees that)."""
    if not 0 < len(manifest) <= MANIFEST_BYTES_MAX:
        return ()
    try:
        brief = _read_manifest(manifest)
    except msgspec.MsgspecError:
        return ()
    return (*(block.sha256 for block in brief.blocks), brief.schema)
