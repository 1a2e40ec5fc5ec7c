"""The `run_opened` of an import: goals from anchors, the plan from the rounds, documents under their paths."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledger.events import RunOpened
from ledger.events.decisions import (
    Budgets,
    CastMember,
    ContextDocument,
    Labelled,
    Origin,
    PlanRow,
    Profile,
    StopRule,
)
from ledger.events.values import GENESIS
from ledger.interchange.skill_ids import Numbered
from ledger.interchange.skill_lines import UNKEPT, Rows
from ledger.interchange.skill_rows import AUTHORS, FILES, ClaimRow, DecisionRow, RunFile
from ledger.interchange.skill_tables import Tables, planned_of, present

PLANNED_ROUNDS: Final = 13
"""A source without a plan has the standard number of rounds."""
NAME_LENGTH_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Terms:
    """What a state directory does not say: the question, and how the stop signals will be read."""

    question: str = ""
    profile: Profile = "text"
    params: str = GENESIS
    moot: str = ""


def goals_of(run: RunFile, claims: Numbered[ClaimRow], decisions: Numbered[DecisionRow]) -> dict[str, str]:
    """Anchors in order of appearance: by round, claims before decisions; those that run.json lists come first."""
    anchors = [
        *((row.round, 0, present(row.anchor_ref)) for _, row in claims.rows),
        *((row.round, 1, present(row.anchor_ref)) for _, row in decisions.rows),
    ]
    anchors.sort(key=lambda entry: entry[:2])
    appearing = (anchor for _, _, anchor in anchors if anchor is not None)
    texts = dict.fromkeys([*(goal for goal in run.goals if goal), *appearing])
    return {text: f"G-{n}" for n, text in enumerate(texts, 1)}


def opening_of(
    tables: Tables, run: RunFile, rows: Rows, context: tuple[ContextDocument, ...], terms: Terms
) -> RunOpened:
    return RunOpened(
        round=0,
        phase="open",
        by="import",
        protocol="structured",
        protocol_version=1,
        question=run.question or terms.question,
        domain=run.domain,
        goals=tuple(Labelled(id=identity, text=text) for text, identity in tables.goals.items()),
        context=context,
        cast=tuple(CastMember(role=role, title="", charge="", seat="") for role in AUTHORS),
        plan=_plan(tables, run),
        stop=StopRule(profile=terms.profile, params=terms.params, check_every=3, not_before=0),
        budgets=Budgets(),
        prompt_set=GENESIS,
        brief_version=1,
        seed=0,
        rules={"skill_keys": " ".join(sorted(rows.seen))},
        origin=Origin(type="import", of=f"sha256:{_digest(rows)}", tool="skill"),
        moot=terms.moot,
    )


def _plan(tables: Tables, run: RunFile) -> tuple[PlanRow, ...]:
    if run.plan:
        return tuple(
            PlanRow(round=row.round, absent=row.absent, drift=row.drift, phases=row.phases, focus=row.focus)
            for row in run.plan
        )
    planned = {row.round: planned_of(row) for row in tables.leads}
    checked = {row.round for row in tables.drift}
    return tuple(
        PlanRow(round=n, absent=planned.get(n), drift=n in checked, phases=())
        for n in range(1, PLANNED_ROUNDS + 1)
    )


def _digest(rows: Rows) -> str:
    """A hash of the rows alone, whatever their order: by it two imports of the same source know each other."""
    digest = hashlib.sha256()
    for name in FILES:
        for key in sorted(placed.key for placed in rows.by_file.get(name, ())):
            digest.update(f"{name} {key}\n".encode())
    return digest.hexdigest()


def documents_of(
    source: Mapping[str, bytes],
) -> tuple[tuple[ContextDocument, ...], dict[str, bytes], list[str]]:
    """Artifacts and round files as context documents that keep their path as name, in natural order."""
    documents: list[ContextDocument] = []
    blobs: dict[str, bytes] = {}
    left_out: list[str] = []
    for path in sorted(source.keys() - FILES.keys(), key=natural):
        if len(path) > NAME_LENGTH_MAX or UNKEPT.search(path):
            left_out.append(f"{path[:60]!a}: no ledger can keep this name; the document is left out")
            continue
        content = source[path]
        sha256 = hashlib.sha256(content).hexdigest()
        blobs[sha256] = content
        identity = f"K-{len(documents) + 1}"
        documents.append(ContextDocument(id=identity, name=path, sha256=sha256, bytes=len(content)))
    return tuple(documents), blobs, left_out


def natural(path: str) -> tuple[tuple[int, str], ...]:
    """A sort key under which round_2 stands before round_10."""
    return tuple(
        (int(part), part) if part.isascii() and part.isdigit() else (-1, part)
        for part in re.split(r"([0-9]+)", path)
    )
