"""`moot completion`: a completion script for your shell, which asks typer, which asks the verbs."""

from __future__ import annotations

import os
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from moot.cli import VERBS, find_verb
from moot.cli.command import command_of
from moot.errors import GOOD, usage

SHELLS: Final = ("bash", "zsh", "fish")
VARIABLE: Final = "_MOOT_COMPLETE"
"""Set by the script when it asks for completions."""


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help=f"{', '.join(SHELLS)}.")],
) -> int:
    """Print a script that completes verbs, options, run ids and the names that an option takes.

    Example: eval "$(moot completion bash)"
    """
    if shell not in SHELLS:
        raise usage(f"no completion for {shell!r}", f"shells are {', '.join(SHELLS)}", "SHELL")
    os.environ[VARIABLE] = f"source_{shell}"
    try:
        return complete()
    finally:
        del os.environ[VARIABLE]


def complete() -> int:
    """Print what the environment asks of typer: completions, or the script."""
    app = typer.Typer(cls=VerbGroup)
    app.callback()(_nothing)
    try:
        get_command(app).main(args=[], prog_name="moot", complete_var=VARIABLE)
    except SystemExit as ended:  # that is how typer returns from it
        return GOOD if ended.code in (None, 0) else 1
    return GOOD


class VerbGroup(TyperGroup):
    """All verbs as one command. A verb's file is read when what follows the verb is asked for, not for its name."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return [verb.name for verb in VERBS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        verb = find_verb(cmd_name)
        return verb and TyperCommand(verb.name, help=verb.does)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ARG002
        verb = find_verb(args[0])
        return args[0], verb and command_of(verb), args[1:]


def _nothing() -> None:
    """Only verbs do something."""
