"""`moot --install-completion` and `--show-completion`: typer's own shell completion over the lazily loaded verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import typer
from typer.completion import (  # type: ignore[attr-defined]
    get_completion_script,  # pyright: ignore[reportPrivateImportUsage]
    install,  # pyright: ignore[reportPrivateImportUsage]
)
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from moot.cli import VERBS, find_verb
from moot.cli.command import command_of
from moot.errors import GOOD, NO, refuse, usage
from moot.terminal.streams import out

OPTIONS: Final = ("--install-completion", "--show-completion")
SHELLS: Final = ("bash", "zsh", "fish", "powershell", "pwsh")
VARIABLE: Final = "_MOOT_COMPLETE"
"""Set by the installed script when it asks for completions."""


def set_up(option: str, rest: Sequence[str]) -> int:
    """Install or print the completion script of a shell; without a name, of the running shell."""
    if not rest:
        return complete([option])
    shell = rest[0]
    # Checked here, so that the error lists the shells.
    refuse(
        shell not in SHELLS or len(rest) > 1,
        f"no completion for {' '.join(rest)!r}",
        f"shells are {', '.join(SHELLS)}",
        option,
    )
    if option == "--show-completion":
        out(f"{get_completion_script(prog_name='moot', complete_var=VARIABLE, shell=shell)}\n")
        return GOOD
    _, path = install(shell=shell, prog_name="moot", complete_var=VARIABLE)
    out(f"completion for {shell} installed in {path}; it works in the next terminal\n")
    return GOOD


def complete(arguments: Sequence[str] = ()) -> int:
    """Let typer act on its own options, or answer the completion that the environment asks for."""
    # Built only here: verbs are run one by one, and a group of all would import every file.
    app = typer.Typer(cls=VerbGroup)
    app.callback()(_nothing)
    try:
        get_command(app).main(
            args=list(arguments), prog_name="moot", complete_var=VARIABLE, standalone_mode=False
        )
    except SystemExit as end:  # typer ends a completion this way
        return GOOD if end.code in (None, 0) else NO
    except typer.TyperException:
        fix = f"name it: {', '.join(SHELLS)}"
        raise usage("the shell that runs moot is not known", fix, " ".join(arguments)) from None
    return GOOD


class VerbGroup(TyperGroup):
    """All verbs as one command. A verb's file is imported only to complete what follows the verb."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of all verbs."""
        return [verb.name for verb in VERBS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command that has the verb's name and help alone."""
        verb = find_verb(cmd_name)
        # A bare command with the verb's help completes the name itself; its options are only needed once it is
        # chosen.
        return verb and TyperCommand(verb.name, help=verb.does)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ARG002
        """Return the verb that the first word names, with its options, and the words after it."""
        verb = find_verb(args[0])
        return args[0], verb and command_of(verb), args[1:]


def _nothing() -> None:
    """Do nothing: only verbs act."""
