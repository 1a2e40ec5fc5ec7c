"""What the seed's prose answers for the rows of a state directory (SD-60 … SD-70 [T]), slowly.

Rows of the closing synthesis (check `synthesis_resolution`) and repeated judgements are no part of a round.
"""

from __future__ import annotations

from fractions import Fraction
from math import isclose, log

from tests.oracles.rows import Row, Rows
from tests.oracles.script_signals import Answer, verifications_in_order


def answers(rows: Rows) -> list[Answer]:
    """S1 … S6."""
    return [s1(rows), s2(rows), s3(rows), s4(rows), s5(rows), s6(rows)]


def ordinary(rows: Rows) -> list[Row]:
    """Verifications that belong to a round's cross-validation."""
    return [
        row
        for row in verifications_in_order(rows)
        if row.get("check") != "synthesis_resolution" and row.get("repeats") is None
    ]


def last_round(rows: Rows) -> int:
    return max([row["round"] for row in ordinary(rows)], default=0)


def first_tests(rows: Rows) -> dict[str, tuple[int, bool]]:
    """Claim → the round that took it out of pending, and whether the synthesis did."""
    known = {row["id"]: row["round"] for row in rows.claims}
    found: dict[str, tuple[int, bool]] = {}
    synthesis_last = sorted(
        verifications_in_order(rows),
        key=lambda row: (row["round"], row.get("check") == "synthesis_resolution"),
    )
    for row in synthesis_last:
        for change in row["claim_status_changes"]:
            claim = change["claim_id"]
            if row.get("repeats") is None and claim in known and claim not in found:
                found[claim] = (row["round"], row.get("check") == "synthesis_resolution")
    return found


def s1(rows: Rows) -> Answer:
    last = last_round(rows)
    if last < 6:
        return Answer(False, "S1 too few rounds")
    moves = [entry[0] for entry in first_tests(rows).values() if not entry[1]]
    sums = [sum(1 for number in moves if end - 2 <= number <= end) for end in range(3, last + 1)]
    peak = max(sums)
    if peak == 0:
        return Answer(False, "S1 nothing ever moved")
    if 2 * sums[-1] < peak and 2 * sums[-2] < peak:
        return Answer(True, "S1 both windows low")
    return Answer(False, "S1 last window alone low" if 2 * sums[-1] < peak else "S1 last window not low")


def stress_rounds(rows: Rows) -> set[int]:
    return {row["round"] for row in rows.lead_history if row["is_stress"] and row["absent_agent"]}


def exact_slope(points: list[tuple[int, int]]) -> Fraction:
    count = len(points)
    mean_x = Fraction(sum(x for x, _ in points), count)
    mean_y = Fraction(sum(y for _, y in points), count)
    above = sum(((x - mean_x) * (y - mean_y) for x, y in points), Fraction(0))
    return above / sum(((x - mean_x) ** 2 for x, _ in points), Fraction(0))


def disagreement(rows: Rows) -> list[tuple[int, int]]:
    """(round, BROKEN + UNCLEAR) of every round without stress, silent ones too."""
    stressed = stress_rounds(rows)
    return [
        (
            number,
            sum(
                1
                for row in ordinary(rows)
                if row["round"] == number and row["result"] in ("BROKEN", "UNCLEAR")
            ),
        )
        for number in range(1, last_round(rows) + 1)
        if number not in stressed
    ]


def s2(rows: Rows) -> Answer:
    points = disagreement(rows)
    if len(points) < 3:
        return Answer(False, "S2 too few rounds")
    if exact_slope(points) >= 0:
        late = exact_slope(points[-3:])
        return Answer(late >= 0, f"S2 holds, {'late too' if late >= 0 else 'late collapse'}")
    found = []
    for number, _ in points:
        broken = [row for row in ordinary(rows) if row["round"] == number and row["result"] == "BROKEN"]
        tensions = [row for row in rows.concerns if row["round"] == number and row["type"] == "tension"]
        found.append((number, len(broken) + len(tensions)))
    fades = exact_slope(found) < 0
    return Answer(fades, f"S2 fades, discovery {'too' if fades else 'not'}")


def s3(rows: Rows) -> Answer:
    stressed = stress_rounds(rows)
    leads = [
        row["lead"] for row in rows.lead_history if row["round"] not in stressed and row["lead"] in rows.roles
    ]
    if set(leads) != set(rows.roles):
        return Answer(False, "S3 somebody never led")
    bits = 0.0
    for role in rows.roles:
        share = leads.count(role) / len(leads)
        bits -= share * log(share, 2)
    limit = 0.7 * log(len(rows.roles), 2)
    spread = bits >= limit or isclose(bits, limit, abs_tol=1e-12)
    return Answer(spread, "S3 spread" if spread else "S3 dominated")


def s4(rows: Rows) -> Answer:
    absent = {row["absent_agent"] for row in rows.lead_history if row["is_stress"]} & set(rows.roles)
    if len(absent) >= max(1, len(rows.roles) - 1):
        return Answer(True, "S4 enough absent")
    if "critic" in absent:
        return Answer(True, "S4 critic absent")
    return Answer(False, "S4 too few absent" if absent else "S4 nobody absent")


def s5(rows: Rows) -> Answer:
    checks = sorted(rows.drift_checks, key=lambda row: row["round"])
    if not checks:
        return Answer(False, "S5 none")
    if all(row["verdict"] == "PASS" for row in checks):
        return Answer(True, "S5 all pass")
    if checks[-1]["verdict"] != "PASS":
        return Answer(False, "S5 last is no pass")
    for failed in [row for row in checks if row["verdict"] == "FAIL"]:
        replies = [row for row in checks if row["verdict"] == "PASS" and row["round"] > failed["round"]]
        if failed["round"] not in [row.get("addresses") for row in replies]:
            return Answer(False, "S5 a fail unanswered")
    return Answer(True, "S5 every fail answered")


def s6(rows: Rows) -> Answer:
    if not rows.claims:
        return Answer(False, "S6 no claims")
    tested = first_tests(rows)
    by_checks = {claim for claim, (_, by_synthesis) in tested.items() if not by_synthesis}
    pending = [row for row in rows.claims if row["id"] not in by_checks]
    few = Fraction(len(pending), len(rows.claims)) < Fraction(3, 10)
    return Answer(few, "S6 few pending" if few else "S6 many pending")


def slope_alarm(rows: Rows) -> tuple[int, int] | None:
    """(onset round, number of readings) of fading disagreement, None when it does not stand (SD-22)."""
    points = disagreement(rows)
    readings = [(points[end - 1][0], exact_slope(points[:end]) < 0) for end in range(3, len(points) + 1)]
    streak = 0
    while streak < len(readings) and readings[-1 - streak][1]:
        streak += 1
    return (readings[-streak][0], streak) if streak >= 2 else None
