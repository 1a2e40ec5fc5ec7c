"""A run as a `skill` state directory: rows with folded statuses, and the files that their refs name (FORMAT 12).

An import goes back out with the keys it came with, its refs and documents verbatim. A run of our own gets the artifacts
and round files that the published tools look for. Pure: paths and bytes; `exports.py` writes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal

import msgspec

from ledger.events import (
    Artifact,
    Event,
    RoundOpened,
    RunOpened,
    Statement,
)
from ledger.interchange.prose import artifact_file, statement_file
from ledger.interchange.report import Exported
from ledger.interchange.skill_places import Places
from ledger.interchange.skill_rounds import round_file
from ledger.interchange.skill_written import Content, WrittenRows, jsonl
from ledger.state.book import Book

HELD: Final = frozenset(
    {
        "run_opened",
        "round_opened",
        "claim",
        "verification",
        "decision",
        "drift_check",
        "concern",
        "position",
        "flip",
        "artifact",
        "statement",
    }
)
"""Kinds that the layout has a place for."""


def export_skill(book: Book, *, layout: Literal["flat", "state"] = "flat") -> Exported:
    """The state directory of a run. `flat` puts the rows beside the documents; `state` puts them under `state/`, where
    the published scripts want them: these look refs up from the parent."""
    opened = book.state.opening
    rows = WrittenRows(book, opened)
    prefix = "state/" if layout == "state" else ""
    files = {
        f"{prefix}claims.jsonl": jsonl(rows.claims()),
        f"{prefix}verifications.jsonl": jsonl(rows.verifications()),
        f"{prefix}decisions.jsonl": jsonl(rows.decisions()),
        f"{prefix}lead_history.jsonl": jsonl(rows.leads()),
        f"{prefix}drift_checks.jsonl": jsonl(rows.drift_checks()),
    }
    concerns = jsonl(rows.concerns())
    if concerns:
        files[f"{prefix}concerns.jsonl"] = concerns
    if not rows.imported or "run" in rows.keys or opened.question:
        files[f"{prefix}run.json"] = msgspec.json.encode(_run(opened)) + b"\n"
    documents, missing = _documents(book, rows.places)
    return Exported(_generated(book, rows.places) | documents | files, (*missing, *_left_out(book.events)))


def _run(opened: RunOpened) -> Content:
    return {
        "question": opened.question,
        "domain": opened.domain,
        "goals": [goal.text for goal in opened.goals],
        "plan": opened.plan,
    }


def _documents(book: Book, places: Places) -> tuple[dict[str, bytes], list[str]]:
    """Context documents at their paths, and those whose bytes are gone."""
    opened = book.state.opened
    files: dict[str, bytes] = {}
    missing: list[str] = []
    for entry in opened.context if opened else ():
        content = book.blobs.read(entry.sha256)
        if content is None:
            missing.append(f"{entry.id} ({entry.name}): its bytes are not in the run")
        else:
            files[places.documents[entry.id]] = content
    return files, missing


def _generated(book: Book, places: Places) -> dict[str, bytes]:
    """Artifacts, statements and rounds of our own, as Markdown."""
    own = [event for event in book.events if event.by != "import"]
    files: dict[str, bytes] = {}
    for event in own:
        if isinstance(event, Artifact):
            files[places.of(event)] = artifact_file(event)
        elif isinstance(event, Statement):
            files[places.of(event)] = statement_file(event)
    for round_ in sorted({event.round for event in own if isinstance(event, RoundOpened)}):
        files[places.round_file(round_)] = round_file(book, round_, places.ref)
    return files


def _left_out(events: Iterable[Event]) -> Iterator[str]:
    counted: dict[str, int] = {}
    for event in events:
        if event.kind not in HELD:
            counted[event.kind] = counted.get(event.kind, 0) + 1
    for kind, count in sorted(counted.items()):
        yield f"{count} {kind} events have no place in this format"
