"""TOML from a stranger's file, parsed in bounded time, depth and memory.

Python's parser takes quadratic time for names joined by dots, one level of its own stack for every level of nesting,
and up to 330 bytes of memory for a character. Every reader of TOML in moot goes through this one.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

CHARACTERS_MAX: Final = 1 << 19
"""Most characters of a text. Long documents are named in a file, and are not in it."""
DOTTED_NAMES_MAX: Final = 16
"""Most names joined by dots in one key. No key of a file that moot reads has more than three."""
# Possessive quantifiers: without them this very search would be quadratic on a hostile file.
_DOTTED: Final = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){{{DOTTED_NAMES_MAX}}}""")


class NotToml(ValueError):
    """Text that is not TOML, or that takes too long to parse; `fix` says what to change, if there is a hint."""

    def __init__(self, what: str, fix: str = "") -> None:
        super().__init__(what)
        self.fix: Final = fix


def toml_table(text: str) -> dict[str, Any]:
    """Return the table of a TOML text. Raises `NotToml`."""
    if len(text) > CHARACTERS_MAX:
        raise NotToml(f"more than {CHARACTERS_MAX} characters", "name long documents by path")
    if _DOTTED.search(text):
        raise NotToml(f"more than {DOTTED_NAMES_MAX} names joined by dots", "no key has more than two")
    try:
        return tomllib.loads(text)
    # Deep nesting exhausts Python's stack inside the parser, which has no limit of its own.
    except RecursionError:
        raise NotToml("nested too deeply", "no value is a list of lists of lists") from None
    except ValueError as error:  # TOMLDecodeError, and Python's refusal of a number with too many digits
        raise NotToml(f"not TOML: {error}") from None
