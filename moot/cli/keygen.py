"""`moot keygen`: make a key that seals runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ledger.audit.signed_note import NoteRefused, signer
from moot.app.keys import key_directory, write_key
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, usage
from moot.terminal.streams import out_json, show
from moot.view.output.seal import KeyMade

EPILOG = "Example: moot keygen alice"


def keygen(
    name: Annotated[str, typer.Argument(metavar="NAME", help="How signatures will name the key.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to put it (the configuration directory).")
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Make an Ed25519 key. The secret half is written for its owner alone and never printed."""
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
