"""Output streams: text and JSON on stdout, long text through a pager, errors on stderr.

A reader that has gone away is not an error.

Errors of the output never reach a verb: a run whose progress cannot be shown goes on, and its ledger is complete.
`refused_output` returns afterwards what stdout refused.
"""

from __future__ import annotations

import io
import os
import re
import select
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any, Final, TextIO

from moot.errors import MootError
from moot.view.text import WIDTH

if TYPE_CHECKING:
    from ledger.result import Result


PAGER: Final = "less"
LESS: Final = "FRX"
"""Options of `less` by default: leave when the text fits, keep colors, do not clear the screen."""


class Output(io.FileIO):
    """Standard output or error of this process; errors of the system are kept in `refused` instead of raised."""

    refused: OSError | None = None
    is_over = False

    def write(self, data: Any) -> int:
        """Write what can be written, and drop the rest."""
        while not self.is_over:
            try:
                written = super().write(data)
            except BrokenPipeError:  # `moot log | head` is no error
                self.is_over = True
            except OSError as error:
                self.refused = error
                self.is_over = True
            else:
                if written is not None:
                    return written
                # A host may have made the pipe non-blocking for both sides: wait until it takes more.
                select.select((), (self,), ())
        return len(data)


def take_over_streams() -> None:
    """Replace this process's stdout and stderr by `Output`, and open standard streams that are closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # A file that is opened later would get this number, and what is printed would be written into it. Opened
            # for reading: whatever is written there is refused, as it would have been.
            os.open(os.devnull, os.O_RDONLY)
    # Python sets stdin to None when the process was started with it closed.
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)), "utf-8")
    for number, name in ((1, "stdout"), (2, "stderr")):
        before: TextIO | None = getattr(sys, name)
        encoding = before.encoding if before is not None else "utf-8"
        writer = io.BufferedWriter(Output(number, "wb", closefd=False))
        setattr(sys, name, io.TextIOWrapper(writer, encoding, line_buffering=number == 2))


def refused_output() -> OSError | None:
    """Return the system's error if it refused output on stdout, else None."""
    return getattr(getattr(getattr(sys.stdout, "buffer", None), "raw", None), "refused", None)


def out(text: str) -> None:
    """Write to stdout."""
    _write(sys.stdout, text)


def show(text: str) -> None:
    """Write text from a ledger for people, with everything that could move a cursor or hide a word made visible.

    On a terminal, a line that is too long continues below, with no word broken; a pipe gets it unchanged.
    """
    from ledger.plain_text import visible

    out(fitted(visible(text)))


def show_outcome(text: str, status: str) -> None:
    """Write text that begins with an outcome block; on a terminal with its status in color and its answer in bold."""
    from ledger.plain_text import visible

    block = fitted(visible(text))
    out(painted(block, status) if on_terminal() and not os.environ.get("NO_COLOR") else block)


def painted(text: str, status: str) -> str:
    """Return an outcome block with its status lines in the status's color and its answer in bold."""
    from moot.view.outcome_text import ANSWER, INDENT, STATUSES

    lines = text.split("\n")
    # Found by its label: the block is plain text here, and only its look depends on the terminal.
    answer = next((n for n, line in enumerate(lines) if line.startswith(f"{ANSWER:<{INDENT}}")), None)
    words = STATUSES.get(status, status)
    first = next((n for n in reversed(range(answer or 0)) if lines[n].split(":")[0] == words), None)
    # Text in another form is printed as it is, without color.
    if answer is None or first is None:
        return text
    # Continuation lines are indented, so the answer reaches up to the first line that is not.
    last = answer + 1
    while last < len(lines) and lines[last].startswith(" " * INDENT):
        last += 1
    styles = dict.fromkeys(range(first, answer), _STATUS_STYLES.get(status, "1"))
    styles |= dict.fromkeys(range(answer, last), "1")
    return "\n".join(
        f"\x1b[{styles[n]}m{line}\x1b[0m" if n in styles else line for n, line in enumerate(lines)
    )


