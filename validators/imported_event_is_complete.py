"""LAW002, warning: an imported event holds what an event of its kind should hold.

Imports may lack what their source never had, so that nothing is refused for it; what is missing is said here instead.
The published rules 5, 6 and 7 speak for themselves. Source: FORMAT 12.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.laws import Length, broken_waived_laws
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

_SPOKEN_FOR: Final = {("claim", "testable_as"), ("verification", "evidence_refs"), ("decision", "cites")}
_WITHOUT_SOURCE: Final = frozenset({"run_opened", "round_opened", "position"})
"""Kinds whose texts no source has: that is said once, by the import's report."""


def check(docket: Docket) -> Iterator[Breach]:
    """Every waived law that an imported event does not keep."""
    for event in docket.events:
        if event.by != "import" or event.kind in _WITHOUT_SOURCE:
            continue
        for law, problem in broken_waived_laws(event):
            if not (isinstance(law, Length) and (event.kind, law.path) in _SPOKEN_FOR):
                yield Breach(event.seq, f"imported {event.kind} {event.id or ''}: {problem}")


RULE: Final = Rule(
    code="LAW002",
    name="imported_event_is_complete",
    severity="warning",
    summary="An imported event holds what an event of its kind should hold.",
    check=check,
)
