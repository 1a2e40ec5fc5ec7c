"""What attempts may have cost beyond what the ledger shows: `<run>/spending.jsonl`, one line an act, written before it.

A request that was sent and never answered may have been billed, and a reply that was refused twice has no event. So
that a budget holds over a kill and a resume, each attempt is written down before it is sent. The file is no part of the
ledger: nothing is proved by it, and without it a run goes on with what the events show.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

import orjson

from ledger.disk import read_plain, readable

FILE: Final = "spending.jsonl"
FILE_BYTES_MAX: Final = 1 << 28


@dataclass(frozen=True, slots=True)
class Entry:
    """One act. `reserve`: an attempt's worst case; `settle`: what it used instead; `kept`: what an event now shows.

    `n` numbers the attempts of a run; amounts of `kept` are taken off, for the ledger counts them from then on.
    """

    act: Literal["reserve", "settle", "kept"]
    n: int
    step: str
    calls: int
    tokens: int
    micro_usd: int


class Spending:
    """The file of one run. One driver writes it, under the run's lease."""

    def __init__(self, run: Path) -> None:
        self.path: Final = run / FILE

    def entries(self) -> Iterator[Entry]:
        """Every act in order; a line that a kill cut short is not one."""
        try:
            with readable(self.path):
                content = read_plain(self.path, FILE_BYTES_MAX)
        except FileNotFoundError:
            return
        for line in content.splitlines():
            try:
                yield Entry(**orjson.loads(line))
            except (orjson.JSONDecodeError, TypeError):
                continue  # the torn last line of a killed driver, whose attempt was never sent

    def note(self, entry: Entry) -> None:
        """Write one act down; on disk when this returns."""
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
        try:
            os.write(descriptor, b"\n" + orjson.dumps(asdict(entry)))
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)