_STATUS_STYLES: Final = {
    "running": "1;36",
    "waiting": "1;36",
    "stopped": "1;31",
    "nobody_answered": "1;31",
    "ill_posed": "1;31",
    "run_this_first": "1;33",
    "your_call": "1;35",
    "decided": "1;32",
}
"""Status of an outcome → SGR codes: bold, and a color beside the word that says the same."""


def page(text: str, *, ask: bool = True) -> None:
    """Show text; on a terminal, through the pager when it is longer than the screen and `ask` holds.

    PAGER names the pager; empty, or `cat`, turns paging off. A pager that cannot be started is left out.
    """
    import shlex
    import subprocess

    from ledger.plain_text import visible

    # PAGER may have options, such as `less -S`.
    pager = shlex.split(os.environ.get("PAGER", PAGER)) if ask and on_terminal() else []
    seen = fitted(visible(text)) if pager else ""
    rows = shutil.get_terminal_size().lines
    if not pager or pager == ["cat"] or seen.count("\n") < rows or shutil.which(pager[0]) is None:
        show(text)
        return
    # A person's own LESS wins, as it does in git.
    environment = {"LESS": LESS, **os.environ}
    try:
        subprocess.run(pager, input=seen.encode("utf-8", "replace"), env=environment, check=False)
    # The pager may vanish between the look and the start; the text must be shown all the same.
    except OSError:
        out(seen)


def fitted(text: str) -> str:
    """Return text folded to the terminal, with right-to-left words isolated; unchanged without a terminal."""
    from ledger.plain_text import isolated

    return isolated(folded_at(text, columns())) if on_terminal() else text


def folded_at(text: str, width: int) -> str:
    """Return text with every line longer than `width` continued below, under its own margin; no word is broken."""
    return "\n".join(part for line in text.split("\n") for part in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    # At most a third of the width, or deeply indented text would leave no room for words.
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
    """Return whether stdout is a terminal."""
    return sys.stdout.isatty()


def columns() -> int:
    """Return how wide text may be: the terminal's width, or the width of a page without a terminal."""
    return shutil.get_terminal_size((WIDTH, 24)).columns if on_terminal() else WIDTH


def err(text: str) -> None:
    """Write to stderr, with control characters made visible and, on a terminal, long lines folded as by `show`."""
    from ledger.plain_text import isolated, visible

    plain = visible(text)
    _write(sys.stderr, isolated(folded_at(plain, _error_columns())) if sys.stderr.isatty() else plain)


def _error_columns() -> int:
    """Return the width of the terminal of stderr, which may not be that of stdout."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or WIDTH
    except OSError:
        return WIDTH


def out_json(value: Result) -> None:
    """Write one JSON object to stdout; on a terminal with line breaks in it."""
    # One line for programs that read JSON Lines, indented for people.
    indent = 2 if sys.stdout.isatty() else None
    out(_seen(value.model_dump_json(indent=indent)) + "\n")


def indented(content: dict[str, Any]) -> str:
    """Return an object as indented JSON, for a file or a program that reads another form than moot's own."""
    from orjson import OPT_INDENT_2, dumps

    return dumps(content, option=OPT_INDENT_2).decode() + "\n"


def _seen(json: str) -> str:
    """Return the same JSON with everything escaped that a terminal obeys or hides, or its encoding lacks."""
    from ledger.plain_text import json_escaped

    # Control characters in a ledger's text could drive the terminal, also from inside JSON.
    escaped = json_escaped(json)
    if (sys.stdout.encoding or "utf-8").lower().replace("-", "") == "utf8":
        return escaped
    from json import dumps

    # JSON can escape any character, so even an ASCII terminal loses nothing.
    return re.sub(r"[^\x00-\x7f]", lambda character: dumps(character[0])[1:-1], escaped)


def complain(error: MootError, *, as_json: bool) -> None:
    """Write an error: one line on stderr, or one object on stdout."""
    if as_json:
        out(_seen(error.json) + "\n")
    # With stdout closed the JSON object is lost, and stderr is all that is left.
    if not as_json or refused_output() is not None:
        err(f"{error.more}{error.line}\n")


def show_any_text() -> None:
    """Escape text that the terminal's encoding lacks, where Python would raise an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _write(stream: TextIO, text: str) -> None:
    stream.write(text)
    # At once, so that output and errors keep their order when both go to one file.
    stream.flush()
