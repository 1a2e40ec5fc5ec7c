"""Import of a `skill` state directory: all of it or, when a line is bad, nothing (FORMAT 12).

<src>/claims.jsonl …  with <src>/artifacts and <src>/rounds     (one directory), or
<src>/state/claims.jsonl …  with them beside `state`            (the published layout; <src>/state may be named
itself)

`read_skill` is pure: it takes the files by name and returns drafts, so the same rows in any order of lines give the
same bytes. Goals come from anchors, the plan from the rounds; documents keep their paths. `docs/import.md` maps each
file and key.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from msgspec import UNSET

from ledger.events import Event, RunOpened
from ledger.events.envelope import GENESIS, LINE_BYTES_MAX
from ledger.events.ids import label_id
from ledger.events.run import (
    Budgets,
    CastMember,
    ContextDocument,
    Labelled,
    Origin,
    PlanRow,
    Profile,
    StopRule,
)
from ledger.format.canonical import encode
from ledger.interchange.report import BadLine, MappedId, StatusDifference
from ledger.interchange.skill_events import Drafting
from ledger.interchange.skill_rows import (
    AUTHORS,
    FILE_BYTES_MAX,
    FILES,
    PUBLISHED,
    UNKEPT,
    ClaimRow,
    DecisionRow,
    DriftRow,
    LeadRow,
    Rows,
    RunFile,
    SkillConcernRow,
    VerificationRow,
    read_rows,
)
from ledger.interchange.skill_tables import (
    Numbered,
    Tables,
    check_number,
    merge_updates,
    number_rows,
    planned_of,
    present,
)
from ledger.plain_json import converted
from ledger.state.fold import fold
from ledger.store.blobs import hash_of
from ledger.store.disk import read_plain, real
from ledger.store.failures import LedgerError

DOCUMENT_FOLDERS: Final = ("artifacts", "rounds", "statements", "context")
DOCUMENTS_MAX: Final = 2_000
"""Documents are listed in one line of the ledger, which has at most 1 MiB."""


class NotAStateDirectory(LedgerError):
    """Source of an import that holds none of a state directory's files, or one that cannot be read."""

    exit_code = 2


def read_directory(src: Path) -> dict[str, bytes]:
    """Return the files of `src` by name, for `read_skill`. Raises `NotAStateDirectory`."""
    state, root = _layout(src)
    files = {name: _rows(state / name, root) for name in FILES if (state / name).is_file()}
    paths = sorted({*_below(root), *_named(files)})
    documents = {path: root / path for path in paths if _is_inside(root, path)}
    if len(documents) > DOCUMENTS_MAX:
        raise NotAStateDirectory(
            f"{len(documents)} documents are more than {DOCUMENTS_MAX}", str(root), "import fewer at a time"
        )
    return files | {path: _bounded(place) for path, place in documents.items()}


def _layout(src: Path) -> tuple[Path, Path]:
    """Return the directory of the rows, and the one that evidence refs start from (SD-49: the parent of `state`)."""
    for state in (src, src / "state"):
        if any((state / name).is_file() for name in PUBLISHED):
            return state, state.absolute().parent if state.absolute().name == "state" else state
    fix = f"name a directory that holds {', '.join(PUBLISHED)}, or the one above `state`"
    raise NotAStateDirectory("no state directory here", str(src), fix)


def _below(root: Path) -> Iterator[str]:
    for folder in DOCUMENT_FOLDERS:
        if not real(root / folder).is_relative_to(real(root)):
            continue  # a link to somewhere else: nothing there is this directory's, and it may be the whole disk
        for place, _, names in os.walk(root / folder):
            for name in names:
                yield (Path(place) / name).relative_to(root).as_posix()


