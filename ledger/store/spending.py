"""What attempts may have cost beyond what the ledger shows: `<run>/spending.jsonl`, one line an act, written before it.

A request that was sent and never answered may have been billed, and a reply that was refused twice has no event. So
that a budget holds over a kill and a resume, each attempt is written down before it is sent. The file is no part of the
ledger: nothing is proved by it, and without it a run goes on with what the events show. A line that a kill cut short is
not an act, for its attempt was never sent; any other line that is no act is said, for a budget that reads over it would
bind nobody.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from ledger.store.disk import read_plain, readable, write_fully, writing
from ledger.store.failures import LedgerError

FILE: Final = "spending.jsonl"
FILE_BYTES_MAX: Final = 1 << 28

_BEGINS: Final = b'{"act":"'
_ENDS: Final = b"}"

Amount = Annotated[int, msgspec.Meta(ge=0, le=(1 << 53) - 1)]


class SpendingUnreadable(LedgerError):
    """A line of the file is no act and was not cut short by a kill."""

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
    """The file of one run. One driver writes it, under the run's lease."""

    def __init__(self, run: Path) -> None:
        self.path: Final = run / FILE

    def entries(self) -> Iterator[Entry]:
        """Every act in order. Raises `SpendingUnreadable`, and `Unreadable` when the file cannot be read."""
        try:
            with readable(self.path):
                content = read_plain(self.path, FILE_BYTES_MAX)
        except FileNotFoundError:
            return
        for number, line in enumerate(content.split(b"\n"), 1):
            if not line or _is_cut_short(line):
                continue
            try:
                yield msgspec.json.decode(line, type=Entry)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                raise SpendingUnreadable(f"{self.path}:{number}") from None

    def note(self, entry: Entry) -> None:
        """Write one act down; on disk when this returns. Raises `WriteFailed`."""
        with writing(self.path):
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
            try:
                write_fully(descriptor, b"\n" + msgspec.json.encode(entry))
                os.fdatasync(descriptor)
            finally:
                os.close(descriptor)


def _is_cut_short(line: bytes) -> bool:
    """Whether a line is the beginning of an act and no more."""
    return not line.endswith(_ENDS) and (line.startswith(_BEGINS) or _BEGINS.startswith(line))
