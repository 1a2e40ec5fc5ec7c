"""What moot writes to: text and JSON to stdout, complaints to stderr; a reader that has gone away is no error."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, TextIO

from moot.errors import MootError
from moot.view.text import WIDTH

if TYPE_CHECKING:
    from ledger.result import Result


def out(text: str) -> None:
    """Write to stdout. When its reader has gone, the rest goes nowhere and the verb's exit code stays true."""
    _write(sys.stdout, text)


def show(text: str) -> None:
    """Write text from a ledger for people: what could move a cursor or hide a word is made visible.

    On a terminal a line that is too long for it goes on below, with no word broken; a pipe gets it as it is.
    """
    from ledger.plain_text import visible

    out(fitted(visible(text)))


def fitted(text: str) -> str:
    """Text as wide as the terminal; as it is where there is none."""
    return folded_at(text, columns()) if on_terminal() else text


def folded_at(text: str, width: int) -> str:
    """Every line that is longer than `width` continued below, under its own margin; no word is broken."""
    return "\n".join(part for line in text.split("\n") for part in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    margin = " " * min(len(line) - len(line.lstrip()) + 2, width // 3)
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=margin,
        drop_whitespace=True,
        break_long_words=False,
        break_on_hyphens=False,
    )


def on_terminal() -> bool:
    """Whether somebody looks at stdout, and no program reads it."""
    return sys.stdout.isatty()


def columns() -> int:
    """How wide text may be: the terminal's width, or that of a page where there is none."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if on_terminal() else WIDTH


def err(text: str) -> None:
    """Write to stderr; what could move a cursor or hide a word is made visible, as by `show`."""
    from ledger.plain_text import visible

    _write(sys.stderr, visible(text))


def out_json(value: Result) -> None:
    """Write one JSON object to stdout; on a terminal with line breaks in it."""
    indent = 2 if sys.stdout.isatty() else None
    out(_seen(value.model_dump_json(indent=indent)) + "\n")


def _seen(json: str) -> str:
    """The same JSON with what a terminal obeys or hides written as escapes."""
    from ledger.plain_text import json_escaped

    return json_escaped(json)


def complain(error: MootError, *, as_json: bool) -> None:
    """Say an error: one line on stderr, or one object on stdout."""
    if as_json:
        out(_seen(error.json) + "\n")
    else:
        err(f"{error.more}{error.line}\n")


def show_any_text() -> None:
    """Text that the terminal's encoding lacks is shown escaped, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
