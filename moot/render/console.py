"""The terminal as rich sees it: stdout, colour unless NO_COLOR is set, a fixed width where there is no terminal."""

from __future__ import annotations

import os
import sys
from typing import Final

from rich.console import Console

from moot.terminal import out

WIDTH: Final = 100
"""Columns of a file or a pipe."""


class Stdout:
    """The process's stdout, at the moment of writing; a reader that has gone away is no error."""

    encoding: Final = "utf-8"

    def write(self, text: str) -> int:
        """Write text."""
        out(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is kept back."""

    def isatty(self) -> bool:
        """Whether a person may be looking."""
        return sys.stdout.isatty()

    def fileno(self) -> int:
        """The descriptor, by which the terminal's size is asked."""
        return sys.stdout.fileno()


def console() -> Console:
    """A console on stdout. It draws in place only on a terminal, whatever FORCE_COLOR says."""
    terminal = sys.stdout.isatty()
    width = None if terminal or "COLUMNS" in os.environ else WIDTH
    return Console(
        file=Stdout(),  # type: ignore[arg-type]  # rich asks for write, flush, isatty and fileno alone
        force_terminal=terminal,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
