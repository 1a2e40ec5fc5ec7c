"""Documents that a person names on the command line: a report or a seal to be written, a text to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ledger.readable_text import NotText, readable
from ledger.store.disk import read_plain, write_failed, write_out
from moot.errors import usage

TEXT_BYTES_MAX: Final = 1 << 20


def write_document(file: Path, content: bytes) -> None:
    """Write `content` to `file`, whole or not at all; until then the old file stays.

    Raises `MootError` (exit code 2) when no file can have that name, `WriteFailed` (3) when the system refuses.
    """
    try:
        write_out(file, content)
    # These name a mistake in the path, which the person can fix; a full or read-only disk is reported as a failed
    # write.
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        reason = (error.strerror or str(error)).lower()
        raise usage(
            f"cannot write: {reason}", "name a file in a directory that is there", str(file)
        ) from None
    except OSError as error:
        # Exit code 3: the call was right, and can be repeated once the disk takes the file.
        raise write_failed(error, file) from error


def read_text(file: Path) -> str:
    """Return the text of a plain file. Raises `MootError` when it is not text, and `OSError`."""
    content = read_plain(file, TEXT_BYTES_MAX)
    try:
        return readable(content)
    except NotText as error:
        raise usage(str(error), error.fix, str(file)) from None
