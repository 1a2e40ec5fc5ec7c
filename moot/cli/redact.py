"""`moot redact`: remove a blob under a recorded reason, or write a copy of a run without a secret."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ledger.redacted_copy import INSTEAD, redacted_copy
from ledger.removal import redact as remove
from ledger.store import Run
from moot.cli.options import JsonOption, QuietOption, RunArgument, some_words
from moot.clock import now
from moot.errors import GOOD, usage
from moot.locate import find_run
from moot.output.redact import Redacted
from moot.sessions import names
from moot.terminal import out_json, show

EPILOG = "Example: moot redact @last K-1 --reason 'the document names a customer'"
SECRET_BYTES_MAX = 100_000


def redact(
    run: RunArgument,
    blobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BLOB",
            help="A blob's hash, a document (K-1), or a step (its replies): to be removed.",
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why; recorded, and shown with the run.", callback=some_words)
    ] = "",
    secret: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A file that holds words to remove from lines and blobs (- for stdin)."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the copy without the secret is written.")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Remove what must not be kept. What was removed, and why, stays on the ledger.

    A blob is removed from the run, and `moot verify` then says "redacted" instead of "missing". Words inside a line
    cannot be: the copy that --secret and --out write leaves them out, and says in its opening of which head it is a
    redacted copy; the old run is left as it is. Neither wipes a disk, a backup or a clone.
    """
    path = find_run(run)
    if (secret is None) == (not blobs) or (secret is None) != (out is None):
        raise usage("say what to remove", "name blobs, or give --secret FILE with --out DIR", "redact")
    if secret is None or out is None:
        events, gone = remove(Run(path), blobs or [], reason, at=now())
        found = Redacted(str(path), None, names(events), list(gone), [])
    else:
        copied = redacted_copy(Run(path), out, _secret(secret), reason, name=path.name, at=now())
        changed = [f"@{seq}" for seq in copied.changed]
        written = names(copied.run.events()[-1:])
        found = Redacted(str(path), str(out), written, list(copied.left_out), changed)
    if json:
        out_json(found)
    elif not quiet:
        show(_text(found))
    return GOOD


def _secret(said: str) -> str:
    """The words in a file or on stdin, without the line feed at their end. They are printed nowhere."""
    try:
        raw = sys.stdin.buffer.read(SECRET_BYTES_MAX) if said == "-" else _read(Path(said))
        return raw.decode("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError):
        raise usage("cannot read the secret", "name a text file that you can read", said) from None


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(SECRET_BYTES_MAX)


def _text(found: Redacted) -> str:
    lines = [f"removed {sha256}" for sha256 in found.blobs]
    lines += [f"replaced by {INSTEAD} in {place}" for place in found.changed]
    lines += [f"recorded as {event}" for event in found.events]
    if found.copy is not None:
        lines.append(f"the copy is {found.copy}; {found.run} still holds what it held: remove it yourself")
    return "".join(f"{line}\n" for line in lines)
