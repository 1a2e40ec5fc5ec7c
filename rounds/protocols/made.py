"""What every protocol makes alike of parts of a reply: evidence, and the id of a text."""

from __future__ import annotations

from collections.abc import Iterable

from ledger.values import Evidence
from roles.protocol import Step
from roles.replies import Cited


def evidence_of(cited: Iterable[Cited]) -> tuple[Evidence, ...]:
    """What a reply cites, as events keep it."""
    return tuple(Evidence(ref=entry.ref, quote=entry.quote) for entry in cited)


def statement_id(step: Step) -> str:
    """The id of the text that a step hands in (FORMAT 3)."""
    act = f"-{step.name.act}" if step.name.act else ""
    repeat = f"~{step.name.repeat}" if step.name.repeat > 1 else ""
    return f"S-{step.name.round}-{step.name.phase}{act}-{step.role}{repeat}"
