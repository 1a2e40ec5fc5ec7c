"""`moot seal`: sign the head of a run, and make the key to sign with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from ledger.audit.seal import NoteRefused, signer
from moot.app.runs import find_run
from moot.app.seals import sealed, write_key
from moot.cli.options import RUN_HELP, JsonOption, QuietOption, run_names
from moot.errors import GOOD, usage
from moot.terminal.streams import out_json, show
from moot.view.results import KeyMade

FIX: Final = "choose a file such as keys/alice.key or keys/audit-2026.key"


def seal(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help=RUN_HELP, autocompletion=run_names)
    ] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="The secret key to sign with.")] = None,
    new_key: Annotated[
        Path | None,
        typer.Option(
            "--new-key", metavar="FILE", help="Make a key instead: FILE.key and FILE.pub, named after FILE."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the note here too: keep it where the run is not."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Sign a checkpoint of the head, after the whole run was verified.

    The note goes to <run>/checkpoints. It proves something only where it is kept apart from the run: `moot verify
    --checkpoint FILE --key PUB` then detects a rollback and a rewriting of the whole ledger. --new-key keys/alice.key
    makes an Ed25519 key first. The secret half is written for its owner alone and never printed.

    Example: moot seal @last --key keys/alice.key
    """
    # Making a key and sealing are two calls, so that a wrong path never signs with a fresh key.
    if new_key is not None:
        if run is not None or key is not None or out is not None:
            raise usage("--new-key only makes a key", "seal the run in a second call", "--new-key")
        return _make_key(new_key, json=json, quiet=quiet)
    if run is None:
        raise usage("no run to seal", "name a run, or make a key with --new-key FILE", "moot seal")
    if key is None:
        raise usage("no key", "add --key FILE, and make one with `moot seal --new-key FILE`", "moot seal")
    checkpoint = sealed(find_run(run), key, out)
    if json:
        out_json(checkpoint)
    elif not quiet:
        show(f"sealed @{checkpoint.seq} {checkpoint.hash} by {checkpoint.key}: {checkpoint.note}\n")
    return GOOD


def _make_key(file: Path, *, json: bool, quiet: bool) -> int:
    """Write a new key pair into one directory; the key is named after the file."""
    name = file.name.removesuffix(".key")
    try:
        # 32 random bytes of the system are the whole Ed25519 secret.
        key = signer(name, os.urandom(32))
    except NoteRefused as error:
        raise usage(str(error), FIX, "--new-key") from None
    # The name becomes part of every note, and a leading dot would hide the key file.
    if not name.isprintable() or name.startswith("."):
        raise usage("the file's name becomes the key's name, and must be printable", FIX, "--new-key")
    secret, public = write_key(file.parent, key)
    if json:
        out_json(KeyMade(name, str(secret), str(public), str(key.verifier)))
    elif not quiet:
        show(f"secret  {secret}  (keep it; it is not shown)\npublic  {public}\n        {key.verifier}\n")
    return GOOD
