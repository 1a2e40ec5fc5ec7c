"""Child processes by fork: everything is loaded already, so a child costs a millisecond, and thousands are tried."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Final, NamedTuple

_write: Final = os.write  # the real one, also where a campaign watches or fails the calls of a child
CHILD_FAILED: Final = 70
"""Exit code of a child that ended by an exception which its function did not expect."""


class Child(NamedTuple):
    """A running child and the end of a pipe on which it speaks."""

    pid: int
    pipe: int

    def kill(self) -> bytes:
        """SIGKILL; what it had said until then. Raises when it had failed before."""
        os.kill(self.pid, signal.SIGKILL)
        return self.end()

    def end(self) -> bytes:
        """Wait for its end; what it said. Raises `ChildProcessError` when it failed by an exception."""
        said = bytearray()
        while piece := os.read(self.pipe, 1 << 16):
            said += piece
        os.close(self.pipe)
        _, status = os.waitpid(self.pid, 0)
        if os.waitstatus_to_exitcode(status) == CHILD_FAILED:
            raise ChildProcessError(said.decode("utf-8", "replace"))
        return bytes(said)


def start(work: Callable[[Callable[[str], None]], object]) -> Child:
    """Fork a child that does `work`, which is given a function to say one line with."""
    reading, writing = os.pipe()
    with (
        warnings.catch_warnings()
    ):  # Python 3.12 warns of threads, such as those of pytest-xdist; a child uses none
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid:
        os.close(writing)
        return Child(pid, reading)
    os.close(reading)
    code = CHILD_FAILED
    try:
        work(lambda line: void(_write(writing, line.encode() + b"\n")))
        code = 0
    except BaseException:  # noqa: BLE001 - said to the parent, which raises it
        _write(writing, traceback.format_exc().encode())
    finally:
        sys.stdout.flush()
        os._exit(code)


def void(_: object) -> None:
    """Nothing of a value."""
