"""The terminal as rich sees it: a style for every tone, in addition to the shapes and words of `moot.view.marks`.

NO_COLOR is respected, and a pipe gets plain text of a fixed width.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from rich.console import Console
from rich.text import Text

from ledger.plain_text import one_line
from moot.view.labels import Label
from moot.view.marks import Mark, Tone

_STYLES: Final[Mapping[Tone, str]] = {
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "open": "cyan",
    "part": "magenta",
    "seal": "blue",
    "faint": "dim",
    "plain": "",
}
PIPE_COLUMNS: Final = 110
LABEL: Final = "bold black on yellow"
HEADER: Final = "bold"
FAINT: Final = "dim"
LEAD: Final = "bold cyan"


def style_of(mark: Mark) -> str:
    """Return the style of a mark's tone."""
    return _STYLES[mark.tone]


def text_of(mark: Mark) -> Text:
    """Return shape and word in color."""
    return Text(mark.plain, style_of(mark))


def labels_text(labels: Iterable[Label]) -> Iterator[Text]:
    """Yield the labels that must be read first, one per line."""
    for label in labels:
        yield Text.assemble((f" {label.kind} ", LABEL), " ", one_line(label.text))


def console() -> Console:
    """Return stdout for views. Text of a ledger is never read as markup."""
    width = None if sys.stdout.isatty() else PIPE_COLUMNS
    return Patient(width=width, markup=False, highlight=False, emoji=False)


class Patient(Console):
    """A console whose reader may go away: the rest goes nowhere, and the verb's exit code stays true."""

    def on_broken_pipe(self) -> None:
        """Discard all further output."""
        self.quiet = True
