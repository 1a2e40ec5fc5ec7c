"""`moot completion`: a completion script for your shell."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.cli import VERBS, Verb
from moot.cli.command import command_of
from moot.errors import GOOD, usage
from moot.terminal.completion import SCRIPTS, Completed
from moot.terminal.streams import out


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help=f"{', '.join(SCRIPTS)}.")],
) -> int:
    """Print a script that completes verbs, options and run ids. It starts no Python when you press Tab.

    Example: eval "$(moot completion bash)"
    """
    if shell not in SCRIPTS:
        raise usage(f"no completion for {shell!r}", f"shells are {', '.join(SCRIPTS)}", "SHELL")
    out(SCRIPTS[shell]([_completed(verb) for verb in VERBS]))
    return GOOD


def _completed(verb: Verb) -> Completed:
    """What can stand behind a verb."""
    parameters = command_of(verb).params
    options = [name for parameter in parameters for name in parameter.opts if name.startswith("--")]
    takes_run = any(parameter.metavar in ("RUN", "A", "B") for parameter in parameters)
    return Completed(verb.name, verb.does, tuple(sorted(options)), takes_run)
