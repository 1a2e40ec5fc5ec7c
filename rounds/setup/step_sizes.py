"""How large briefs and replies are by kind of step: medians of a recorded run, for estimates alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

SOURCE: Final = "measured on the recorded example storage-minimum-8"


class StepSize(NamedTuple):
    """Bytes of a brief with its reply schema and without documents, and words of a reply.

    `documents`: whether the brief carries the documents of the deliberation too. What is not `measured` was not
    recorded when the table was made, and is taken from the kinds that it resembles.
    """

    brief_bytes: int
    reply_words: int
    documents: bool = True
    measured: bool = True


SIZES: Final[Mapping[str, StepSize]] = {
    "B": StepSize(46_000, 850),
    "C": StepSize(48_000, 420),
    "D": StepSize(56_000, 800),
    "E.position": StepSize(55_000, 170),
    "E.check": StepSize(58_000, 270, documents=False),
    "F": StepSize(79_000, 560),
    "G": StepSize(93_000, 1_450),
    "H": StepSize(18_000, 350, documents=False),
    "S.resolve": StepSize(190_000, 6_460, documents=False),
    "S.review": StepSize(144_000, 560),
    "S.close": StepSize(250_000, 1_740),
}
"""Kind of step → its size."""

SHORT: Final = StepSize(9_000, 450, measured=False)
"""A step of a short protocol: its brief shows a few texts and no history."""


def size_of(kind: str) -> StepSize:
    """The size of a kind of step, `phase` or `phase.act`."""
    return SIZES.get(kind, SHORT)
