"""`moot fork --json`: the new run, and what it shares with the old one."""

from __future__ import annotations

from moot.view.output.base import Output


class Fork(Output, frozen=True):
    """`seq` and `head` are the last shared event and its hash; `waiting` the steps that are open now."""

    run: str
    of: str
    round: int
    seq: int
    head: str
    without: str | None
    through: int | None
    seats: dict[str, str]
    waiting: list[str]
