"""`moot doctor --json`: what was looked at, what is missing, and the line that fixes it."""

from __future__ import annotations

from typing import Literal

import msgspec

from moot.view.output.base import Output


class Examined(Output, frozen=True):
    """One thing: `fault` stops every run, `missing` only what needs it. `mend` is null when nothing is to be done."""

    name: str
    state: Literal["ok", "missing", "fault"]
    found: str
    fix: str | None = msgspec.field(name="mend")


class Doctor(Output, frozen=True):
    """`ok`: deliberations can be run here."""

    ok: bool
    examined: list[Examined]
