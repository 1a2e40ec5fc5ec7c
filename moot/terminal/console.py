"""The terminal as rich sees it; NO_COLOR is respected, and a pipe gets plain text of a fixed width."""

from __future__ import annotations

import sys

from rich.console import Console

PIPE_COLUMNS = 110


def console() -> Console:
    """Return stdout for views. Text of a ledger is never read as markup."""
    width = None if sys.stdout.isatty() else PIPE_COLUMNS
    return Patient(width=width, markup=False, highlight=False, emoji=False)


class Patient(Console):
    """A console whose reader may go away: the rest goes nowhere, and the verb's exit code stays true."""

    def on_broken_pipe(self) -> None:
        """Discard all further output."""
        self.quiet = True
