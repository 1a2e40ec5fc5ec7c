"""Verbs that answer other programs and say what is missing: `serve`, `mcp` and `doctor`."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from ledger.plain_text import one_line
from moot.app.diagnostics import examine
from moot.app.runs import find_run
from moot.app.session import session_at
from moot.app.skill import install_skill
from moot.cli.command import JsonOption, QuietOption, VerbResult
from moot.environment import read_settings
from moot.errors import GOOD, NO, MootError, refuse, usage
from moot.terminal import theme
from moot.terminal.streams import out, out_json
from moot.terminal.theme import console
from moot.view.marks import Mark
from moot.view.results import Doctor, Examined, SeatTokens, Serving


def serve(
    runs: Annotated[
        str | None,
        typer.Argument(metavar="RUNS", help="A directory of runs, or one run. Default: ./runs."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, max=65_535, help="The port; the first free one from 8710 on."),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; any other than loopback needs a token.")
    ] = "127.0.0.1",
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show deliberations in a browser, as they happen and afterwards. It only reads; Ctrl-C ends it.

    Example: moot serve runs --port 8710
    """
    # A missing directory is an error here: the viewer would otherwise show an empty list for a typo.
    root = Path(runs) if runs is not None else read_settings().runs
    if not root.is_dir():
        raise MootError(
            "no_runs", f"no directory {str(root)!r}", ".", "name one that holds runs, or start a run"
        )
    from moot.web.server import address_of, listen, serve as answer, url_of

    # Listening starts before the address is printed, so the browser can never be faster than the server.
    listening = listen(host, port)
    address = address_of(host, listening)
    url = url_of(address)

    def ready() -> None:
        if json:
            # JSON is for a program that opens the viewer itself, which needs the token.
            out_json(Serving(url=url, host=host, port=address.port, runs=str(root), token=address.token))
        elif not quiet:
            out(f"runs under {root}: {url}\nCtrl-C ends it\n")
        # A browser is opened only for a person: scripts and agents call `serve` with a pipe.
        if not no_open and sys.stdout.isatty():
            import webbrowser

            webbrowser.open(url)

    with suppress(KeyboardInterrupt):  # how it is meant to end
        answer(root, address, listening, ready)
    return GOOD


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
    skills: Annotated[
        str | None,
        typer.Option(
            "--install-skill",
            metavar="[DIR]",
            help="Copy the skill into a directory of skills (.claude/skills), and leave.",
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult | int:
    """Serve moot's verbs to an agent host, by the Model Context Protocol over stdin and stdout.

    The host's agents fill the seats; no key is needed. Configure it as a stdio server whose command is `moot mcp`.

    --install-skill copies the skill `structured-deliberation`, which tells an agent how to be the operator. Files
    that were changed by hand are never overwritten. --json and --quiet are for --tokens and --install-skill.

    Example: moot mcp --runs runs
    """
    if skills is not None:
        files = install_skill(Path(skills).expanduser())
        return VerbResult(files, lambda: "".join(f"written  {name}\n" for name in files.files))
    place = Path(runs) if runs is not None else read_settings().runs
    if tokens is not None:
        from moot.mcp.rights import rights_in

        # With --runs a name means a run of that server, also where ./runs has one of the same name.
        inside = place / tokens
        run = inside if (inside / "head").is_file() else find_run(tokens)
        session = session_at(run.resolve())
        seat_tokens = rights_in(session.run.path.parent).tokens(session)
        text = "".join(f"{role} {token}\n" for role, token in seat_tokens.items())
        return VerbResult(SeatTokens(run=str(session.run.path), tokens=seat_tokens), lambda: text, write=out)
    refuse(json or quiet, "a server answers its host alone", "leave out --json and --quiet", "moot mcp")
    try:
        # The SDK is an optional extra, and takes a second to import.
        from moot.mcp.server import build
    except ImportError as error:
        raise usage(f"the extra is not installed: {error}", "pip install 'mcp>=2.3'", "moot mcp") from None
    build(place).run("stdio")
    return GOOD


MARKS = {
    "ok": Mark("✓", "ok", "good"),
    # Only a fault stops a run; a missing key or extra leaves host seats and other providers.
    "missing": Mark("○", "missing", "warn"),
    "fault": Mark("✗", "FAULT", "bad"),
}


def doctor() -> VerbResult:
    """Look at what a deliberation needs here: Python, files, terminal, keys, examples. Keys are never shown.

    Exit code 0: deliberations can be run (with host seats always, with model seats when a key is there).

    Example: moot doctor
    """
    # All checks run before anything is printed, because the exit code needs every one of them.
    examined = list(examine(read_settings()))
    summary = Doctor(ok=all(row.state != "fault" for row in examined), examined=examined)

    def show_table(_: str) -> None:
        console().print(_examined_table(examined))
        cannot = "deliberations cannot be run here: fix what is marked ✗"
        console().print("deliberations can be run here" if summary.ok else cannot)

    return VerbResult(summary, str, GOOD if summary.ok else NO, write=show_table)


def _examined_table(examined: list[Examined]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for row in examined:
        mark = MARKS[row.state]
        text = Text(one_line(row.found))
        if row.fix is not None:
            text.append(f"\n→ {one_line(row.fix)}", "bold")
        table.add_row(Text(mark.plain, theme.style_of(mark)), row.name, text)
    return table
