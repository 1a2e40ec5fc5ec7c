"""What a person adds to a run: `answer`, `override`, `ack`, `note`, `accept`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ledger.store.disk import read_plain
from moot.app.acts import add
from moot.cli.options import JsonOption, QuietOption, RunArgument, TextArgument
from moot.errors import usage
from rounds.run import human_actions as people


def answer(
    run: RunArgument,
    concern: Annotated[str, typer.Argument(metavar="ID", help="The question's or concern's id (N-3-1).")],
    text: TextArgument,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Answer a question or settle a concern; the answer is a decision in force, and later briefs show it.

    Example: moot answer @last N-3-1 'Yes, a lost acknowledgement is acceptable once a year.'
    """
    return add(run, lambda session: people.answer(session, concern, text), json=json, quiet=quiet)


def override(
    run: RunArgument,
    target: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A decision's id (D-4-1), or @SEQ of a ruling or of a screening that holds the run up.",
        ),
    ],
    text: TextArgument,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Overturn a decision in force, with what is decided instead and why. The old one stays on the ledger.

    Example: moot override @last D-4-1 'One journal, because operations must read it without us.'
    """
    return add(run, lambda session: people.override(session, target, text), json=json, quiet=quiet)


def ack(
    run: RunArgument,
    alarm: Annotated[
        str, typer.Argument(metavar="ALARM", help="The failure mode (FM-1), or @SEQ of the alarm.")
    ],
    text: TextArgument,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Close an open alarm; what it had amended ends with it.

    Example: moot ack @last FM-1 'The critic was right to agree: nothing was left to attack.'
    """
    return add(run, lambda session: people.acknowledge(session, alarm, text), json=json, quiet=quiet)


def note(
    run: RunArgument,
    text: TextArgument,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Put a remark on the ledger. No brief shows it.

    Example: moot note @last 'R5 was run with a new model for the critic.'
    """
    return add(run, lambda session: people.note(session, text), json=json, quiet=quiet)


FILE_BYTES_MAX = 1 << 20


def accept(
    run: RunArgument,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="The text that was really used; the distance is measured."),
    ] = None,
    reject: Annotated[bool, typer.Option("--reject", help="It was not used.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Note that a run's outcome was accepted, as it is or as FILE has it, or rejected; `moot value` counts these.

    Example: moot accept @last plan-as-built.md
    """
    if reject and file is not None:
        raise usage("rejected, and yet a text was used", "give FILE or --reject", "moot accept")
    used = None if file is None else _text(Path(file))
    return add(run, lambda session: people.accept(session, used, rejected=reject), json=json, quiet=quiet)


def _text(path: Path) -> str:
    content = read_plain(path, FILE_BYTES_MAX)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise usage(f"not UTF-8 (byte {error.start})", "save it as UTF-8", str(path)) from None
