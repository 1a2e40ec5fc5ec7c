"""What every verb prints with `--json` when it fails."""

from __future__ import annotations

from moot.view.output.base import Output


class ErrorSaid(Output, frozen=True):
    """`code` is for programs, the rest for people; `mend` is the one line that puts it right."""

    code: str
    what: str
    where: str
    mend: str


class Error(Output, frozen=True):
    """The exit code of FORMAT 13 goes with it."""

    error: ErrorSaid
