"""`moot verify`: is a run, byte for byte, what was committed?"""

from __future__ import annotations

import re
from typing import Annotated

import typer

import moot
from ledger.chain import Head
from moot.cli.options import JsonOption, QuietOption, RunArgument
from moot.errors import usage
from moot.locate import find_run
from moot.render.findings import verify_text
from moot.terminal import out_json, show

EPILOG = "Example: moot verify @last --checkpoint 412:9f2c…"
CHECKPOINT = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})")


def verify(
    run: RunArgument,
    checkpoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SEQ:HASH", help="A head that you kept: does the run still begin with it? Repeatable."
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Look at every byte up to the head: chain, canonical bytes, schemas, blobs. Nothing is changed.

    Exit code 3 when the run is damaged, 1 when it is intact but does not begin with a given checkpoint.
    """
    heads = [_head(said) for said in checkpoint or ()]
    report = moot.verify(find_run(run), heads)
    if json:
        out_json(report)
    elif not quiet or not report.ok:
        show(verify_text(report))
    return report.exit_code


def _head(said: str) -> Head:
    match = CHECKPOINT.fullmatch(said)
    if match is None:
        raise usage(
            f"no checkpoint {said!r}", "write SEQ:HASH, as `moot verify` prints the head", "--checkpoint"
        )
    return Head(int(match[1]), match[2])
