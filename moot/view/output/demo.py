"""`moot demo --json`: which recorded run was played, why it stopped, and how the new ledger compares."""

from __future__ import annotations

from moot.view.output.base import Output
from moot.view.output.replay import DivergenceLine


class Demo(Output, frozen=True):
    """`recorded` is always true: no seat answers in a demo."""

    run: str
    recorded: bool
    events: int
    stopped: str
    decisions: list[str]
    identical: bool
    head: str
    expected_head: str
    divergences: list[DivergenceLine]
