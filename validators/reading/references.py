"""What an event refers to: a table of the fields that hold references, and all evidence with its field.

Fields that have a rule of their own are left out: a verification's evidence and claims, a decision's citations, a
flip's position, and a position's verification, which is still to come.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

from ledger.events import Artifact, Event
from ledger.values import Evidence

IDS: Final[dict[str, tuple[str, ...]]] = {
    "statement": ("responds_to",),
    "verification": ("repeats",),
    "response": ("to",),
    "drift_check": ("addresses",),
    "disposition": ("of",),
    "rating": ("of",),
    "score": ("of", "order"),
    "standing": ("of",),
    "run_closed": ("outcome", "open"),
}
"""Kind → fields with ids of earlier events."""
REFS: Final[dict[str, tuple[str, ...]]] = {
    "artifact": ("cites",),
    "claim": ("raised_at_artifact",),
    "challenge": ("target",),
    "response": ("revised",),
    "decision": ("round_artifact_refs",),
}
"""Kind → fields with references, `<id>#<section>`."""
SEQS: Final[dict[str, tuple[str, ...]]] = {
    "ruling": ("votes",),
    "validation": ("through",),
    "signals": ("through",),
    "alarm": ("closes",),
    "amendment": ("cause",),
    "round_opened": ("cause",),
    "run_closed": ("through",),
}
"""Kind → fields with the seq of earlier events."""


def values(event: Event, fields: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """(field, value) of the given fields, lists one by one, null left out."""
    for field in fields:
        value = getattr(event, field)
        for entry in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,):
            if entry is not None:
                yield field, entry


def references(event: Event) -> Iterator[tuple[str, str]]:
    """(field, ref) of every reference that must resolve, a verification's own evidence excepted."""
    yield from values(event, REFS.get(event.kind, ()))
    if isinstance(event, Artifact):
        yield from _inside(event)
    if event.kind != "verification":
        for field, evidence in all_evidence(event):
            yield field, evidence.ref


def _inside(event: Artifact) -> Iterator[tuple[str, str]]:
    target = event.body.get("target")
    if isinstance(target, str):
        yield "body.target", target
    for n, trace in enumerate(_dicts(event.body.get("traces"))):
        for hook in cast("list[Any]", trace.get("hooks") or []):
            if isinstance(hook, str):
                yield f"body.traces[{n}].hooks", hook


def all_evidence(event: Event) -> Iterator[tuple[str, Evidence]]:
    """(field, evidence) of every piece of evidence of an event."""
    for field in ("evidence_refs", "evidence", "because", "quotes"):
        found = getattr(event, field, ())
        if isinstance(found, tuple):
            for evidence in cast("tuple[Any, ...]", found):
                if isinstance(evidence, Evidence):
                    yield field, evidence
    for anchor in getattr(event, "anchors", ()):
        yield from (("anchors", evidence) for evidence in anchor.evidence)
    if isinstance(event, Artifact):
        for entry in _dicts(event.body.get("evidence")):
            if isinstance(entry.get("ref"), str):
                yield "body.evidence", Evidence(ref=entry["ref"], quote=entry.get("quote"))


def _dicts(value: Any) -> list[dict[str, Any]]:
    return (
        [entry for entry in cast("list[Any]", value) if isinstance(entry, dict)]
        if isinstance(value, list)
        else []
    )
