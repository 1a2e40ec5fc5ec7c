"""Documents that a person names on the command line, to be written: a report, a deliberation file, a seal."""

from __future__ import annotations

from pathlib import Path

from ledger.store.disk import write_failed, write_out
from moot.errors import usage


def write_document(file: Path, content: bytes) -> None:
    """Put `content` at `file`, whole or not at all; what stood there stays until then.

    Raises `MootError` (exit code 2) when no file can be of that name, `WriteFailed` (3) when the system refuses.
    """
    try:
        write_out(file, content)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        reason = (error.strerror or str(error)).lower()
        raise usage(
            f"cannot write: {reason}", "name a file in a directory that is there", str(file)
        ) from None
    except OSError as error:
        raise write_failed(error, file) from error
