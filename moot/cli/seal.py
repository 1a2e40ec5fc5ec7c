"""`moot keygen` and `moot seal`: make a key, and sign the head of a run with it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ledger.audit.seal import NoteRefused, signer
from moot.app.runs import find_run
from moot.app.seals import key_directory, sealed, write_key
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import GOOD, usage
from moot.terminal.streams import out_json, show
from moot.view.results import KeyMade


def keygen(
    name: Annotated[str, typer.Argument(metavar="NAME", help="How signatures will name the key.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to put it (the configuration directory).")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Make an Ed25519 key. The secret half is written for its owner alone and never printed.

    Example: moot keygen alice
    """
    if not name.isprintable():
        raise usage("a key's name is printable", "choose a name such as alice or audit-2026", "NAME")
    try:
        key = signer(name, os.urandom(32))
    except NoteRefused as error:
        raise usage(str(error), "choose a name such as alice or audit-2026", "NAME") from None
    if "/" in name or name.startswith("."):
        raise usage("the name becomes a file name", "leave out slashes and leading dots", "NAME")
    secret, public = write_key(out or key_directory(), key)
    if json:
        out_json(KeyMade(name, str(secret), str(public), str(key.verifier)))
    elif not quiet:
        show(f"secret  {secret}  (keep it; it is not shown)\npublic  {public}\n        {key.verifier}\n")
    return GOOD


def seal(
    run: RunArgument,
    key: Annotated[Path, typer.Option(metavar="FILE", help="The secret key that `moot keygen` made.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the note here too: keep it where the run is not."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Sign a checkpoint of the head, after the whole run was verified.

    The note goes to <run>/checkpoints. It proves something only where it is kept apart from the run: `moot verify
    --checkpoint FILE --key PUB` then detects a rollback and a rewriting of the whole ledger.

    Example: moot seal @last --key ~/.config/moot/keys/alice.key
    """
    found = sealed(find_run(run), key, out)
    if json:
        out_json(found)
    elif not quiet:
        show(f"sealed @{found.seq} {found.hash} by {found.key}: {found.note}\n")
    return GOOD
