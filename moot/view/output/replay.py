"""`moot replay --json`: what was played, and with --re-execute how the new ledger compares."""

from __future__ import annotations

from moot.view.output.base import Output
from rounds.run.reexecution import Reexecution


class DivergenceLine(Output, frozen=True):
    """Where the new ledger leaves the recorded one; `kind` is rules, brief, event or step."""

    kind: str
    seq: int
    what: str


class Replay(Output, frozen=True):
    """`identical` and the heads are null when nothing was executed again."""

    run: str
    events: int
    re_executed: bool
    identical: bool | None
    head: str | None
    expected_head: str
    divergences: list[DivergenceLine]


def reexecuted(run: str, result: Reexecution) -> Replay:
    """A re-execution for machines."""
    return Replay(
        run=run,
        events=result.events,
        re_executed=True,
        identical=result.identical,
        head=result.head.hash,
        expected_head=result.expected.hash,
        divergences=[DivergenceLine(kind=one.kind, seq=one.seq, what=one.what) for one in result.divergences],
    )
