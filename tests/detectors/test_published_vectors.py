"""The vectors that the sources give, and the exact places where the published arithmetic turns."""

from __future__ import annotations

from fractions import Fraction

import pytest

from detectors.disagreement import exact_slope, float_slope
from tests.detectors.made import a_change, a_claim, a_verification, disagreement, first_tests, leads, signal
from tests.oracles.rows import Rows
from tests.oracles.script_signals import published_slope

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


@pytest.mark.parametrize("profile", ["script", "text"])
def test_sd_62_two_windows_must_be_low_not_one(profile):
    series = [4, 4, 4, 4, 5, 4, 4, 4, 4, 3, 2, 2, 1]
    found = signal(first_tests(series), profile, 1)
    assert (found.satisfied, found.value, found.threshold) == (False, "2.333333", "2.166667")
    found = signal(first_tests([*series[:-2], 1, 1]), profile, 1)
    assert (found.satisfied, found.value, found.threshold) == (True, "2", "2.166667")


@pytest.mark.parametrize("profile", ["script", "text"])
def test_a_window_at_exactly_half_of_the_peak_is_not_below_it(profile):
    assert not signal(first_tests([2, 2, 2, 1, 1, 1, 0]), profile, 1).satisfied
    assert signal(first_tests([2, 2, 3, 1, 1, 1, 0]), profile, 1).satisfied


def test_a_gap_is_closed_up_by_the_script_and_kept_by_the_text():
    rows = first_tests({1: 4, 2: 4, 3: 4, 7: 4, 8: 4, 9: 4})
    assert signal(rows, "script", 1).value == "4"
    assert signal(rows, "text", 1).value == "4"
    assert signal(rows, "text", 1, at=None).threshold == "2"
    rows = first_tests({1: 4, 2: 4, 3: 4, 4: 4, 5: 4, 9: 1})
    assert not signal(rows, "script", 1).satisfied
    assert signal(rows, "text", 1).satisfied


def test_a_retest_counts_for_the_script_alone():
    rows = first_tests([6, 6, 6, 0, 0, 0])
    retests = [a_change("C-1-1", "tested_confirmed") for _ in range(6)]
    for row in rows.verifications[3:]:
        row["claim_status_changes"] = list(retests)
    assert (signal(rows, "script", 1).satisfied, signal(rows, "script", 1).value) == (False, "6")
    assert (signal(rows, "text", 1).satisfied, signal(rows, "text", 1).value) == (True, "2")


def test_sd_64_a_collapse_to_silence_is_healthy_for_the_script_alone():
    rows = disagreement([4, 4, 4, 4, 0, 0, 0, 0, 0, 0])
    script, text = signal(rows, "script", 2), signal(rows, "text", 2)
    assert (script.satisfied, script.value, script.threshold) == (True, "0", "-0.2")
    assert (text.satisfied, text.value, text.threshold) == (True, "-0.581818", "0")  # BROKEN fell with it
    assert "discovery" not in text.detail
    rows = disagreement([4, 4, 4, 4, 0, 0, 0, 0, 0, 0])
    for row in rows.verifications:
        row["result"] = "UNCLEAR" if row["result"] == "BROKEN" else row["result"]
    assert not signal(rows, "text", 2).satisfied  # discovery was flat all along


@pytest.mark.parametrize(
    ("series", "slope", "satisfied"),
    [({1: 3, 5: 4, 10: 5, 13: 5}, 0.174, True), ({1: 4, 5: 5, 10: 2, 13: 1}, -0.295, False)],
)
def test_sd_64_published_slopes(series, slope, satisfied):
    found = signal(disagreement(series), "script", 2)
    assert (round(float(found.value or 0), 3), found.satisfied) == (slope, satisfied)


# The exact slope is −1/5 each time; summed in floating point it may come out a little above or below.
AT_MINUS_A_FIFTH = [
    ([(1, 4), (6, 2), (11, 2)], -0.2),
    ([(1, 4), (4, 4), (5, 3), (7, 1), (8, 4)], -0.19999999999999998),
    ([(1, 4), (4, 4), (5, 1), (7, 1), (8, 4)], -0.20000000000000004),
]


@pytest.mark.parametrize(("points", "slope"), AT_MINUS_A_FIFTH)
def test_at_a_slope_of_minus_a_fifth_the_script_goes_with_the_rounding_of_its_floats(points, slope):
    assert exact_slope(points) == Fraction(-1, 5)
    assert float_slope(points) == published_slope(dict(points)) == slope
    found = signal(disagreement(dict(points)), "script", 2)
    assert (found.satisfied, found.value) == (slope >= -0.2, "-0.2")


@pytest.mark.parametrize("profile", ["script", "text"])
def test_sd_53_the_standard_schedule_lets_everybody_lead(profile):
    rows = Rows(lead_history=leads(STANDARD_13))
    found = signal(rows, profile, 3)
    assert found.satisfied
    assert (found.value, found.threshold) == {"script": ("4", "4"), "text": ("1.974938", "1.4")}[profile]
    assert found.evidence == ["@1", "@2", "@3", "@4"]


