"""Every kind of event has an entry in the transcript that says what happened."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ledger.events import KINDS
from moot.api import open_run
from moot.view.transcript import entry
from tests.recorded import run_of

TEXT = "because it holds"
OUTPUT = {"sha256": "0" * 64, "bytes": 0, "kept": "0" * 64}
EXPERIMENT = {
    "claims": ["C-1-1"],
    "question": "does a torn line show?",
    "files": [{"name": "torn.py", "sha256": "0" * 64}],
    "argv": ["python", "torn.py"],
    "pass_if": [{"of": "exit", "test": "equals", "value": "0"}],
    "fail_if": [{"of": "exit", "test": "equals", "value": "1"}],
    "k": 3,
    "limits": {"wall_seconds": 10, "cpu_seconds": 10, "memory_bytes": 1, "output_bytes": 1},
    "seed": 7,
}

ENTRIES: dict[str, tuple[dict[str, Any], str]] = {
    "statement": (
        {"type": "proposal", "sections": [{"name": "plan", "text": TEXT}], "words": 3},
        "proposal by critic, 3 words\n\n*plan*\n\n> because it holds",
    ),
    "artifact": (
        {
            "role": "critic",
            "type": "adversarial_test_case",
            "body": {"preconditions": [TEXT]},
            "findings": [{"section": "verdict", "text": TEXT}],
            "words": 3,
        },
        "*preconditions*\n\n> because it holds",
    ),
    "claim": (
        {"raised_by": "critic", "text": TEXT, "testable_as": "try"},
        "claim ○ pending by critic\n\n> because",
    ),
    "assumption": ({"text": TEXT}, "assumption by critic"),
    "argument": (
        {"label": "PRO-1", "side": "PRO", "claim": TEXT, "reasoning": TEXT, "evidence": TEXT},
        "argument by critic, PRO-1 (PRO)\n\n> because",
    ),
    "concern": (
        {"type": "tension", "text": TEXT, "between": ["action", "critic"]},
        "tension by critic, between action, critic",
    ),
    "rating": (
        {"of": "C-1-1", "scale": "severity_1_5", "value": 4, "reason": TEXT},
        "rating by critic, C-1-1 severity 1 5 4",
    ),
    "position": (
        {"on": "V-1-1", "stance": "BROKEN", "confidence": 4, "reason": TEXT},
        "sealed by critic, on V-1-1",
    ),
    "verification": (
        {
            "check": "claim_retest",
            "check_id": 5,
            "result": "ROBUST",
            "evidence_refs": [{"ref": "A-1-critic#attack-1", "quote": "a <quote>"}],
            "notes": TEXT,
        },
        "- A-1-critic#attack-1: “a \\<quote\\>”",
    ),
    "challenge": (
        {"target": "A-1-action", "claim": TEXT, "text": TEXT},
        "by critic, to A-1-action\n\n> because",
    ),
    "response": ({"to": "X-1-1", "outcome": "concede", "text": TEXT}, "concedes by critic, to X-1-1"),
    "flip": (
        {"of": "P-1-1-critic", "from": "BROKEN", "to": "ROBUST"},
        "✗ BROKEN → ✓ ROBUST, no new evidence",
    ),
    "drift_check": (
        {"verdict": "FAIL", "deviation_score": 4, "notes": TEXT},
        "✗ FAIL by critic, deviation 4 of 5",
    ),
    "screening": (
        {"of": "question", "sha256": "0" * 64, "score": 30, "action": "WARN", "rules": "1"},
        "WARN by critic, question, 30 points",
    ),
    "validation": (
        {
            "after": "H",
            "through": 3,
            "ok": False,
            "findings": [{"code": "REF002", "severity": "error", "seq": 3, "message": "no such section"}],
            "rules": "0" * 64,
        },
        "1 error, 0 warnings\n\n- REF002 (error): no such section",
    ),
    "decision": (
        {
            "text": TEXT,
            "type": "final",
            "cites": [{"type": "claim", "id": "C-1-1", "relation": "based-on"}],
            "made_by": "round_lead",
            "dissent": [{"role": "critic", "ref": "P-1-1-critic", "text": "It tears."}],
        },
        "> because it holds\n\nIt rests on: based-on C-1-1.\n\nAgainst it, critic:\n\n> It tears.",
    ),
    "disposition": (
        {"of": "X-1-1", "disposition": "rejected", "reason": TEXT},
        "◆ rejected by critic, X-1-1",
    ),
    "score": (
        {"of": "R-1-1", "rubric": "logic30", "parts": {"logic": 9}, "total": "27.5", "judge": 1},
        "27.5 by critic, R-1-1 (logic30)",
    ),
    "standing": ({"of": "R-1-1", "standing": "UPHELD", "reason": TEXT}, "upheld by critic, R-1-1"),
    "vote": (
        {"ballot": 1, "decision": "VETO", "confidence": 90, "risk": 80, "reasoning": TEXT, "fallback": False},
        "VETO by critic, by rule from confidence 90, risk 80",
    ),
    "ruling": (
        {"decision": "REFUSE", "rule": "veto", "rules": "documented", "votes": [], "metadata": {}},
        "✗ REFUSE by critic, by veto",
    ),
    "signals": (
        {
            "profile": "published",
            "params": "0" * 64,
            "through": 3,
            "signals": [{"id": "S1", "satisfied": True, "value": None, "threshold": None}],
            "satisfied": 1,
            "of": 6,
            "stop": False,
            "advice": "continue",
        },
        "continue by critic, 1 of 6 hold (published)\n\nHeld: S1.",
    ),
    "belief": (
        {"role": "critic", "points": {"O-1": 70, "none": 30}, "derived": False},
        "sealed by critic, forecast",
    ),
    "frame": ({"ill_posed": True, "why": TEXT}, "frame by critic\n\n> because"),
    "agenda": ({"cruxes": ["C-1-1"]}, "agenda by critic\n\n> C-1-1"),
    "memo": (
        {"answers": "O-1", "sentences": [{"field": "answer", "text": TEXT}]},
        "memo by critic\n\n> O-1: because",
    ),
    "experiment_planned": (EXPERIMENT, "experiment by critic\n\n> does a torn line show? (C-1-1, 3 times)"),
    "experiment_run": (
        {
            "of": "E-2-1",
            "n": 2,
            "environment": {
                "interpreter": "python 3.11",
                "platform": "linux",
                "sandbox": "bubblewrap",
                "sandbox_version": None,
                "self_test": True,
            },
            "exit": 0,
            "stdout": OUTPUT,
            "stderr": OUTPUT,
            "started_at": "2026-01-02T03:04:05.000006Z",
            "ms": 41,
        },
        "run by critic\n\n> E-2-1 number 2: exit 0 after 41 ms",
    ),
    "experiment_judged": (
        {
            "of": "E-2-1",
            "counts": {"holds": 3, "fails": 0, "inconclusive": 0, "error": 0},
            "verdict": "holds",
            "class": "reproduced",
            "changes": [{"claim_id": "C-1-1", "from": "pending", "to": "tested_confirmed"}],
        },
        "judged by critic\n\n> E-2-1 holds (reproduced), C-1-1 tested_confirmed",
    ),
    "alarm": (
        {"fm": "FM-1", "action": "raised", "verdict": "ALARM", "params": "0" * 64, "because": TEXT},
        "ALARM by critic, roles give in (FM-1)\n\n> because",
    ),
    "fallback": (
        {
            "role": "critic",
            "step_failed": "r1.D.critic",
            "reason": "timeout",
            "detail": TEXT,
            "instead": "skipped",
            "quorum": {"declared": 4, "actual": 3},
        },
        "r1.D.critic given up (timeout), skipped",
    ),
    "amendment": ({"what": "focus", "cause": "human", "reason": TEXT}, "amendment by critic, focus"),
    "run_closed": (
        {
            "state": "finished",
            "reason": "signals",
            "quorum": {"declared": 4, "actual": 4},
            "through": 3,
        },
        "run finished: enough stop signals held",
    ),
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_an_entry_says_what_happened(kind: str) -> None:
    fields, said = ENTRIES[kind]
    identity = f"{KINDS[kind].letter}-1-1" if KINDS[kind].id else None
    envelope = {"round": 1, "phase": "X", "by": "critic", "seq": 7, "kind": kind, "id": identity}
    event = msgspec.convert(envelope | fields, KINDS[kind].model)
    # Every run has an opening, and its protocol says what a condition is called.
    told = entry(event, open_run(run_of("ratchet-notice")).book.first(1))
    assert said in told
    assert told.startswith(f"**{identity or '@7'}** ")
