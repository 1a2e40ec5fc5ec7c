"""Steps in progress and the words received so far, for viewers in another process.

`<run>/speech` exists next to the ledger while a process drives the run. It is not part of the ledger: it proves
nothing, the run goes on without it, and it is deleted with the driver. It never holds sealed positions.

    {"asked":[{"step":"r3.D.critic","since":"2026-03-04T05:06:07.000000Z","words":"The retry loses …"}]}
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

import msgspec

from ledger.events.ids import parse_step
from ledger.plain_json import NotJson, decoded
from ledger.store.disk import read_plain
from moot.environment import now

FILE: Final = "speech"
WORDS_MAX: Final = 1_500
"""Characters kept from the end of an answer."""
BYTES_MAX: Final = 1 << 20
PAUSE_SECONDS: Final = 0.15
"""Least time between two writes of words; a new step is written at once."""
SEALED: Final = "position"


class Spoken(msgspec.Struct):
    """A step in progress; `words` are the end of the answer so far, masked (`ledger.redaction.masking`)."""

    step: str
    since: str
    words: str = ""


class Said(msgspec.Struct):
    """Content of the file."""

    asked: list[Spoken]


class Speech:
    """`with Speech(run.path) as speech:` – a writer of the file that ignores disk errors."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        # With the process id: a driver that is being replaced may still be writing.
        self._temporary = directory / f"{FILE}.{os.getpid()}.tmp"
        self._current: dict[str, Spoken] = {}
        self._written_s = float("-inf")

    def __enter__(self) -> Speech:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for path in (self._path, self._temporary):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def started(self, step: str) -> None:
        """Note that a step was asked."""
        self._current[step] = Spoken(step, now())
        self._write()

    def words(self, step: str, piece: str) -> None:
        """Note a piece of its answer."""
        spoken = self._current.get(step)
        name = parse_step(step)
        # Any process may read the file: a position shown before its verdict would not be sealed any more.
        if spoken is None or name is None or name.act == SEALED:
            return
        # Only the end is kept, since a viewer shows what is being said now.
        spoken.words = (spoken.words + piece)[-WORDS_MAX:]
        if time.monotonic() - self._written_s >= PAUSE_SECONDS:
            self._write()

    def answered(self, steps: Iterable[str]) -> None:
        """Note steps that are on the ledger, or lost."""
        known = [step for step in steps if self._current.pop(step, None) is not None]
        # Commits of the controller answer no step, and need no write.
        if known:
            self._write()

    def _write(self) -> None:
        self._written_s = time.monotonic()
        content = msgspec.json.encode(Said(list(self._current.values())))
        with suppress(OSError):  # a full disk stops the run at its next commit, not here
            self._temporary.write_bytes(content)
            # Renamed into place, so that a viewer never reads half a file.
            self._temporary.replace(self._path)


def read_speech(directory: Path) -> Said | None:
    """Return the steps in progress of a run; None when there is no readable file."""
    try:
        return decoded(read_plain(directory / FILE, BYTES_MAX), Said)
    except (OSError, NotJson):
        return None
