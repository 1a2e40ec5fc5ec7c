"""IDS002, error: counted ids run from 1 without a gap, in role order, then in the order inside the reply.

Numbers that followed the order of arrival would make a replay give other ids. Source: FORMAT 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ledger.events import Event, Verification
from ledger.ids import number_of
from validators.reading.docket import Docket, group_key
from validators.reading.rule import Breach, Rule

COUNTED: Final = frozenset(
    {"claim", "concern", "assumption", "argument", "challenge", "response", "decision"}
)


def check(docket: Docket) -> Iterator[Breach]:
    """Numbers that skip or repeat, and authors that stand out of role order inside a group."""
    taken: Counter[tuple[str, int]] = Counter()
    ranks: dict[tuple[str, object], int] = {}
    for event, step in zip(docket.events, docket.steps, strict=True):
        if isinstance(event, Verification) and event.repeats is not None:
            taken[event.kind, event.round] += 1  # numbered by check, whatever arrives first
            continue
        start = _start(event)
        if start is None:
            continue
        key = (event.kind, event.round)
        expected = start + taken[key]
        taken[key] += 1
        if number_of(event.id or "") != expected:
            yield Breach(event.seq, f"{event.id} should have number {expected}")
        if step is not None and event.by in docket.roles:
            rank = docket.roles.index(event.by)
            group = (event.kind, group_key(step))
            if rank < ranks.get(group, 0):
                yield Breach(
                    event.seq, f"{event.id} by {event.by} is numbered behind a later role of its group"
                )
            ranks[group] = rank


def _start(event: Event) -> int | None:
    """The first number of a counted kind; verifications that are not one of the four checks count from 5."""
    if isinstance(event, Verification):
        return 5 if event.check_id == 5 else None
    return 1 if event.kind in COUNTED else None


RULE: Final = Rule(
    code="IDS002",
    name="numbers_are_gapless",
    severity="error",
    summary="Counted ids run without a gap, in role order, then in the order inside the reply.",
    check=check,
    applies_to_imports=False,
)
