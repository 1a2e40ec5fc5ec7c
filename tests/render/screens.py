"""A terminal for tests: what rich writes at a width, with and without escape codes."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType


class Tty(StringIO):
    """A file that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def screen(width: int, height: int = 60, *, colour: bool = False) -> Console:
    """A terminal; `colour` is what NO_COLOR decides."""
    return Console(
        file=Tty(),
        force_terminal=True,
        width=width,
        height=height,
        color_system="truecolor" if colour else None,
        no_color=not colour,
        markup=False,
        highlight=False,
        emoji=False,
    )


def pipe(width: int = 110) -> Console:
    """No terminal."""
    return Console(file=StringIO(), width=width, markup=False, highlight=False, emoji=False)


def written(console: Console) -> str:
    """What was written so far."""
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def shown(what: RenderableType, width: int, height: int = 60) -> str:
    """A thing as text at a width."""
    console = Console(
        file=StringIO(), width=width, height=height, markup=False, highlight=False, emoji=False, no_color=True
    )
    console.print(what)
    return written(console)
