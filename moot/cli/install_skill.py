"""`moot install-skill`: put the skill where agent hosts look for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moot.app.skill import skill_files
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD
from moot.terminal.streams import out_json, show


def install_skill(
    to: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="A directory of skills: .claude/skills, ~/.claude/skills, .agents/skills."
        ),
    ] = ".claude/skills",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")
    ] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take the skill away again.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Copy the skill `structured-deliberation` into a directory of skills, or take it away.

    Files that are there and were changed by hand are never overwritten or removed: the skill is then refused whole.

    Example: moot install-skill --to .claude/skills --dry-run
    """
    found = skill_files(Path(to).expanduser(), dry_run=dry_run, uninstall=uninstall)
    if json:
        out_json(found)
    elif not quiet:
        word = f"would be {found.done}" if dry_run else found.done
        show("".join(f"{word}  {name}\n" for name in found.files))
    return GOOD
