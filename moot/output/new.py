"""`moot new --json`: the file that was written, and what it would be as a run."""

from __future__ import annotations

from moot.output.base import Output


class NewFile(Output):
    """`replies`: how many replies the plan asks for at most, S included."""

    file: str
    protocol: str
    rounds: int
    stress: list[int]
    drift: list[int]
    replies: int
    waived: list[str]
