"""State directories in memory: a small one told by hand, ones drawn by hypothesis."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from hypothesis import strategies as st

from ledger.events import Event, RunOpened
from ledger.format.canonical import seal
from ledger.interchange.skill_import import Imported, Terms, read_skill
from ledger.state.book import Book, book

AT = "2026-01-02T03:04:05.000006Z"
AUTHORS = ("action", "guardian", "observer", "critic")
VERDICTS = ("BROKEN", "ROBUST", "UNCLEAR")
CHECKS = (
    "critic_attack_on_action_trace",
    "guardian_vs_observer_walkthrough",
    "observer_friction_vs_critic_attack",
    "all_vs_prior_decisions",
)
TESTED = ("tested_confirmed", "tested_refuted", "partially_refuted", "tested_unclear")

Row = dict[str, Any]
Rows = Mapping[str, list[Row]]


class Blobs:
    """Blobs in memory."""

    def __init__(self, blobs: Mapping[str, bytes]) -> None:
        self._blobs = blobs

    def read(self, sha256: str) -> bytes | None:
        return self._blobs.get(sha256)


def lines(rows: Iterable[Row]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def source(rows: Rows, documents: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """The files of a state directory."""
    return {f"{name}.jsonl": lines(content) for name, content in rows.items()} | dict(documents or {})


def imported(files: Mapping[str, bytes], terms: Terms | None = None) -> Book:
    """The book of a source without bad lines, sealed as one commit."""
    found = read_skill(files, terms)
    assert not found.bad, found.bad
    return sealed(found)


def sealed(found: Imported) -> Book:
    events = seal(found.events, prev="0" * 64, seq=0, at=AT).events
    return book(events, Blobs(found.blobs))


def without_origin(events: Iterable[Event]) -> list[Event]:
    """Events without what every import has for itself: the chain, and where it came from."""
    return [
        msgspec.structs.replace(event, prev="", **({"origin": None} if isinstance(event, RunOpened) else {}))
        for event in events
    ]


def parsed(files: Mapping[str, bytes]) -> dict[str, list[str]]:
    """Rows of every file as JSON with sorted keys, order of lines forgotten."""
    return {
        name: sorted(json.dumps(json.loads(line), sort_keys=True) for line in content.splitlines() if line)
        for name, content in files.items()
        if name.endswith(".jsonl")
    }


def lifecycles(read: Book) -> dict[str, tuple[str, list[tuple[str, ...]]]]:
    """Every claim's status and history, without event numbers."""
    return {
        identity: (
            facts.status,
            [
                (entry.from_, entry.to, str(entry.bearing), entry.by, str(entry.legal))
                for entry in facts.history
            ],
        )
        for identity, facts in read.state.claims.items()
    }


SMALL: Rows = {
    "claims": [
        {
            "id": "C-1-1",
            "round": 1,
            "raised_by": "critic",
            "text": "A torn line is lost.",
            "testable_as": "Cut a line and look.",
            "status": "superseded",
            "supersedes": None,
            "raised_at_artifact": "artifacts/round_01/critic.md#finding-2",
            "anchor_ref": "survives a crash",
            "sightings": [{"role": "observer", "round": 2}],
        },
        {
            "id": "C-2-1",
            "round": 2,
            "raised_by": "action",
            "text": "A torn last line is cut back.",
            "testable_as": "Cut the last line and look.",
            "status": "pending",
            "supersedes": "C-1-1",
            "raised_at_artifact": None,
            "anchor_ref": None,
            "sightings": [],
        },
    ],
    "verifications": [
        {
            "id": "V-1-1",
            "round": 1,
            "check": "critic_attack_on_action_trace",
            "result": "BROKEN",
            "evidence_refs": [
                "artifacts/round_01/critic.md#attack-2",
                "artifacts/round_01/action.md#trace-1",
            ],
            "notes": "The line is gone.",
            "claims_affected": ["C-1-1"],
            "claim_status_changes": [{"claim_id": "C-1-1", "from": "pending", "to": "tested_confirmed"}],
            "confidence": 4,
            "positions_pre": {"action": "ROBUST", "critic": "BROKEN", "observer": "UNCLEAR"},
            "positions_post": {"action": "BROKEN", "critic": "BROKEN", "observer": "ROBUST"},
            "flips": [
                {"because": "artifacts/round_01/critic.md#attack-2", "role": "action", "to": "BROKEN"},
                {"because": None, "role": "observer", "to": "ROBUST"},
            ],
        },
        {
            "id": "V-2-3",
            "round": 2,
            "check": "observer_friction_vs_critic_attack",
            "result": "NOT_APPLICABLE",
            "evidence_refs": [],
            "notes": "The critic is absent.",
            "claims_affected": [],
            "claim_status_changes": [],
        },
    ],
    "decisions": [
        {
            "id": "D-1-1",
            "round": 1,
            "text": "Cut back to the last whole line.",
            "cites": [{"type": "claim", "id": "C-1-1", "relation": "based-on"}],
            "made_by": "consensus",
            "round_artifact_refs": ["artifacts/round_01/lead-proposal.md"],
            "anchor_ref": "one file is enough",
        }
    ],
    "lead_history": [
        {
            "round": 1,
            "lead": "action",
            "is_stress": False,
            "absent_agent": None,
            "planned_stress": None,
            "findings": {"action": {"listed": 2, "unlinked": 1}},
        },
        {
            "round": 2,
            "lead": "guardian",
            "is_stress": True,
            "absent_agent": "critic",
            "planned_stress": "critic",
            "findings": {},
        },
    ],
    "drift_checks": [{"round": 2, "verdict": "PASS", "deviation_score": 2, "notes": "still on it"}],
}


