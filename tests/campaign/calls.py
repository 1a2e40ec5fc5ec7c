"""The calls of the operating system that the store makes, seen and failed one by one, in this process and for real.

Every function of `os`, `fcntl` and `io` through which Python code reaches files is replaced while a `Watched` block
lasts; each still makes its real call unless told to fail. A child process does this, and nobody else notices.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final

CALLS: Final[tuple[tuple[Any, str], ...]] = (
    (os, "open"),
    (os, "close"),
    (os, "read"),
    (os, "pread"),
    (os, "write"),
    (os, "fsync"),
    (os, "fdatasync"),
    (os, "ftruncate"),
    (os, "lseek"),
    (os, "stat"),
    (os, "fstat"),
    (os, "mkdir"),
    (os, "rename"),
    (os, "replace"),
    (os, "unlink"),
    (os, "utime"),
    (os, "scandir"),
    (os, "listdir"),
    (fcntl, "fcntl"),
    (io, "open"),
)

Real = Callable[..., Any]
See = Callable[[str, Real, tuple[Any, ...], dict[str, Any]], Any]
"""Given the name of a call, the real function and its arguments; what it returns or raises is what the caller gets."""


class Watched:
    """`with Watched(see):` – every call goes through `see`, also those that the standard library makes."""

    def __init__(self, see: See) -> None:
        self._see = see
        self._real: list[tuple[Any, str, Real]] = []

    def __enter__(self) -> Watched:
        for module, name in CALLS:
            real: Real = getattr(module, name)
            self._real.append((module, name, real))
            setattr(module, name, self._through(name, real))
        return self

    def _through(self, name: str, real: Real) -> Real:
        see = self._see
        return lambda *arguments, **named: see(name, real, arguments, named)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for module, name, real in self._real:
            setattr(module, name, real)
        self._real.clear()


def refused(number: int, name: str) -> OSError:
    """What the system says when it refuses call `name` with error `number`."""
    return OSError(number, os.strerror(number), f"<{name}>")


FAULTS: Final[dict[str, tuple[int, ...]]] = {
    "open": (errno.EIO, errno.ENOSPC, errno.EMFILE, errno.EACCES),
    "write": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "fsync": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "fdatasync": (errno.EIO, errno.ENOSPC, errno.EDQUOT),
    "mkdir": (errno.EIO, errno.ENOSPC, errno.EROFS),
    "rename": (errno.EIO, errno.ENOSPC, errno.EROFS),
    "replace": (errno.EIO, errno.ENOSPC, errno.EROFS),
    "fcntl": (errno.EIO, errno.ENOLCK),
}
"""Which errors a call may meet; those that are not named here meet an I/O error."""


def faults_of(name: str) -> tuple[int, ...]:
    """The errors that are tried on a call."""
    return FAULTS.get(name, (errno.EIO,))
