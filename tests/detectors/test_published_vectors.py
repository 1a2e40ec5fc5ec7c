"""The vectors that the sources give, and the exact places where the published arithmetic turns."""

from __future__ import annotations

from fractions import Fraction

import pytest

from detectors.signals import exact_slope
from tests.detectors.made import a_change, a_claim, a_verification, disagreement, first_tests, leads, signal
from tests.oracles import script_signals
from tests.oracles.rows import Rows
from tests.oracles.script_signals import file_verdict, published_slope

# SD-24 and SD-53: the standard schedule and the leads that it gives.
STANDARD_13 = {
    1: ("action", None),
    2: ("guardian", None),
    3: ("observer", None),
    4: ("critic", None),
    5: ("action", "critic"),
    6: ("guardian", None),
    7: ("observer", None),
    8: ("critic", None),
    9: ("action", None),
    10: ("observer", "guardian"),
    11: ("guardian", None),
    12: ("critic", "action"),
    13: ("action", "observer"),
}


def script(rows, number):
    """Return whether signal S`number` holds as the published script computes it."""
    return script_signals.answers(rows)[number - 1].satisfied


def test_sd_62_two_windows_must_be_low_not_one():
    series = [4, 4, 4, 4, 5, 4, 4, 4, 4, 3, 2, 2, 1]
    found = signal(first_tests(series), "published", 1)
    assert (found.satisfied, found.value, found.threshold) == (False, "2.333333", "2.166667")
    assert not script(first_tests(series), 1)
    found = signal(first_tests([*series[:-2], 1, 1]), "published", 1)
    assert (found.satisfied, found.value, found.threshold) == (True, "2", "2.166667")
    assert script(first_tests([*series[:-2], 1, 1]), 1)


def test_a_window_at_exactly_half_of_the_peak_is_not_below_it():
    assert not signal(first_tests([2, 2, 2, 1, 1, 1, 0]), "published", 1).satisfied
    assert not script(first_tests([2, 2, 2, 1, 1, 1, 0]), 1)
    assert signal(first_tests([2, 2, 3, 1, 1, 1, 0]), "published", 1).satisfied
    assert script(first_tests([2, 2, 3, 1, 1, 1, 0]), 1)


def test_a_gap_is_closed_up_by_the_script_and_kept_by_the_text():
    rows = first_tests({1: 4, 2: 4, 3: 4, 7: 4, 8: 4, 9: 4})
    assert signal(rows, "published", 1).value == "4"
    assert signal(rows, "published", 1, at=None).threshold == "2"
    rows = first_tests({1: 4, 2: 4, 3: 4, 4: 4, 5: 4, 9: 1})
    assert not script(rows, 1)
    assert signal(rows, "published", 1).satisfied


def test_a_retest_counts_for_the_script_alone():
    rows = first_tests([6, 6, 6, 0, 0, 0])
    retests = [a_change("C-1-1", "tested_confirmed") for _ in range(6)]
    for row in rows.verifications[3:]:
        row["claim_status_changes"] = list(retests)
    assert not script(rows, 1)
    assert (signal(rows, "published", 1).satisfied, signal(rows, "published", 1).value) == (True, "2")


def test_sd_64_a_collapse_to_silence_is_healthy_for_the_script_alone():
    rows = disagreement([4, 4, 4, 4, 0, 0, 0, 0, 0, 0])
    text = signal(rows, "published", 2)
    assert script(rows, 2)
    assert (text.satisfied, text.value, text.threshold) == (True, "-0.581818", "0")  # BROKEN fell with it
    assert "discovery" not in text.detail
    rows = disagreement([4, 4, 4, 4, 0, 0, 0, 0, 0, 0])
    for row in rows.verifications:
        row["result"] = "UNCLEAR" if row["result"] == "BROKEN" else row["result"]
    assert not signal(rows, "published", 2).satisfied  # discovery was flat all along


@pytest.mark.parametrize(
    ("series", "slope", "satisfied"),
    [({1: 3, 5: 4, 10: 5, 13: 5}, 0.174, True), ({1: 4, 5: 5, 10: 2, 13: 1}, -0.295, False)],
)
def test_sd_64_published_slopes(series, slope, satisfied):
    assert round(published_slope(series), 3) == slope
    assert script(disagreement(series), 2) == satisfied


# The exact slope is −1/5 each time; summed in floating point it may come out a little above or below.
AT_MINUS_A_FIFTH = [
    ([(1, 4), (6, 2), (11, 2)], -0.2),
    ([(1, 4), (4, 4), (5, 3), (7, 1), (8, 4)], -0.19999999999999998),
    ([(1, 4), (4, 4), (5, 1), (7, 1), (8, 4)], -0.20000000000000004),
]


@pytest.mark.parametrize(("points", "slope"), AT_MINUS_A_FIFTH)
def test_at_a_slope_of_minus_a_fifth_the_script_goes_with_the_rounding_of_its_floats(points, slope):
    assert exact_slope(points) == Fraction(-1, 5)
    assert published_slope(dict(points)) == slope
    assert script(disagreement(dict(points)), 2) == (slope >= -0.2)