def texts() -> st.SearchStrategy[str]:
    """What a row's prose may hold: no control characters, which a ledger cannot keep."""
    return st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=12)


@st.composite
def directories(draw: st.DrawFn) -> dict[str, list[Row]]:
    """State directories with and without the optional keys, some with ids that cannot stay."""
    optional = draw(st.booleans())
    rounds = draw(st.integers(1, 4))
    made: dict[str, list[Row]] = {
        name: [] for name in ("claims", "verifications", "decisions", "lead_history", "drift_checks")
    }
    for number in range(1, rounds + 1):
        made["lead_history"].append(_lead(draw, number, optional))
        for n in range(1, draw(st.integers(0, 3)) + 1):
            made["claims"].append(_claim(draw, number, n, optional))
        ids = [row["id"] for row in made["claims"]]
        for check_id in sorted(draw(st.sets(st.integers(1, 4)))):
            made["verifications"].append(_verification(draw, number, check_id, ids, optional))
        if draw(st.booleans()):
            made["decisions"].append(_decision(draw, number, ids, optional))
        if draw(st.booleans()):
            verdict = draw(st.sampled_from(["PASS", "FAIL", "PARTIAL"]))
            made["drift_checks"].append(
                {"round": number, "verdict": verdict, "deviation_score": 3, "notes": draw(texts())}
            )
    return made


def _lead(draw: st.DrawFn, number: int, optional: bool) -> Row:
    absent = draw(st.sampled_from([None, *AUTHORS]))
    row: Row = {
        "round": number,
        "lead": draw(st.sampled_from(AUTHORS)),
        "is_stress": absent is not None,
        "absent_agent": absent,
    }
    if optional:
        row["planned_stress"] = draw(st.sampled_from([None, *AUTHORS]))
        row["findings"] = {"critic": {"listed": draw(st.integers(0, 9)), "unlinked": 0}}
    return row


def _claim(draw: st.DrawFn, number: int, n: int, optional: bool) -> Row:
    row: Row = {
        "id": f"C-{number}-{n}",
        "round": number,
        "raised_by": draw(st.sampled_from(AUTHORS)),
        "text": f"{draw(texts())} {number}.{n}",
        "testable_as": draw(texts()),
        "status": "pending",
        "supersedes": draw(st.sampled_from([None, "C-1-1"])) if number > 1 else None,
        "raised_at_artifact": f"artifacts/round_{number}/critic.md#finding-{n}",
    }
    if optional:
        row["anchor_ref"] = draw(st.sampled_from([None, "GOAL", "another goal"]))
        row["sightings"] = [{"role": "critic", "round": number}] * draw(st.integers(0, 2))
    return row


def _verification(draw: st.DrawFn, number: int, check_id: int, claims: list[str], optional: bool) -> Row:
    result = draw(st.sampled_from([*VERDICTS, "NOT_APPLICABLE"]))
    tested = draw(st.lists(st.sampled_from(claims), unique=True, max_size=2)) if claims else []
    row: Row = {
        "id": f"V-{number}-{check_id}",
        "round": number,
        "check": CHECKS[check_id - 1],
        "result": result,
        "evidence_refs": [f"artifacts/round_{number}/critic.md#attack-{n}" for n in range(1, 3)],
        "notes": draw(texts()),
        "claims_affected": tested,
        "claim_status_changes": [
            {"claim_id": claim, "from": "pending", "to": draw(st.sampled_from(TESTED))} for claim in tested
        ],
    }
    if optional and result != "NOT_APPLICABLE":
        row |= _positions(draw)
    return row


def _positions(draw: st.DrawFn) -> Row:
    before = {role: draw(st.sampled_from(VERDICTS)) for role in AUTHORS}
    changed = draw(st.lists(st.sampled_from(AUTHORS), unique=True, max_size=3))
    flips = [
        {
            "because": draw(st.sampled_from([None, "artifacts/round_1/critic.md#attack-1"])),
            "role": role,
            "to": draw(st.sampled_from(VERDICTS)),
        }
        for role in changed
    ]
    return {
        "confidence": draw(st.integers(1, 5)),
        "positions_pre": before,
        "positions_post": before | {str(flip["role"]): flip["to"] for flip in flips},
        "flips": flips,
    }


def _decision(draw: st.DrawFn, number: int, claims: list[str], optional: bool) -> Row:
    row: Row = {
        "id": f"D-{number}-1",
        "round": number,
        "text": draw(texts()),
        "cites": [{"type": "claim", "id": claim, "relation": "based-on"} for claim in claims[:2]],
        "made_by": "round_lead",
        "round_artifact_refs": [f"artifacts/round_{number}/lead-proposal.md"],
    }
    return row | {"anchor_ref": draw(st.sampled_from([None, "GOAL"]))} if optional else row
