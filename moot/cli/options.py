"""Parameters that several verbs share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Annotated, Final

import typer

from moot.terminal.streams import err

Completed = Callable[[str], list[str]]


def run_names(incomplete: str) -> list[str]:
    """Return completions of a run's name: @last, and ids."""
    from moot.app.runs import LAST, runs_under
    from moot.environment import read_settings

    runs = read_settings().runs
    names = (LAST, *(str(path.relative_to(runs)) for path in runs_under(runs)))
    return [name for name in names if name.startswith(incomplete)]


def among(names: Callable[[], Iterable[str]]) -> Completed:
    """Return a completion over names that are looked up when it is asked for."""
    # The names are looked up only while completing: imports at start-up would slow every verb down.
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def protocol_names() -> Iterable[str]:
    """Return the names of the protocols."""
    from rounds.protocols import PROTOCOLS

    return PROTOCOLS


OUTPUT: Final = "Output"
"""Panel of the help for options that only concern what is printed."""

RUN_HELP: Final = "A run's directory, an id under ./runs, or @last."
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP, autocompletion=run_names)]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="One JSON object for machines (schemas/output/).", rich_help_panel=OUTPUT),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", help="Print nothing but errors; the exit code tells.", rich_help_panel=OUTPUT),
]

NoPagerOption = Annotated[
    bool, typer.Option("--no-pager", help="Print all of it at once, also when it is longer than the screen.")
]
ByOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who you are, on the record. Default: git's user.name.")
]


def asking(*, silent: bool) -> Callable[[str, str], bool] | None:
    """Return what puts a question to the person before a run starts; None where no person is at the keyboard."""
    # Both ends must be a terminal: an answer from a pipe is no consent, and a question into a file is not seen.
    if silent or not sys.stdin.isatty() or not sys.stderr.isatty():
        return None

    def agreed(text: str, question: str) -> bool:
        err(text)
        return typer.confirm(question, default=False, err=True)

    return agreed


RUN_OR_ID_HELP: Final = "The run. Default: @last. An ID alone means that of the last run."
ID_HELP: Final = "An id of the run, such as D-2-1, or @SEQ."


def split_names(run: str, identity: str | None) -> tuple[str, str | None]:
    """Return run and id; an id alone belongs to the last run."""
    from ledger.events.ids import is_event_name
    from moot.app.runs import LAST

    return (LAST, run) if identity is None and is_event_name(run) else (run, identity)


TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="What you say.")]
