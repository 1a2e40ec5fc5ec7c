"""Rows from the bytes of a state directory; each line that is not a row is reported by file and number (FORMAT 12)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isinf
from typing import Annotated, Any, Final, Literal, TypeVar, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ledger.events.claims import ConcernType
from ledger.events.decisions import Cite, DecisionType, Maker
from ledger.events.envelope import (
    DEPTH_MAX,
    ROLE_PATTERN,
    SAFE_INTEGER,
    Bearing,
    EvidenceClass,
    Five,
    Long,
    Nat,
    Prose,
    Result,
    Round,
    Status,
)
from ledger.events.verifications import Check
from ledger.interchange.report import BadLine
from ledger.plain_json import NotJson, converted, json_object
from ledger.plain_text import counted, without_mark

Author = Literal["action", "guardian", "observer", "critic"]
AUTHORS: Final[tuple[Author, ...]] = ("action", "guardian", "observer", "critic")
Lead = Literal["action", "guardian", "observer", "critic", "system", "none"]
Verdict = Literal["BROKEN", "ROBUST", "UNCLEAR"]

Key = Annotated[str, Meta(min_length=1, max_length=200)]
Pointer = Annotated[str, Meta(max_length=500)]
"""A place, verbatim; an empty one is read as none."""


class SkillRow(Struct, frozen=True, kw_only=True):
    """Line of a state directory."""


class SightingRow(SkillRow, frozen=True, kw_only=True):
    """A role that saw a claim's matter in a round."""

    role: Author
    round: Round


class ClaimRow(SkillRow, frozen=True, kw_only=True):
    """claims.jsonl (SD-42). `phase` is written for claims of another phase than D only."""

    id: Key
    round: Round
    raised_by: Author
    text: Prose | None = ""
    testable_as: Prose | None = ""
    status: Status | UnsetType | None = UNSET
    supersedes: Annotated[str, Meta(max_length=200)] | UnsetType | None = UNSET
    raised_at_artifact: Pointer | UnsetType | None = UNSET
    anchor_ref: Prose | UnsetType | None = UNSET
    sightings: tuple[SightingRow, ...] | UnsetType | None = UNSET
    phase: Literal["B", "C", "D", "E", "F", "G", "S"] | UnsetType = UNSET


class ChangeRow(SkillRow, frozen=True, kw_only=True, rename={"from_": "from", "class_": "class"}):
    """A status change inside a verification; a bearing that `to` does not imply is written, and a known class."""

    claim_id: Key
    from_: Status | UnsetType | None = UNSET
    to: Status
    bearing: Bearing | UnsetType = UNSET
    class_: EvidenceClass | UnsetType = UNSET


