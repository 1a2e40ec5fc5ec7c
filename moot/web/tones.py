"""The marks of `moot.terminal.theme` on a page: shape and word stay, the terminal's style becomes a class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moot.terminal.theme import Mark

_TONES: Final[Mapping[str, str]] = {
    "bold red": "bad",
    "red": "bad",
    "green": "good",
    "bold green": "good",
    "yellow": "warn",
    "cyan": "open",
    "bold cyan": "open",
    "magenta": "part",
    "blue": "seal",
    "dim": "faint",
}
AGAINST: Final = Mark("▲", "against", "bold red")
AGREES: Final = Mark("✓", "agrees", "green")
PARTLY: Final = Mark("◐", "partly", "magenta")
ASKS: Final = Mark("?", "asks", "yellow")
NEUTRAL: Final = Mark("·", "", "")


def tone_of(mark: Mark) -> str:
    """The class of a mark: good, bad, warn, part, open, seal, faint or plain."""
    return _TONES.get(mark.style, "plain")
