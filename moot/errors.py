"""Errors in one line: what happened, where, and the fix; with the exit code of FORMAT 13.

All expected errors of moot are here: `MootError`, and the more specific classes of `_PLACES`. All but `ReplyRefused`
(its `errors` say what to fix) and `SeatFailed` have `what` and `fix`.

moot: no run 'runs/x' (.); runs here: 2026-03-04-kfmr
{"error":{"code":"not_a_run","what":"…","where":"…","mend":"…"}}        with --json, on stdout
"""

from __future__ import annotations

import errno
import json
import re
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

if TYPE_CHECKING:
    # isort: off
    from ledger.store.commit import AlreadyARun as AlreadyARun
    from ledger.store.failures import (
        BlobMissing as BlobMissing,
        Damaged as Damaged,
        DriverBusy as DriverBusy,
        LedgerError as LedgerError,
        LockTimeout as LockTimeout,
        NotARun as NotARun,
        OtherFormat as OtherFormat,
        StrangeRun as StrangeRun,
        Unreadable as Unreadable,
        WriteFailed as WriteFailed,
    )
    from roles.seats.port import SeatFailed as SeatFailed
    from rounds.protocols import ProtocolUnknown as ProtocolUnknown
    from rounds.run.human_actions import NotThere as NotThere
    from rounds.run.session import (
        ReplyRefused as ReplyRefused,
        StepRefused as StepRefused,
    )
    from rounds.setup.toml_file import DeliberationError as DeliberationError
    # isort: on

_PLACES: Final = {
    "AlreadyARun": "ledger.store.commit",
    "BlobMissing": "ledger.store.failures",
    "Damaged": "ledger.store.failures",
    "DeliberationError": "rounds.setup.toml_file",
    "DriverBusy": "ledger.store.failures",
    "LedgerError": "ledger.store.failures",
    "LockTimeout": "ledger.store.failures",
    "OtherFormat": "ledger.store.failures",
    "NotARun": "ledger.store.failures",
    "NotThere": "rounds.run.human_actions",
    "ProtocolUnknown": "rounds.protocols",
    "ReplyRefused": "rounds.run.session",
    "SeatFailed": "roles.seats.port",
    "StepRefused": "rounds.run.session",
    "StrangeRun": "ledger.store.failures",
    "Unreadable": "ledger.store.failures",
    "WriteFailed": "ledger.store.failures",
}
"""Exception → its module, which is imported on first use."""

GOOD: Final = 0
NO: Final = 1
USAGE: Final = 2
DAMAGED: Final = 3
WAITING: Final = 4
SEAT_FAILED: Final = 5
BUG: Final = 70
"""Not one of FORMAT 13's: moot itself is wrong (EX_SOFTWARE)."""

EXIT_CODES: Final = {
    GOOD: "done: finished, stop, clean, same, intact or accepted",
    NO: "the verb's no: findings, go on, differs, refused",
    USAGE: "a call that cannot be understood, or a file or run that cannot be read",
    DAMAGED: "the ledger is damaged, or a write failed: to the run, to a file, or to standard output",
    WAITING: "the run waits for a seat or a person, or a budget or you stopped it; `moot run --resume` continues it",
    SEAT_FAILED: "a seat failed for good: the run is stopped, or finished with fewer replies than it asked for",
    BUG: "a fault of moot's own; --debug prints where",
}
"""Exit code → when a verb ends with it (FORMAT 13)."""

_WRITING: Final = frozenset({errno.ENOSPC, errno.EROFS, errno.EIO, errno.EDQUOT, errno.EFBIG})
"""Errors of the system that are reported as a failed write."""


