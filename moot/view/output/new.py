"""`moot new --json`: the file that was written, and what it would be as a run."""

from __future__ import annotations

from ledger.events import RunOpened
from moot.view.output.base import Output
from rounds.setup.size import asked_of


class NewFile(Output, frozen=True):
    """`replies`: how many replies the plan asks for at most, S included."""

    file: str
    protocol: str
    rounds: int
    stress: list[int]
    drift: list[int]
    replies: int
    waived: list[str]


def new_of(file: str, opening: RunOpened) -> NewFile:
    """The file in numbers."""
    return NewFile(
        file=file,
        protocol=opening.protocol,
        rounds=len(opening.plan),
        stress=[row.round for row in opening.plan if row.absent],
        drift=[row.round for row in opening.plan if row.drift],
        replies=asked_of(opening).total(),
        waived=[waiver.what for waiver in opening.waived],
    )
