"""Documents that a person names on the command line: reports to write, texts and earlier decisions to read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ledger.events import Decision
from ledger.events.ids import DECISION_MENTION
from ledger.plain_text import NotText, one_line, readable
from ledger.store.disk import read_plain, write_failed, write_out
from moot.app.run import Run
from moot.app.runs import find_run
from moot.documents import decision_record
from moot.errors import usage
from moot.run_view import RunView

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


DECISION: Final = re.compile(rf"(.+):({DECISION_MENTION})")


def earlier_decision(reference: str) -> dict[str, str]:
    """Return a row of `[[context]]`: the decision record, which begins with its source.

    Raises `MootError` when the run or the decision does not exist, or nothing was decided.
    """
    # The pattern takes the last `:D-…`, so a run's path may contain colons of its own.
    named = DECISION.fullmatch(reference)
    run = Run(find_run(named[1] if named else reference))
    book, name = run.book, run.path.resolve().name
    only = named[2] if named else None
    if only is not None and not isinstance(book.by_id.get(only), Decision):
        known = ", ".join(book.state.decisions) or "none"
        raise usage(f"no decision {only!r} in that run", f"decisions there: {known}", "--from")
    if not book.state.decisions:
        raise usage("nothing was decided in that run", "finish it first: `moot status`", "--from")
    # The decision record names run and head, so the new run records exactly what it started from.
    text = decision_record(RunView(book, name), run.head, only)
    if only is not None:
        decision = book.by_id[only]
        assert isinstance(decision, Decision)
        text += f"\n## Where this starts\n\n{only}: {one_line(decision.text)}\n"
    return {"name": f"decision-of-{name}.md", "text": text}
