"""`moot explain`: what a code or a term means."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, usage
from moot.terminal.streams import columns, out_json, show


def explain(
    code: Annotated[
        list[str] | None,
        typer.Argument(metavar="[CODE|TERM]", help="Such as FM-4, N-1-6, pending or 'group forecast'."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Explain a code or term: a rule, failure mode, stop check, status, event kind, id letter, exit code or word.

    Without one, list all that can be explained.

    Example: moot explain FM-4
    """
    # Imported late: its tables load every rule, protocol and event kind.
    from moot.view import explain as view

    asked = " ".join(code or ())
    explanation = view.explain(asked) if asked else view.Explanation("", list(view.all_entries()))
    if not explanation.entries:
        # Codes are easy to mistype, so the nearest known one is suggested.
        near = view.nearest(asked)
        fix = f"did you mean {near!r}?" if near else "`moot explain` lists what can be explained"
        raise usage(f"nothing is known as {asked!r}", fix, "moot explain")
    if json:
        out_json(explanation)
    elif not quiet:
        show(view.explanation_text(explanation, columns()))
    return GOOD
