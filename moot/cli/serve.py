"""`moot serve`: look at runs in a browser, live or finished."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from moot.cli.options import JsonOption, QuietOption
from moot.environment import read_settings
from moot.errors import GOOD, MootError
from moot.terminal.streams import out, out_json
from moot.view.results import Serving


def serve(
    runs: Annotated[
        str | None,
        typer.Argument(metavar="[RUNS]", help="A directory of runs, or one run; ./runs if not said."),
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
    from moot.web.server import address_of, listen, url_of
    from moot.web.server import serve as answer

    # Listening starts before the address is printed, so the browser can never be faster than the server.
    listening = listen(host, port)
    address = address_of(host, listening)
    url = url_of(address)

    def ready() -> None:
        if json:
            # JSON is for a program that opens the viewer itself, which needs the token.
            token = address.token
            out_json(Serving(url=url, host=host, port=address.port, runs=str(root), token=token))
        elif not quiet:
            out(f"runs under {root}: {url}\nCtrl-C ends it\n")
        # A browser is opened only for a person: scripts and agents call `serve` with a pipe.
        if not no_open and sys.stdout.isatty():
            import webbrowser

            webbrowser.open(url)

    with suppress(KeyboardInterrupt):  # how it is meant to end
        answer(root, address, listening, ready)
    return GOOD
