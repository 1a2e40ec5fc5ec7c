"""`moot mcp`: serve the verbs to agent hosts, and install the skill that teaches a host to use them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from moot.cli.options import JsonOption, QuietOption
from moot.environment import read_settings
from moot.errors import GOOD, usage
from moot.terminal.streams import out, out_json, show
from moot.view.results import SeatTokens

BARE: Final = {"--install-skill": ".claude/skills"}
"""Option → the value it has when none follows."""


def mcp(
    runs: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where runs are kept (./runs, or MOOT_RUNS).")
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Print the tokens of a run, for its operator, and leave."),
    ] = None,
    install_skill: Annotated[
        str | None,
        typer.Option(
            "--install-skill",
            metavar="[DIR]",
            help="Copy the skill into a directory of skills (.claude/skills), and leave.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="--install-skill: list the files, and write nothing.")
    ] = False,
    uninstall: Annotated[
        bool, typer.Option("--uninstall", help="--install-skill: remove the skill.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Serve moot's verbs to an agent host, by the Model Context Protocol over stdin and stdout.

    The host's agents fill the seats; no key is needed. Configure it as a stdio server whose command is `moot mcp`.

    --install-skill copies the skill `structured-deliberation`, which tells an agent how to be the operator. Files
    that were changed by hand are never overwritten or removed. --json and --quiet are for --tokens and --install-skill.

    Example: moot mcp --runs runs
    """
    if install_skill is not None:
        return _put_skill(install_skill, dry_run=dry_run, uninstall=uninstall, json=json, quiet=quiet)
    if dry_run or uninstall:
        raise usage("--dry-run and --uninstall are about the skill", "add --install-skill DIR", "moot mcp")
    place = Path(runs) if runs is not None else read_settings().runs
    if tokens is not None:
        from moot.app.runs import find_run
        from moot.app.session import session_at
        from moot.mcp.rights import rights_in

        # With --runs a name means a run of that server, also where ./runs has one of the same name.
        inside = place / tokens
        run = inside if (inside / "head").is_file() else find_run(tokens)
        session = session_at(run.resolve())
        seat_tokens = rights_in(session.run.path.parent).tokens(session)
        if json:
            out_json(SeatTokens(run=str(session.run.path), tokens=seat_tokens))
        elif not quiet:
            out("".join(f"{role} {token}\n" for role, token in seat_tokens.items()))
        return GOOD
    if json or quiet:
        raise usage("a server answers its host alone", "leave out --json and --quiet", "moot mcp")
    try:
        # The SDK is an optional extra, and takes a second to import.
        from moot.mcp.server import build
    except ImportError as error:
        raise usage(f"the extra is not installed: {error}", "pip install 'mcp>=2.3'", "moot mcp") from None
    build(place).run("stdio")
    return GOOD


def _put_skill(directory: str, *, dry_run: bool, uninstall: bool, json: bool, quiet: bool) -> int:
    from moot.app.skill import skill_files

    files = skill_files(Path(directory).expanduser(), dry_run=dry_run, uninstall=uninstall)
    if json:
        out_json(files)
    elif not quiet:
        word = f"would be {files.done}" if dry_run else files.done
        show("".join(f"{word}  {name}\n" for name in files.files))
    return GOOD