def test_the_standard_schedule_stresses_enough_roles_at_round_12_or_the_critic_at_round_5():
    rows = Rows(lead_history=leads(STANDARD_13))
    satisfied = {
        profile: [number for number in STANDARD_13 if signal(rows.upto(number), profile, 4).satisfied]
        for profile in ("script", "text")
    }
    assert satisfied == {"script": [12, 13], "text": list(range(5, 14))}


def test_nobody_a_misspelt_name_and_a_dominated_chair():
    three = {1: ("action", None), 2: ("guardian", None), 3: ("observer", None)}
    for name in ("system", "none", None):
        assert not signal(Rows(lead_history=leads({**three, 4: (name, None)})), "script", 3).satisfied
    typo = Rows(lead_history=leads({**three, 4: ("critik", None)}))
    assert signal(typo, "script", 3).satisfied
    assert not signal(typo, "text", 3).satisfied
    stressed = Rows(lead_history=leads({**three, 4: ("critic", "action")}))
    assert not signal(stressed, "script", 3).satisfied
    often = dict.fromkeys(range(4, 13), ("critic", None))
    dominated = Rows(lead_history=leads({**three, **often}))
    assert signal(dominated, "script", 3).satisfied
    assert (signal(dominated, "text", 3).satisfied, signal(dominated, "text", 3).value) == (False, "1.207519")


def test_a_round_that_was_opened_twice_has_two_leads_for_the_script_and_its_last_for_the_text():
    four = [("action", None), ("guardian", None), ("observer", None), ("critic", None)]
    rows = Rows(lead_history=leads(dict(enumerate(four, start=1))))
    rows.lead_history[3]["round"] = 3
    assert signal(rows, "script", 3).satisfied
    found = signal(rows, "text", 3)
    assert not found.satisfied
    assert "observer" in found.detail


@pytest.mark.parametrize("profile", ["script", "text"])
@pytest.mark.parametrize(("tested_claims", "satisfied"), [(70, False), (71, True)])
def test_thirty_percent_pending_is_not_below_thirty_percent(profile, tested_claims, satisfied):
    claims = [a_claim(1, n) for n in range(1, 101)]
    moves = [a_change(row["id"]) for row in claims[:tested_claims]]
    rows = Rows(claims=claims, verifications=[a_verification(1, 1, "ROBUST", *moves)])
    found = signal(rows, profile, 6)
    assert (found.satisfied, found.threshold) == (satisfied, "0.3")
    assert found.value == {70: "0.3", 71: "0.29"}[tested_claims]


@pytest.mark.parametrize(
    ("verdicts", "script", "text"),
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
def test_drift_checks_when_no_fail_is_answered(verdicts, script, text):
    rows = Rows(drift_checks=[{"round": 5 * n, "verdict": v} for n, v in enumerate(verdicts, start=1)])
    assert (signal(rows, "script", 5).satisfied, signal(rows, "text", 5).satisfied) == (script, text)


def test_a_fail_is_answered_by_the_pass_that_names_it():
    checks = [
        {"round": 5, "verdict": "FAIL"},
        {"round": 10, "verdict": "PASS", "addresses": 5},
        {"round": 15, "verdict": "FAIL"},
        {"round": 20, "verdict": "PASS", "addresses": 15},
    ]
    assert signal(Rows(drift_checks=checks[:2]), "text", 5).satisfied
    assert not signal(Rows(drift_checks=checks[:3]), "text", 5).satisfied
    assert signal(Rows(drift_checks=checks), "text", 5).satisfied
    checks[3]["addresses"] = 5
    found = signal(Rows(drift_checks=checks), "text", 5)
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
    found = signal(Rows(round_files={"round_05.md": text}), "script", 5)
    assert found.detail == f"round files: {verdict or 'no verdict'}"
    assert found.evidence == (["K-1"] if verdict else [])


def test_round_files_are_read_in_the_order_of_their_names():
    rows = Rows(round_files={"round_5.md": "drift check: fail", "round_10.md": "drift check: pass"})
    assert not signal(rows, "script", 5).satisfied  # round_10 comes first, so FAIL is the last word
    rows = Rows(round_files={"round_05.md": "drift check: fail", "round_10.md": "drift check: pass"})
    assert signal(rows, "script", 5).satisfied


def test_round_files_of_later_rounds_are_no_part_of_a_prefix():
    rows = Rows(
        lead_history=leads({1: ("action", None), 2: ("critic", None)}),
        drift_checks=[{"round": 1, "verdict": "PASS"}],
        round_files={"round_1.md": "drift check: fail", "round_2.md": "drift check: pass"},
    )
    assert signal(rows, "script", 5).detail == "round files: FAIL, PASS"
    assert signal(rows, "script", 5, at=1).detail == "round files: FAIL"
    assert signal(rows, "script", 5, at=0).detail == "round files: no verdict"
