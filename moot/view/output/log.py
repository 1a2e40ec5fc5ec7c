"""`moot log --json`: events as the ledger holds them."""

from __future__ import annotations

from typing import Any

from moot.view.output.base import Output


class Log(Output, frozen=True):
    """`events` are the lines of the ledger in global order, each as its schema in `schemas/events/` says."""

    run: str
    events: list[dict[str, Any]]
