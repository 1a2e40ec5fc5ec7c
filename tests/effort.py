"""How much work a call may be: processor time of this process, so that a busy machine changes no verdict."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

CPU_SECONDS_MAX: Final = 20.0
"""A call on hostile input takes a tenth of a second; one whose work grows with the square of its input, minutes."""


class TooMuchWork(AssertionError):
    """A call went on and on. Raised inside it, so that its traceback shows where."""


@contextmanager
def bounded(what: str, cpu_seconds: float = CPU_SECONDS_MAX) -> Iterator[None]:
    """End the block by `TooMuchWork` when it has used this much processor time. For the main thread only."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooMuchWork(f"{what}: more than {cpu_seconds:g} seconds of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
