"""Draw what a moot command prints on a terminal as an SVG for the documentation.

    python -m tests.render.picture docs/images/signals.svg --columns 130 -- signals RUN --at 365

The command runs in a pseudo-terminal, so the picture has the colors and the width that a person sees. It exits with the
command's own exit code.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

COLUMNS: Final = 100
ROWS: Final = 500
"""More than any screen has: nothing is folded away or paged."""
FONT_FACES: Final = "@font-face"


def screen(words: list[str], columns: int) -> tuple[str, int]:
    """Run `moot WORDS` on a terminal of that width; return what it printed, with colors, and its exit code."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PAGER": "cat"}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "moot", *words],
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        env=environment,
    )
    os.close(terminal)
    printed = b""
    try:
        while piece := os.read(controller, 1 << 16):
            printed += piece
    except OSError as error:
        # Linux reports EIO, not an end of file, when the last process has closed the terminal.
        if error.errno != errno.EIO:
            raise
    finally:
        os.close(controller)
    return printed.decode("utf-8").replace("\r\n", "\n").rstrip("\n"), process.wait()


def svg(printed: str, title: str, columns: int) -> str:
    """Draw colored terminal text as an SVG that loads nothing."""
    console = Console(
        record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    console.print(Text.from_ansi(printed))
    return _without_fonts(console.export_svg(title=title, theme=MONOKAI))


def _without_fonts(picture: str) -> str:
    """Drop the web fonts that rich's template names: a picture in a repository loads nothing."""
    kept: list[str] = []
    inside = False
    for line in picture.splitlines():
        inside = inside or FONT_FACES in line
        if not inside:
            kept.append(line.rstrip())
        inside = inside and "}" not in line
    return "\n".join(kept).replace("Fira Code, monospace", "monospace") + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write one picture."""
    parser = argparse.ArgumentParser(prog="python -m tests.render.picture", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("words", nargs="+", metavar="-- WORDS", help="the command, without `moot`")
    options = parser.parse_args(arguments)
    printed, code = screen(options.words, options.columns)
    options.file.parent.mkdir(parents=True, exist_ok=True)
    title = f"moot {' '.join(options.words)}"
    options.file.write_text(svg(printed, title, options.columns), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