def _named(files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the file parts of all refs, as the published check looks them up."""
    rows = read_rows(files)
    for _, row in rows.of("verifications.jsonl", VerificationRow):
        refs = row.evidence_refs or ()
        for ref in (refs,) if isinstance(refs, str) else refs:
            yield _file_part(ref)
    for _, decision in rows.of("decisions.jsonl", DecisionRow):
        refs = decision.round_artifact_refs or ()
        for ref in refs:
            yield _file_part(ref)


def _file_part(ref: str) -> str:
    return ref.partition("#")[0].strip().removeprefix("./")


def _is_inside(root: Path, path: str) -> bool:
    """Return whether `path` names a plain file of this directory: not above it, no link out of it, no row file."""
    parts = PurePosixPath(path)
    if not path or parts.is_absolute() or ".." in parts.parts or parts.as_posix() != path or path in FILES:
        return False
    try:
        # The path is resolved before it is read, so that a link inside the directory cannot lead out of it.
        place = real(root / path)
        return place.is_file() and place.is_relative_to(real(root))
    except (OSError, ValueError):  # a name that no file can have
        return False


def _rows(path: Path, root: Path) -> bytes:
    # A hostile source may link a row file to a secret elsewhere, whose words would then be in the ledger.
    if not real(path).is_relative_to(real(root)):
        raise NotAStateDirectory("a link that leads outside", str(path), "put the file itself there")
    return _bounded(path)


def _bounded(path: Path) -> bytes:
    try:
        return read_plain(path, FILE_BYTES_MAX)
    except OSError as error:
        raise NotAStateDirectory(
            f"cannot be read: {error.strerror}", str(path), "give a plain file, with read permission"
        ) from error


PLANNED_ROUNDS: Final = 13
"""A source without a plan has the standard number of rounds."""
NAME_LENGTH_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class Terms:
    """Setting that a state directory lacks: how the stop signals will be read."""

    profile: Profile = "published"
    params: str = GENESIS


def goals_of(run: RunFile, claims: Numbered[ClaimRow], decisions: Numbered[DecisionRow]) -> dict[str, str]:
    """Return anchor → goal id, those in run.json first.

    The others are in order of appearance: by round, claims before decisions.
    """
    anchors = [
        *((row.round, 0, present(row.anchor_ref)) for _, row in claims.rows),
        *((row.round, 1, present(row.anchor_ref)) for _, row in decisions.rows),
    ]
    anchors.sort(key=lambda entry: entry[:2])
    appearing = (anchor for _, _, anchor in anchors if anchor is not None)
    texts = dict.fromkeys([*(goal for goal in run.goals if goal), *appearing])
    return {text: label_id("goal", n) for n, text in enumerate(texts, 1)}


def opening_of(
    tables: Tables, run: RunFile, rows: Rows, context: tuple[ContextDocument, ...], terms: Terms
) -> RunOpened:
    """Return the first event of the imported run."""
    return RunOpened(
        round=0,
        phase="open",
        by="import",
        protocol="structured",
        question=run.question,
        domain=run.domain,
        goals=tuple(Labelled(id=identity, text=text) for text, identity in tables.goals.items()),
        context=context,
        cast=tuple(CastMember(role=role, title="", charge="", seat="") for role in AUTHORS),
        plan=_plan(tables, run),
        stop=StopRule(profile=terms.profile, params=terms.params, check_every=3, not_before=0),
        budgets=Budgets(),
        prompt_set=GENESIS,
        seed=0,
        rules={"skill_keys": " ".join(sorted(rows.seen))},
        origin=Origin(type="import", of=f"sha256:{_digest(rows)}", tool="skill"),
        moot="",
    )


def _plan(tables: Tables, run: RunFile) -> tuple[PlanRow, ...]:
    if run.plan:
        return converted(run.plan, tuple[PlanRow, ...], from_attributes=True)
    planned = {row.round: planned_of(row) for row in tables.leads}
    checked = {row.round for row in tables.drift}
    return tuple(
        PlanRow(round=n, absent=planned.get(n), drift=n in checked, phases=())
        for n in range(1, PLANNED_ROUNDS + 1)
    )


def _digest(rows: Rows) -> str:
    """Return a hash of the rows alone, whatever their order. Two imports of the same source share it."""
    digest = hashlib.sha256()
    for name in FILES:
        for key in sorted(placed.key for placed in rows.by_file.get(name, ())):
            digest.update(f"{name} {key}\n".encode())
    return digest.hexdigest()


def documents_of(
    source: Mapping[str, bytes],
) -> tuple[tuple[ContextDocument, ...], dict[str, bytes], list[str]]:
    """Return artifacts and round files as context documents, with their blobs and notes.

    A document is named by its path; they are in natural order.
    """
    documents: list[ContextDocument] = []
    blobs: dict[str, bytes] = {}
    left_out: list[str] = []
    for path in sorted(source.keys() - FILES.keys(), key=natural):
        if len(path) > NAME_LENGTH_MAX or UNKEPT.search(path):
            left_out.append(f"{path[:60]!a}: no ledger can keep this name; the document is left out")
            continue
        content = source[path]
        sha256 = hash_of(content)
        blobs[sha256] = content
        identity = label_id("document", len(documents) + 1)
        documents.append(ContextDocument(id=identity, name=path, sha256=sha256, bytes=len(content)))
    return tuple(documents), blobs, left_out


def natural(path: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key by which round_2 precedes round_10."""
    return tuple(
        (int(part), part) if part.isascii() and part.isdigit() else (-1, part)
        for part in re.split(r"([0-9]+)", path)
    )


SEALING_BYTES: Final = 1_000
"""What sealing can add to a draft's line: hashes, numbers and the instant."""


@dataclass(frozen=True, slots=True)
class Imported:
    """Import of a source. With `bad` lines there are no events; otherwise `events[0]` is the `run_opened`."""

    events: tuple[Event, ...]
    blobs: Mapping[str, bytes]
    bad: tuple[BadLine, ...]
    mapped: tuple[MappedId, ...] = ()
    differences: tuple[StatusDifference, ...] = ()
    notes: tuple[str, ...] = ()


def read_skill(source: Mapping[str, bytes], terms: Terms | None = None) -> Imported:
    """Return the ledger that a state directory describes.

    `source` maps the names in `FILES`, and the paths of artifacts, round files and other documents as refs write
    them, to their bytes.
    """
    rows = read_rows(source)
    bad = rows.bad or tuple(_contradictions(rows))
    if bad:
        return Imported((), {}, bad)
    claims, updates = merge_updates(rows.of("claims.jsonl", ClaimRow))
    run = next((row for _, row in rows.of("run.json", RunFile)), RunFile())
    tables = _tables(rows, claims, run)
    documents, blobs, left_out = documents_of(source)
    drafting = Drafting(tables, {document.name: document.id for document in documents})
    opening = opening_of(tables, run, rows, documents, terms or Terms())
    events = (opening, *drafting.events)
    too_long = tuple(_too_long(events))
    if too_long:
        return Imported((), {}, too_long)
    numbered = (tables.claims, tables.verifications, tables.decisions, tables.concerns)
    mapped = tuple(mapped_id for table in numbered for mapped_id in table.mapped)
    notes = (*rows.notes, *updates, *drafting.notes, *_lead_notes(rows), *left_out)
    return Imported(events, blobs, (), mapped, tuple(_differences(events, tables.claims)), notes)


def _tables(rows: Rows, claims: Sequence[tuple[str, ClaimRow]], run: RunFile) -> Tables:
    numbered = number_rows("claims.jsonl", "claim", claims)
    decisions = number_rows("decisions.jsonl", "decision", rows.of("decisions.jsonl", DecisionRow))
    return Tables(
        claims=numbered,
        verifications=number_rows(
            "verifications.jsonl",
            "verification",
            rows.of("verifications.jsonl", VerificationRow),
            wanted=lambda row: check_number(row) if check_number(row) < 5 else 0,
            floor=4,
        ),
        decisions=decisions,
        concerns=number_rows("concerns.jsonl", "concern", rows.of("concerns.jsonl", SkillConcernRow)),
        leads=_distinct(rows.of("lead_history.jsonl", LeadRow)),
        drift=_distinct(rows.of("drift_checks.jsonl", DriftRow)),
        goals=goals_of(run, numbered, decisions),
        plan_rows=len(run.plan) or PLANNED_ROUNDS,
    )


def _distinct(rows: Iterable[tuple[str, Any]]) -> tuple[Any, ...]:
    """Return rows by round and content, each content once."""
    by_key = dict(rows)
    return tuple(by_key[key] for key in sorted(by_key, key=lambda key: (by_key[key].round, key)))


def _contradictions(rows: Rows) -> Iterable[BadLine]:
    """Yield rows that contradict each other: two different drift checks of a round, a verification of no check."""
    first: dict[int, str] = {}
    for placed in rows.by_file["drift_checks.jsonl"]:
        if isinstance(placed.row, DriftRow) and first.setdefault(placed.row.round, placed.key) != placed.key:
            message = f"another drift check of round {placed.row.round}"
            yield BadLine(file="drift_checks.jsonl", line=placed.line, message=message)
    for placed in rows.by_file["verifications.jsonl"]:
        if isinstance(placed.row, VerificationRow) and check_number(placed.row) == 0:
            message = "check is missing, and the id names none of the four"
            yield BadLine(file="verifications.jsonl", line=placed.line, message=message)


def _too_long(events: Sequence[Event]) -> Iterable[BadLine]:
    for event in events:
        # Checked here, so that the report names the event before the commit would refuse all of them.
        if len(encode(event)) > LINE_BYTES_MAX - SEALING_BYTES:
            yield BadLine(file="", line=0, message=f"{event.kind_and_id} would be longer than a line may be")


def _differences(events: Sequence[Event], claims: Numbered[ClaimRow]) -> Iterable[StatusDifference]:
    folded = fold(events).claims
    for identity, row in claims.rows:
        stored = present(row.status)
        if stored is not None and stored != folded[identity].status:
            yield StatusDifference(id=identity, stored=stored, folded=folded[identity].status)


def _lead_notes(rows: Rows) -> Iterable[str]:
    """Yield a note where a lead row says something that a round cannot hold."""
    leads = rows.of("lead_history.jsonl", LeadRow)
    for _, row in leads:
        away = present(row.absent_agent) not in (None, "none")
        if row.is_stress is not UNSET and row.is_stress is not None and row.is_stress != away:
            disagree = "is_stress and absent_agent disagree; nobody is read as absent"
            yield f"lead_history.jsonl: round {row.round}: {disagree}"
        if row.lead in ("system", "none"):
            yield f"lead_history.jsonl: round {row.round}: lead {row.lead} is read as no lead"
    for round_, count in Counter(row.round for _, row in leads).items():
        if count > 1:
            yield f"lead_history.jsonl: round {round_} has {count} rows; each different one opens the round"


def counts(events: Sequence[Event]) -> dict[str, int]:
    """Count the events of each kind, and the documents."""
    by_kind = Counter(event.kind for event in events)
    by_kind.update(documents=sum(len(event.context) for event in events if isinstance(event, RunOpened)))
    return dict(sorted(by_kind.items()))
