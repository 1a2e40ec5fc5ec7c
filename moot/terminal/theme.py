"""Colors of a terminal: a style for every tone, in addition to the shapes and words of `moot.view.marks`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

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
LABEL: Final = "bold black on yellow"
HEADER: Final = "bold"
FAINT: Final = "dim"
LEAD: Final = "bold cyan"
COURSE: Final = "cyan"


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
