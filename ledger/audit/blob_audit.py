"""Blobs that events refer to: each is there, with the bytes that its name says, or was redacted. Others are garbage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Event
from ledger.redaction.redaction import redacted_blobs
from ledger.state.book import Blobs
from ledger.store.failures import Damaged, Problem
from ledger.store.named_blobs import named_blobs, named_by_brief

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
