"""`moot install-skill --json`: what was written or removed."""

from __future__ import annotations

from typing import Literal

from moot.view.output.base import Output


class SkillFiles(Output, frozen=True):
    """`dry_run`: nothing was touched, `done` says what would have been."""

    directory: str
    files: list[str]
    done: Literal["written", "removed"]
    dry_run: bool
