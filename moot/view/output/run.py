"""`moot run --json`: how the run ended, for now or for good."""

from __future__ import annotations

from typing import Literal

from moot.view.output.base import Output
from moot.view.output.outcome import Outcome


class RunEnd(Output, frozen=True):
    """`waiting`: open steps that somebody must answer with `moot submit`; `detail`: what failed or what comes next;
    `outcome`: what the run rests on so far."""

    run: str
    state: Literal["finished", "waiting", "stopped", "failed"]
    reason: str | None
    waiting: list[str]
    detail: str
    outcome: Outcome
