"""ORD007, error: `rest` counts the events of a commit down to 0.

A commit is all or nothing across the three files; recovery cuts at `rest: 0` and would cut elsewhere if it did not
count. Source: FORMAT 1 (3), FORMAT 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Events that do not count on from the one before."""
    for before, event in pairwise(docket.events):
        if before.rest > 0 and event.rest != before.rest - 1:
            yield Breach(event.seq, f"rest is {event.rest} behind rest {before.rest} of the same commit")


RULE: Final = Rule(
    code="ORD007",
    name="commit_is_whole",
    severity="error",
    summary="`rest` counts the events of a commit down to 0.",
    check=check,
)
