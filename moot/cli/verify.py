"""`moot verify`: is a run, byte for byte, what was committed?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

import moot
from ledger.audit.seal import NOTE_BYTES_MAX, NoteRefused, Verifier, read_seal
from ledger.format.chain import Head
from ledger.store.disk import read_plain
from moot.app.runs import find_run
from moot.app.seals import public_key
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import usage
from moot.terminal.streams import err, out_json, show
from moot.view.findings import verify_text

CHECKPOINT = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})")


def verify(
    run: RunArgument,
    checkpoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE or SEQ:HASH",
            help="A seal or a head that you kept: does the run still begin with it? Repeatable.",
        ),
    ] = None,
    key: Annotated[
        list[Path] | None,
        typer.Option(metavar="PUB", help="A public key that seals are checked with. Repeatable."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Look at every byte up to the head: chain, canonical bytes, schemas, blobs. Nothing is changed.

    Exit code 3 when the run is damaged, 1 when it is intact but does not begin with a given checkpoint.

    Example: moot verify @last --checkpoint 412:9f2c…
    """
    # Keys are read first, because a checkpoint can only be believed with its signer's key.
    keys = tuple(public_key(path) for path in key or ())
    heads = [_head(text, keys) for text in checkpoint or ()]
    report = moot.verify(find_run(run), heads)
    if json:
        out_json(report)
    elif not quiet:
        show(verify_text(report))
    elif not report.ok:
        err(verify_text(report))
    return report.exit_code


def _head(text: str, keys: tuple[Verifier, ...]) -> Head:
    # A file with such a name would need a path in front: a bare SEQ:HASH is always a head.
    match = CHECKPOINT.fullmatch(text)
    if match is not None:
        return Head(int(match[1]), match[2])
    try:
        note = read_plain(text, NOTE_BYTES_MAX).decode()
    except (OSError, UnicodeDecodeError):
        fix = "name a note that `moot seal` wrote, or SEQ:HASH as `moot verify` prints the head"
        raise usage(f"no checkpoint {text!r}", fix, "--checkpoint") from None
    try:
        # The text of a note is only trusted up to what its signature covers.
        return read_seal(note, keys)[0].head
    except NoteRefused as error:
        fix = "give the signer's public key with --key" if not keys else "check the note and the key it names"
        raise usage(str(error), fix, text) from None