class FlipRow(SkillRow, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A changed position inside a verification; `because` names the new evidence."""

    role: Author
    to: Verdict
    from_: Verdict | UnsetType | None = UNSET
    because: Pointer | tuple[Pointer, ...] | UnsetType | None = UNSET


class VerificationRow(SkillRow, frozen=True, kw_only=True):
    """verifications.jsonl (SD-37). Without `check` the number in the id says which of the four it is."""

    id: Key
    round: Round
    check: Check | UnsetType = UNSET
    result: Result
    evidence_refs: tuple[Pointer, ...] | Pointer | None = ()
    notes: Prose | None = ""
    claims_affected: tuple[Key, ...] | None = ()
    claim_status_changes: tuple[ChangeRow, ...] | None = ()
    confidence: Five | UnsetType | None = UNSET
    positions_pre: dict[Author, Verdict] | UnsetType | None = UNSET
    positions_post: dict[Author, Verdict] | UnsetType | None = UNSET
    flips: tuple[FlipRow, ...] | UnsetType | None = UNSET
    repeats: Key | UnsetType | None = UNSET


class DecisionRow(SkillRow, frozen=True, kw_only=True):
    """decisions.jsonl (SD-47). `type` is written when it is not `round`."""

    id: Key
    round: Round
    text: Prose | None = ""
    cites: tuple[Cite, ...] | None = ()
    made_by: Maker
    round_artifact_refs: tuple[Pointer, ...] | UnsetType | None = UNSET
    anchor_ref: Prose | UnsetType | None = UNSET
    type: DecisionType | UnsetType = UNSET


class CountRow(SkillRow, frozen=True, kw_only=True):
    """Findings that an artifact lists, and those that became no claim."""

    listed: Nat
    unlinked: Nat


class LeadRow(SkillRow, frozen=True, kw_only=True):
    """lead_history.jsonl (SD-52)."""

    round: Round
    lead: Lead | UnsetType | None = UNSET
    is_stress: bool | UnsetType | None = UNSET
    absent_agent: Author | Literal["none"] | UnsetType | None = UNSET
    planned_stress: Author | UnsetType | None = UNSET
    findings: dict[Author, CountRow] | UnsetType | None = UNSET


class DriftRow(SkillRow, frozen=True, kw_only=True):
    """drift_checks.jsonl (SD-58). `addresses` is the round of an earlier drift check that this answers."""

    round: Round
    verdict: Literal["PASS", "FAIL", "PARTIAL"]
    deviation_score: Five
    notes: Prose | None = ""
    addresses: Round | UnsetType | None = UNSET


class SkillConcernRow(SkillRow, frozen=True, kw_only=True):
    """concerns.jsonl: tensions, concerns and questions, which the published layout has no file for."""

    id: Key
    round: Round
    type: ConcernType
    text: Prose | None = ""
    between: tuple[Key, ...] = ()
    severity: Five | UnsetType | None = UNSET
    for_human: bool | UnsetType = UNSET


class PlannedRound(SkillRow, frozen=True, kw_only=True):
    """One row of the plan in run.json."""

    round: Round
    absent: Annotated[str, Meta(pattern=ROLE_PATTERN)] | None = None
    drift: bool = False
    phases: tuple[Annotated[str, Meta(max_length=200)], ...] = ()
    focus: Prose | None = None


class RunFile(SkillRow, frozen=True, kw_only=True):
    """run.json: the question, the goals and the plan, which the published layout has no file for."""

    question: Long = ""
    domain: Prose | None = None
    goals: tuple[Prose, ...] = ()
    plan: tuple[PlannedRound, ...] = ()


FILES: Final[dict[str, type[SkillRow]]] = {
    "claims.jsonl": ClaimRow,
    "verifications.jsonl": VerificationRow,
    "decisions.jsonl": DecisionRow,
    "lead_history.jsonl": LeadRow,
    "drift_checks.jsonl": DriftRow,
    "concerns.jsonl": SkillConcernRow,
    "run.json": RunFile,
}
"""File → the type of its rows; `run.json` is one object, the others are JSON Lines."""
PUBLISHED: Final = tuple(name for name in FILES if name not in ("concerns.jsonl", "run.json"))
"""The files of the published layout; a directory with none of them is no state directory."""

REMEMBERED: Final[dict[str, tuple[str, ...]]] = {
    "claims.jsonl": ("status", "supersedes", "raised_at_artifact", "anchor_ref", "sightings"),
    "verifications.jsonl": ("confidence", "positions_pre", "positions_post", "flips"),
    "decisions.jsonl": ("round_artifact_refs", "anchor_ref"),
    "lead_history.jsonl": ("lead", "is_stress", "absent_agent", "planned_stress", "findings"),
}
"""Keys that a row may lack: `run_opened.rules.skill_keys` remembers which of them a source had."""
OWN_KEYS: Final = frozenset(
    f"{name.removesuffix('.jsonl')}.{key}" for name, keys in REMEMBERED.items() for key in keys
) - {"claims.sightings"}
"""Keys that a run of our own writes; sightings only where there are any."""


ROW_BYTES_MAX: Final = 900_000
"""A line of the ledger has at most 1 MiB; the rest is for the envelope and for what an id or a goal adds."""
FILE_BYTES_MAX: Final = 1 << 28
BAD_LINES_MAX: Final = 1_000

UNKEPT: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that no string of a ledger holds (FORMAT 1)."""

R = TypeVar("R", bound=SkillRow)


@dataclass(frozen=True, slots=True)
class Placed:
    """Row with its line number, and its content in a fixed form, which orders rows that share a place."""

    line: int
    key: str
    row: SkillRow


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a source by file, with what is wrong and what was not taken over."""

    by_file: Mapping[str, tuple[Placed, ...]]
    seen: frozenset[str]
    """Optional keys that occur, as `claims.anchor_ref`."""
    bad: tuple[BadLine, ...]
    notes: tuple[str, ...]

    def of(self, name: str, row_type: type[R]) -> tuple[tuple[str, R], ...]:
        """Return key and row for every row of a file, in file order."""
        return tuple(
            (placed.key, placed.row)
            for placed in self.by_file.get(name, ())
            if isinstance(placed.row, row_type)
        )


class _NotARow(ValueError):
    """Reason why a line is not a row."""


def read_rows(source: Mapping[str, bytes]) -> Rows:
    """Return the rows of the files that `FILES` names; a missing file has none (SD-49)."""
    by_file: dict[str, tuple[Placed, ...]] = {}
    seen: set[str] = set()
    ignored: Counter[str] = Counter()
    bad: list[BadLine] = []
    for name, row_type in FILES.items():
        placed: list[Placed] = []
        known = frozenset(field.encode_name for field in msgspec.structs.fields(row_type))
        for number, line in _lines(name, source.get(name, b"")):
            try:
                content = _object(line)
                key = json.dumps(content, sort_keys=True, separators=(",", ":"))
                placed.append(Placed(number, key, _convert(content, row_type)))
            except _NotARow as problem:
                bad.append(BadLine(file=name, line=number, message=str(problem)))
                continue
            stem = name.partition(".")[0]
            seen.update(f"{stem}.{key}" for key in REMEMBERED.get(name, ()) if key in content)
            ignored.update(f"{name}: {key}" for key in content.keys() - known)
            if name == "run.json":
                seen.add("run")
        by_file[name] = tuple(placed)
    notes = tuple(
        f"{key} is not taken over ({counted(count, 'row')})" for key, count in sorted(ignored.items())
    )
    return Rows(by_file, frozenset(seen), tuple(bad[:BAD_LINES_MAX]), notes)


def _lines(name: str, content: bytes) -> Iterator[tuple[int, bytes]]:
    content = without_mark(content)
    if not name.endswith(".jsonl"):
        if content.strip():
            yield 1, content
        return
    for number, line in enumerate(content.split(b"\n"), 1):
        if line.strip():
            yield number, line


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > ROW_BYTES_MAX:
        raise _NotARow(f"longer than {ROW_BYTES_MAX} bytes")
    try:
        value = json_object(line.decode())
    except UnicodeDecodeError as error:
        raise _NotARow(f"not UTF-8: byte {error.start + 1} is 0x{line[error.start]:02x}") from None
    except NotJson as error:
        raise _NotARow(str(error)) from None
    _check_values(value, 1)
    return value


def _check_values(value: Any, depth: int) -> None:
    if depth > DEPTH_MAX:
        raise _NotARow(f"nested deeper than {DEPTH_MAX}")
    if isinstance(value, str):
        match = UNKEPT.search(value)
        if match:
            raise _NotARow(f"a string holds the character U+{ord(match[0]):04X}, which a ledger cannot keep")
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            _check_values(key, depth)
            _check_values(inner, depth + 1)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            _check_values(inner, depth + 1)
    elif isinstance(value, int) and abs(value) > SAFE_INTEGER:
        raise _NotARow("an integer is beyond 2^53-1")
    elif isinstance(value, float) and isinf(value):
        raise _NotARow("a number is beyond every double")


def _convert(content: dict[str, Any], row_type: type[SkillRow]) -> SkillRow:
    try:
        return converted(content, row_type)
    except msgspec.ValidationError as error:
        raise _NotARow(_in_words(str(error))) from None


def _in_words(message: str) -> str:
    """Return msgspec's message with the place first: `result: invalid enum value 'GREAT'`."""
    what, _, where = message.partition(" - at `$")
    what = what[:1].lower() + what[1:]
    place = where.rstrip("`").lstrip(".")
    return f"{place}: {what}" if place else what
