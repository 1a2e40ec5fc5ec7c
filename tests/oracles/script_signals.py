"""What the published stopping script answers for the rows of a state directory (SD-61 … SD-70).

Written from its description, branch by branch; every answer names the branch that gave it. One thing
differs from the published run: the status of a claim is what the verifications made of it (SD-71).
"""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import NamedTuple

from tests.oracles.rows import Rows


class Answer(NamedTuple):
    """The verdict of a signal and the branch that gave it."""

    satisfied: bool
    branch: str


def answers(rows: Rows) -> list[Answer]:
    """S1 … S6."""
    number = len(rows.roles)
    return [s1(rows), s2(rows), s3(rows, number), s4(rows, number), s5(rows), s6(rows)]


def s1(rows: Rows) -> Answer:
    changes: dict[int, int] = {}
    for row in rows.verifications:
        changes[row["round"]] = changes.get(row["round"], 0) + len(row["claim_status_changes"])
    if not changes:
        return Answer(False, "S1 nothing verified")
    if len(changes) < 6:
        return Answer(False, "S1 too few rounds")
    series = [changes[number] for number in sorted(changes)]
    means = [(sum(series[end - 3 : end])) / 3 for end in range(3, len(series) + 1)]
    half = max(means) * 0.5
    if half == 0:
        return Answer(False, "S1 nothing ever moved")
    low = [means[-2] < half, means[-1] < half]
    if low == [True, True]:
        return Answer(True, "S1 both windows low")
    return Answer(False, "S1 last window alone low" if low[1] else "S1 last window not low")


def s2(rows: Rows) -> Answer:
    disagreement: dict[int, int] = {}
    for row in rows.verifications:
        if row["result"] == "BROKEN" or row["result"] == "UNCLEAR":
            disagreement[row["round"]] = disagreement.get(row["round"], 0) + 1
    if len(disagreement) < 3:
        return Answer(False, "S2 too few rounds")
    slope = published_slope(disagreement)
    if slope >= 0:
        return Answer(True, "S2 rising or flat")
    if slope >= -0.2:
        return Answer(True, "S2 falling slowly")
    return Answer(False, "S2 falling")


def published_slope(series: dict[int, int]) -> float:
    """Round → count, least squares by deviations from the means, in floating point."""
    numbers = sorted(series)
    average_number = sum(numbers) / len(numbers)
    average_count = sum([series[number] for number in numbers]) / len(numbers)
    above = [(number - average_number) * (series[number] - average_count) for number in numbers]
    below = [(number - average_number) ** 2 for number in numbers]
    return reduce(add, above) / reduce(add, below)  # as `sum` did when the script was written: uncompensated


def s3(rows: Rows, number: int) -> Answer:
    names = set()
    for row in rows.lead_history:
        if not row["is_stress"] and row["lead"] is not None and row["lead"] not in ("system", "none"):
            names.add(row["lead"])
    return Answer(True, "S3 all led") if len(names) >= number else Answer(False, "S3 somebody never led")


def s4(rows: Rows, number: int) -> Answer:
    absent = {row["absent_agent"] for row in rows.lead_history if row["is_stress"] and row["absent_agent"]}
    if len(absent) >= max(1, number - 1):
        return Answer(True, "S4 enough absent")
    return Answer(False, "S4 too few absent" if absent else "S4 nobody absent")


def s5(rows: Rows) -> Answer:
    if rows.round_files is not None:
        found = [file_verdict(rows.round_files[name]) for name in sorted(rows.round_files)]
        source = "files"
    else:
        found = [row["verdict"] for row in sorted(rows.drift_checks, key=lambda row: row["round"])]
        source = "events"
    verdicts = [verdict for verdict in found if verdict]
    if not verdicts:
        return Answer(False, f"S5 {source}: none")
    if set(verdicts) == {"PASS"}:
        return Answer(True, f"S5 {source}: all pass")
    if verdicts[-1] == "PASS":
        failed = "FAIL" in verdicts
        return Answer(failed, f"S5 {source}: pass after {'fail' if failed else 'partial'}")
    return Answer(False, f"S5 {source}: last is no pass")


def file_verdict(text: str) -> str:
    """The verdict in a round file, empty for none."""
    small = text.lower()
    if small.find("drift check") < 0:
        return ""
    for verdict in ("pass", "fail", "partial"):
        if small.find("drift check: " + verdict) >= 0 or small.find("drift_check: " + verdict) >= 0:
            return verdict.upper()
    return ""


def s6(rows: Rows) -> Answer:
    status = {row["id"]: "pending" for row in rows.claims}
    for row in verifications_in_order(rows):
        for change in row["claim_status_changes"]:
            if change["claim_id"] in status:
                status[change["claim_id"]] = change["to"]
    if not status:
        return Answer(False, "S6 no claims")
    share = list(status.values()).count("pending") / len(status)
    return Answer(True, "S6 few pending") if share < 0.3 else Answer(False, "S6 many pending")


def verifications_in_order(rows: Rows) -> list[dict]:
    """By round, then by the number of the check."""
    return sorted(rows.verifications, key=lambda row: (row["round"], int(row["id"].split("-")[2])))
