"""VER001, error: a recorded validation is what these rules find over the same prefix.

A validation that was written kinder than the ledger deserved would have let the run go on. One by rules of another
version is said as a warning, not judged, and so is what a redacted copy makes differ: it names the events it changed.
Last in the rulebook: it reads what the other rules found.
Source: SD-49, FORMAT 2 (`validation`), DESIGN 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Validation
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule, standing

FINDINGS_MAX: Final = 100
"""Findings that a validation keeps (FORMAT 2)."""


def check(docket: Docket) -> Iterator[Breach]:
    """Validations that say something else than the rules do."""
    for event in docket.events:
        if not isinstance(event, Validation):
            continue
        if event.rules != docket.rules_hash:
            message = (
                f"recorded by rules {event.rules[:12]}…, these are {docket.rules_hash[:12]}…: not recomputed"
            )
            yield Breach(event.seq, message, "warning")
            continue
        for what in _differences(docket, event):
            if any(seq <= event.through for seq in docket.reworded):
                yield Breach(event.seq, f"{what}; words of what it judged were redacted", "warning")
            else:
                yield Breach(event.seq, what)


def _differences(docket: Docket, event: Validation) -> Iterator[str]:
    found = standing(docket.recorded, event.through)
    ok = not any(finding.severity == "error" for finding in found)
    if event.ok != ok:
        yield f"recorded as {_word(event.ok)} through event {event.through}; it is {_word(ok)}"
    stated = [(entry.code, entry.severity, entry.seq, entry.message) for entry in event.findings]
    expected = [(entry.code, entry.severity, entry.seq, entry.message) for entry in found[:FINDINGS_MAX]]
    if stated != expected:
        yield f"records {len(stated)} findings that are not the {len(expected)} found again"


def _word(ok: bool) -> str:
    return "good" if ok else "broken"


RULE: Final = Rule(
    code="VER001",
    name="recorded_validation_holds",
    severity="error",
    summary="A recorded validation is what these rules find over the same prefix.",
    check=check,
    applies_to_imports=False,
    recorded=False,
)
