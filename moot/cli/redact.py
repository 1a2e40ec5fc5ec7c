"""`moot redact`: remove a blob under a recorded reason, or write a copy of a run without a secret."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ledger.redaction.redacted_copy import redacted_copy
from ledger.redaction.removal import redact as remove
from ledger.redaction.targets import in_words
from ledger.redaction.words import INSTEAD
from ledger.store.disk import plain_file
from ledger.store.store import RunStore
from moot.app.runs import find_run
from moot.app.session import kept_name, kept_words, names
from moot.cli.options import ByOption, JsonOption, QuietOption, RunArgument
from moot.environment import git_identity, now
from moot.errors import GOOD, usage
from moot.terminal.streams import out_json, show
from moot.view.results import Redacted

SECRET_BYTES_MAX = 100_000


def redact(
    run: RunArgument,
    blobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BLOB",
            help="A document (K-1) or a step, with their words, or a blob's hash.",
        ),
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; recorded, and shown with the run.")] = "",
    secret: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A file with words to remove from lines and blobs (- for stdin)."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a copy without the words there.")
    ] = None,
    by: ByOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Remove what must not be kept. What was removed, and why, stays on the ledger.

    A document or a step goes with every blob that holds its words, and `moot verify` then says "redacted" instead of
    "missing". Where the words stand in a line of the ledger nothing is removed and the places are named: the copy that
    --out writes leaves them out, and says in its opening of which head it is a redacted copy; the old run is left as
    it is. Neither wipes a disk, a backup or a clone.

    Example: moot redact @last K-1 --reason 'the document names a customer'
    """
    # Checked first: the reason goes on the ledger, and a removal without a valid one must not start.
    kept_words(reason, "--reason")
    path = find_run(run)
    person = git_identity() if by is None else kept_name(by)
    if not blobs and secret is None:
        raise usage("say what to remove", "name blobs, or give --secret FILE with --out DIR", "redact")
    # A run's own lines are never rewritten: its hashes would break, so lines are only redacted in a copy.
    if out is None:
        if secret is not None:
            raise usage("words inside lines go only from a copy", "give --out DIR", "redact")
        removed = remove(RunStore(path), blobs or [], reason, at=now(), person=person)
        result = Redacted(
            str(path),
            None,
            names(removed.events),
            list(removed.blobs),
            [],
            list(removed.left),
            removed.unsearched,
        )
    else:
        # Read from a file or stdin, because arguments end up in the shell's history and the process list.
        words = _secret(secret) if secret is not None else None
        copied = redacted_copy(
            RunStore(path), out, words, reason, name=path.name, at=now(), names=blobs or (), person=person
        )
        changed = [f"@{seq}" for seq in copied.changed]
        # The last event of the copy is the record of the redaction.
        written = names(copied.run.events()[-1:])
        result = Redacted(str(path), str(out), written, list(copied.left_out), changed, [], copied.unsearched)
    if json:
        out_json(result)
    elif not quiet:
        show(_text(result))
    return GOOD


def _secret(source: str) -> str:
    """Return the words in a file or on stdin, without the line feed at the end. They are printed nowhere."""
    try:
        raw = sys.stdin.buffer.read(SECRET_BYTES_MAX + 1) if source == "-" else _read(Path(source))
        # A part of a secret must not pass for the whole of it, so longer input is refused, not cut.
        if len(raw) > SECRET_BYTES_MAX:
            raise usage(f"more than {SECRET_BYTES_MAX} bytes of words", "name the words that must go", source)
        # `echo secret > file` adds a line feed that is not part of the secret, and would keep it from being found.
        return raw.decode("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError):
        raise usage("cannot read the secret", "name a text file that you can read", source) from None


def _read(path: Path) -> bytes:
    with plain_file(path) as file:
        return file.read(SECRET_BYTES_MAX + 1)


def _text(result: Redacted) -> str:
    lines = [f"removed {sha256}" for sha256 in result.blobs]
    lines += [f"replaced by {INSTEAD} in {place}" for place in result.changed]
    lines += [f"recorded as {event}" for event in result.events]
    # Said plainly: a blob is gone, but a person may believe that the words are gone everywhere.
    if result.left:
        lines.append(
            f"words of it still stand in {in_words(tuple(result.left))}: --out DIR writes a copy without them"
        )
    if result.unsearched:
        lines.append(
            f"{result.unsearched} lines were not looked for by themselves: too short, or moot's own words"
        )
    if result.copy is not None:
        lines.append(f"the copy is {result.copy}; {result.run} still holds what it held: remove it yourself")
    return "".join(f"{line}\n" for line in lines)
