"""Reading the bodies of artifacts: the artifacts of a type, and the texts of a list in a body."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from ledger.events import Artifact
from ledger.events.claims import ArtifactType
from validators.reading.docket import Docket


def artifacts(docket: Docket, type_: ArtifactType) -> Iterator[Artifact]:
    """All artifacts of one type, in order."""
    return (event for event in docket.events if isinstance(event, Artifact) and event.type == type_)


def entries(event: Artifact, key: str) -> list[dict[str, Any]]:
    """The objects of a list in the body; empty when it is none."""
    value = event.body.get(key)
    if not isinstance(value, list):
        return []
    return [entry for entry in cast("list[Any]", value) if isinstance(entry, dict)]


def part(event: Artifact, key: str) -> dict[str, Any]:
    """An object in the body; empty when it is none."""
    value = event.body.get(key)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def text(values: dict[str, Any], key: str) -> str:
    """A string of an object; empty when it is none."""
    value = values.get(key)
    return value if isinstance(value, str) else ""


def texts(event: Artifact, key: str, field: str) -> list[str]:
    """One field of every object of a list in the body."""
    return [text(entry, field) for entry in entries(event, key)]