class MootError(Exception):
    """An error for a person: what happened, where, and how to fix it. `more` is shown above the line."""

    def __init__(
        self, code: str, what: str, where: str, fix: str, exit_code: int = USAGE, more: str = ""
    ) -> None:
        from ledger.redaction.masking import masked  # most verbs meet no error

        self.code = code
        # Words of an error may quote a request, an address or a file with a key in it.
        self.what = masked(what)
        self.where = where
        self.fix = masked(install_line(fix))
        self.exit_code = exit_code
        self.more = masked(install_line(more))
        super().__init__(self.what)

    def __reduce__(self) -> tuple[type[MootError], tuple[object, ...]]:
        """Return how to rebuild the error in another process: by itself, an exception keeps only its message."""
        return MootError, (self.code, self.what, self.where, self.fix, self.exit_code, self.more)

    @property
    def line(self) -> str:
        """Return the error for people, always on one line."""
        where = f" ({self.where})" if self.where else ""
        return one_line(f"moot: {self.what}{where}; {self.fix}")

    @property
    def json(self) -> str:
        """Return the error for machines."""
        content = {
            "code": self.code,
            "what": one_line(self.what),
            "where": self.where,
            "mend": one_line(self.fix),  # the published name
        }
        # Not escaped here: the output stream escapes what a terminal could obey.
        return json.dumps({"error": content}, ensure_ascii=False)


def install_line(text: str) -> str:
    """Return a text whose `pip install 'X'` is the command of the tool that installed moot here.

    moot under pipx or `uv tool` has an environment of its own, which a plain pip does not reach.
    """
    # The path of the environment tells which tool has made it; Windows paths are compared with slashes.
    place = sys.prefix.replace("\\", "/")
    if "/pipx/venvs/" in place:
        return re.sub(r"pip install ('[^']+')", rf"pipx inject {place.rpartition('/')[2]} \1", text)
    if "/uv/tools/" in place:
        return re.sub(r"pip install ('[^']+')", r"uv tool install moot-ledger --with \1", text)
    return text


def usage(what: str, fix: str, where: str = "command line") -> MootError:
    """Build the error of a call that cannot be understood."""
    return MootError("usage", what, where, fix)


def refuse(is_wrong: object, what: str, fix: str, where: str = "command line") -> None:
    """Raise the error of a call that cannot be understood, where a condition holds."""
    if is_wrong:
        raise usage(what, fix, where)


def one_line(text: str) -> str:
    """Return text with its line breaks and control characters folded into spaces."""
    # A line break in an error could forge a second line in a log.
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", text).strip()


@runtime_checkable
class InWords(Protocol):
    """An error of a lower layer with its own message, and possibly `where` and `exit_code`."""

    what: str
    fix: str


def explain(error: BaseException) -> MootError | None:
    """Return the message for an error that a run of moot can meet; None when it is moot's own fault."""
    match error:
        case MootError():
            return error
        case KeyboardInterrupt():
            fix = "nothing that was written is lost: give the command again (a run continues with --resume)"
            return MootError("interrupted", "interrupted", "", fix, WAITING)
        case UnicodeDecodeError():
            what = f"not UTF-8 (byte {error.start})"
            return MootError("not_utf8", what, "input", "save it as UTF-8", USAGE)
        case OSError():
            return _of_the_system(error)
        case _:
            return _of_a_lower_layer(error)


def _of_the_system(error: OSError) -> MootError:
    reason = (error.strerror or str(error)).lower()
    where = str(error.filename or "")
    # Python's error does not say whether a read or a write failed; these mean a write, or a failing disk.
    if error.errno in _WRITING:
        return MootError(
            "write_failed", f"cannot write: {reason}", where, "make room, then do it again", DAMAGED
        )
    return MootError("unreadable", f"cannot read: {reason}", where, "name a file that you can read", USAGE)


def _of_a_lower_layer(error: object) -> MootError | None:
    # Lower layers do not import this module: their errors bring `what` and `fix` themselves.
    if not isinstance(error, InWords):
        return None
    where = str(getattr(error, "where", "") or "")
    # Most of them are an answer to the call, not a damaged ledger.
    exit_code = int(getattr(error, "exit_code", NO))
    # The code follows the class name, so that JSON readers can tell errors apart.
    code = re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()
    return MootError(code, error.what, where, error.fix, exit_code)


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'moot.errors' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PLACES})
