"""Rows of deliberations that could have been, drawn so that every branch of every signal comes up."""

from __future__ import annotations

from hypothesis import strategies as st

from ledger.events.verifications import CHECKS
from tests.oracles.rows import Row, Rows

ROLES = ("action", "guardian", "observer", "critic")
OUTCOMES = ("tested_confirmed", "tested_refuted", "partially_refuted", "tested_unclear")
DRIFT = (
    ("PASS",),
    ("PASS", "FAIL"),
    ("PASS", "PARTIAL"),
    ("PASS", "PASS", "FAIL"),
    ("PASS", "FAIL", "PARTIAL"),
)
ROUND_FILES = (
    "",
    "no word of it",
    "## Drift check\nVerdict: PASS",
    "Drift check: PASS",
    "**Drift Check: Pass**",
    "DRIFT CHECK: fail",
    "Drift check of the round.\n- drift_check: FAIL",
    "drift check at the end\ndrift_check: partial",
    "drift_check: pass",
    "drift check: fail, and after the repair drift check: pass",
    "Drift Check: Partial",
)


def a_claim(number: int, n: int, supersedes: str | None) -> Row:
    return {
        "id": f"C-{number}-{n}",
        "round": number,
        "raised_by": "critic",
        "text": "It holds.",
        "testable_as": "A run shows it.",
        "supersedes": supersedes,
    }


@st.composite
def rows(draw: st.DrawFn) -> Rows:
    """A deliberation of up to 12 rounds; activity may fade, stop and come back."""
    made = Rows(roles=draw(st.sampled_from([ROLES, ROLES[2:], ROLES[3:], (*ROLES, "witness")])))
    last = draw(st.integers(0, 12) | st.integers(8, 13))
    activity = draw(st.lists(st.integers(0, 4), min_size=last, max_size=last))
    if draw(st.booleans()):
        activity.sort(reverse=True)
    leads = [*made.roles, *draw(st.sampled_from([("system",), ("none", None), ("typo",), ()]))]
    absences = draw(st.sampled_from([0, 1, 1, 3]))
    drift = draw(
        st.sampled_from([("PASS",), ("PASS", "FAIL"), ("PASS", "PASS", "FAIL"), ("PASS", "FAIL", "PARTIAL")])
    )
    still = draw(st.integers(0, 9)) == 0
    if draw(st.sampled_from([True, False, False])) and last:
        made.round_files = {f"round_{last}.md": draw(st.sampled_from(ROUND_FILES))}
    manner = draw(st.sampled_from(["in turn", "by lot", "one dominates"]))
    for number in range(1, last + 1):
        turn = leads[number % len(leads)] if manner == "in turn" or number < len(leads) else leads[0]
        lead = draw(st.sampled_from(leads)) if manner == "by lot" else turn
        stressed = absences > 0 and draw(st.integers(1, 6)) <= absences
        absent = draw(st.sampled_from([*made.roles, None])) if stressed else None
        made.lead_history.append(
            {"round": number, "lead": lead, "is_stress": absent is not None, "absent_agent": absent}
        )
        _a_round(draw, made, number, activity[number - 1])
        if still:
            for row in made.verifications:
                row["claim_status_changes"] = []
        if draw(st.integers(0, 2)) == 0:
            made.drift_checks.append(_a_drift_check(draw, made, number, drift))
        if made.round_files is not None and draw(st.booleans()):
            made.round_files[f"round_{number}.md"] = draw(st.sampled_from(ROUND_FILES))
    return made


def _a_round(draw: st.DrawFn, made: Rows, number: int, activity: int) -> None:
    for n in range(1, draw(st.integers(0, 1 + activity)) + 1):
        older = draw(st.sampled_from([None, None, *(row["id"] for row in made.claims[-3:])]))
        made.claims.append(a_claim(number, n, older))
    for tension in range(draw(st.integers(0, 2)) if activity else 0):
        kind = draw(st.sampled_from(["tension", "concern"]))
        made.concerns.append({"id": f"N-{number}-{tension + 1}", "round": number, "type": kind})
    if draw(st.integers(0, 9)) == 0:
        return
    for check_id in range(1, draw(st.integers(1, 6)) + 1):
        made.verifications.append(_a_verification(draw, made, number, check_id, activity))


def _a_verification(draw: st.DrawFn, made: Rows, number: int, check_id: int, activity: int) -> Row:
    quiet = draw(st.integers(0, 3)) >= activity
    result = draw(st.sampled_from(["ROBUST", "NOT_APPLICABLE"] if quiet else ["BROKEN", "UNCLEAR", "BROKEN"]))
    extra = draw(st.sampled_from(["claim_retest", "synthesis_resolution"]))
    row: Row = {
        "id": f"V-{number}-{check_id}",
        "round": number,
        "check": CHECKS[check_id - 1] if check_id <= len(CHECKS) else extra,
        "result": result,
        "claim_status_changes": [],
    }
    if check_id == 6 and draw(st.integers(0, 1)):
        row["repeats"] = f"V-{number}-1"
    elif result != "NOT_APPLICABLE" or activity:
        names = draw(st.lists(st.sampled_from([*made.claims, {"id": "C-9-9"}]), max_size=activity))
        for claim in names:
            outcome = draw(st.sampled_from(OUTCOMES))
            row["claim_status_changes"].append({"claim_id": claim["id"], "from": "pending", "to": outcome})
    return row


def _a_drift_check(draw: st.DrawFn, made: Rows, number: int, verdicts: tuple[str, ...]) -> Row:
    row: Row = {"round": number, "verdict": draw(st.sampled_from(verdicts))}
    failed = [check["round"] for check in made.drift_checks if check["verdict"] == "FAIL"]
    if row["verdict"] == "PASS" and len(failed) > 0 and draw(st.booleans()):
        row["addresses"] = draw(st.sampled_from(failed))
    return row