def test_sd_53_the_standard_schedule_lets_everybody_lead():
    rows = Rows(lead_history=leads(STANDARD_13))
    found = signal(rows, "published", 3)
    assert found.satisfied
    assert script(rows, 3)
    assert (found.value, found.threshold) == ("1.974938", "1.4")
    assert found.evidence == ["@1", "@2", "@3", "@4"]


def test_the_standard_schedule_stresses_enough_roles_at_round_12_or_the_critic_at_round_5():
    rows = Rows(lead_history=leads(STANDARD_13))
    assert [number for number in STANDARD_13 if script(rows.upto(number), 4)] == [12, 13]
    satisfied = [number for number in STANDARD_13 if signal(rows.upto(number), "published", 4).satisfied]
    assert satisfied == list(range(5, 14))


def test_nobody_a_misspelt_name_and_a_dominated_chair():
    three = {1: ("action", None), 2: ("guardian", None), 3: ("observer", None)}
    for name in ("system", "none", None):
        assert not script(Rows(lead_history=leads({**three, 4: (name, None)})), 3)
    typo = Rows(lead_history=leads({**three, 4: ("critik", None)}))
    assert script(typo, 3)
    assert not signal(typo, "published", 3).satisfied
    stressed = Rows(lead_history=leads({**three, 4: ("critic", "action")}))
    assert not script(stressed, 3)
    often = dict.fromkeys(range(4, 13), ("critic", None))
    dominated = Rows(lead_history=leads({**three, **often}))
    assert script(dominated, 3)
    assert (signal(dominated, "published", 3).satisfied, signal(dominated, "published", 3).value) == (
        False,
        "1.207519",
    )


@pytest.mark.parametrize(("tested_claims", "satisfied"), [(70, False), (71, True)])
def test_thirty_percent_pending_is_not_below_thirty_percent(tested_claims, satisfied):
    claims = [a_claim(1, n) for n in range(1, 101)]
    moves = [a_change(row["id"]) for row in claims[:tested_claims]]
    rows = Rows(claims=claims, verifications=[a_verification(1, 1, "ROBUST", *moves)])
    found = signal(rows, "published", 6)
    assert script(rows, 6) == satisfied
    assert (found.satisfied, found.threshold) == (satisfied, "0.3")
    assert found.value == {70: "0.3", 71: "0.29"}[tested_claims]


@pytest.mark.parametrize(
    ("verdicts", "by_script", "by_text"),
    [
        ([], False, False),
        (["PASS"], True, True),
        (["FAIL", "PASS"], True, False),
        (["PARTIAL", "PASS"], False, True),
        (["PARTIAL", "FAIL", "PASS"], True, False),
        (["PASS", "PARTIAL"], False, False),
        (["PASS", "FAIL"], False, False),
    ],
)
def test_drift_checks_when_no_fail_is_answered(verdicts, by_script, by_text):
    rows = Rows(drift_checks=[{"round": 5 * n, "verdict": v} for n, v in enumerate(verdicts, start=1)])
    assert (script(rows, 5), signal(rows, "published", 5).satisfied) == (by_script, by_text)


def test_a_fail_is_answered_by_the_pass_that_names_it():
    checks = [
        {"round": 5, "verdict": "FAIL"},
        {"round": 10, "verdict": "PASS", "addresses": 5},
        {"round": 15, "verdict": "FAIL"},
        {"round": 20, "verdict": "PASS", "addresses": 15},
    ]
    assert signal(Rows(drift_checks=checks[:2]), "published", 5).satisfied
    assert not signal(Rows(drift_checks=checks[:3]), "published", 5).satisfied
    assert signal(Rows(drift_checks=checks), "published", 5).satisfied
    checks[3]["addresses"] = 5
    found = signal(Rows(drift_checks=checks), "published", 5)
    assert not found.satisfied
    assert "unanswered: H-15" in found.detail


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("## Drift Check\nVerdict: PASS", None),
        ("**Drift check**: PASS", None),
        ("drift_check: pass", None),
        ("Drift check: fail. Later: drift check: pass", "PASS"),
        ("Drift check below\ndrift_check: partial", "PARTIAL"),
        ("DRIFT CHECK: FAIL", "FAIL"),
    ],
)
def test_sd_69_what_the_script_finds_in_a_round_file(text, verdict):
    assert file_verdict(text) == (verdict or "")


def test_round_files_are_read_in_the_order_of_their_names():
    rows = Rows(round_files={"round_5.md": "drift check: fail", "round_10.md": "drift check: pass"})
    assert not script(rows, 5)  # round_10 comes first, so FAIL is the last word
    rows = Rows(round_files={"round_05.md": "drift check: fail", "round_10.md": "drift check: pass"})
    assert script(rows, 5)
