"""Spending record `<run>/spending.jsonl`: what attempts may have cost beyond the ledger.

One line per act, written before the act.

A request that was sent and never answered may have been billed, and a reply that was refused twice has no event. So
that a budget survives a kill and a resume, each attempt is recorded before it is sent. The file is not part of the
ledger: it proves nothing, and without it a run goes on with what the events show. A line that a kill cut short is not
an act, because its attempt was never sent. Any other unreadable line is an error: a budget that skipped it would limit
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from ledger.plain_json import NotJson, decoded
from ledger.store.disk import descriptor_of, read_plain, readable, write_fully, writing
from ledger.store.failures import LedgerError

FILE: Final = "spending.jsonl"
FILE_BYTES_MAX: Final = 1 << 28

_BEGINS: Final = b'{"act":"'
_ENDS: Final = b"}"

Amount = Annotated[int, msgspec.Meta(ge=0, le=(1 << 53) - 1)]


class SpendingUnreadable(LedgerError):
    """Line of the file that is not an act and was not cut short by a kill."""

    exit_code = 2

    def __init__(self, place: str) -> None:
        fix = "take the line out; what it stood for is then counted by no budget"
        super().__init__("a line that says nothing of what was spent", place, fix)


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One act. `reserve`: an attempt's worst case; `settle`: what it used instead; `kept`: what an event now shows.

    `n` numbers the attempts of a run; amounts of `kept` are taken off, for the ledger counts them from then on.
    """

    act: Literal["reserve", "settle", "kept"]
    n: Amount
    step: str
    calls: Amount
    tokens: Amount
    micro_usd: Amount


class Spending:
    """Spending file of one run. One driver writes it, under the run's lease."""

    def __init__(self, run: Path) -> None:
        self.path: Final = run / FILE

    def entries(self) -> Iterator[Entry]:
        """Yield every act in order. Raises `SpendingUnreadable`, and `Unreadable` when the file cannot be read."""
        try:
            with readable(self.path):
                content = read_plain(self.path, FILE_BYTES_MAX)
        except FileNotFoundError:
            return
        for number, line in enumerate(content.split(b"\n"), 1):
            # A line that is the beginning of an act and no more was cut short.
            begins = line.startswith(_BEGINS) or _BEGINS.startswith(line)
            if not line or (begins and not line.endswith(_ENDS)):
                continue
            try:
                yield decoded(line, Entry)
            except NotJson:
                raise SpendingUnreadable(f"{self.path}:{number}") from None

    def note(self, entry: Entry) -> None:
        """Append one act, durable on return. Raises `WriteFailed`."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with writing(self.path), descriptor_of(self.path, flags, 0o644) as descriptor:
            # The line feed comes first, so that a line which a kill cut short is closed by the next one
            # instead of spoiling it.
            write_fully(descriptor, b"\n" + msgspec.json.encode(entry))
            os.fdatasync(descriptor)
