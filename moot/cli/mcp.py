"""`moot mcp`: the verbs for agent hosts, over stdio."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moot.environment import read_settings
from moot.errors import GOOD, usage
from moot.terminal.streams import out


def mcp(
    runs: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where runs are kept (./runs, or MOOT_RUNS).")
    ] = None,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Print the tokens of a run, for its operator, and leave."),
    ] = None,
) -> int:
    """Serve moot's verbs to an agent host, by the Model Context Protocol over stdin and stdout.

    The host's agents fill the seats; no key is needed. Configure it as a stdio server whose command is `moot mcp`.

    Example: moot mcp --runs runs
    """
    place = Path(runs) if runs is not None else read_settings().runs
    if tokens is not None:
        from moot.app.runs import find_run
        from moot.app.session import session_at
        from moot.mcp.rights import rights_in

        inside = place / tokens
        run = inside if (inside / "head").is_file() else find_run(tokens)
        session = session_at(run.resolve())
        found = rights_in(session.run.path.parent).tokens(session)
        out("".join(f"{role} {token}\n" for role, token in found.items()))
        return GOOD
    try:
        from moot.mcp.server import build
    except ImportError as error:
        raise usage(f"the extra is not installed: {error}", "pip install 'mcp>=2.3'", "moot mcp") from None
    build(place).run("stdio")
    return GOOD
