"""Value of a test, update and choice of cruxes: published figures, edges, and what always holds.

Of `detectors/forecasts/standing.py`.
"""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from detectors.forecasts.arithmetic import (
    CruxResult,
    Numbers,
    distance_to,
    group_forecast,
    incoherence,
    joint_value,
    mean_numbers,
    moved_numbers,
    updated_forecast,
    value_of_test,
    whole_points,
)
from detectors.forecasts.standing import (
    Crux,
    ForecastTable,
    FrameCheck,
    Verdict,
    all_expected_otherwise,
    cruxes_to_test,
    doubters,
    kept,
    short_way,
    standing_of,
    wants_numbers,
    without_each,
    worth_testing,
)
from detectors.parameters import ForecastTerms, forecast_parameters
from roles.outcome_status import OutcomeStatus

PARAMETERS = forecast_parameters()
TERMS = ForecastTerms(PARAMETERS.tau["normal"], experiments=True, documents=True, parameters=PARAMETERS)
PUBLISHED = Numbers(70, (85, 15, 0), (25, 75, 0))
"""The check values of docs/crux.md."""
ROLES = ("action", "guardian", "observer", "critic")
FRAME = FrameCheck(ill_posed=False, objection=False)


@st.composite
def forecasts(draw, options: int = 3):
    cuts = sorted(draw(st.lists(st.integers(0, 100), min_size=options - 1, max_size=options - 1)))
    return tuple(high - low for low, high in zip([0, *cuts], [*cuts, 100], strict=True))


numbers = st.builds(Numbers, st.integers(1, 99), forecasts(), forecasts(), st.just(1))
qualities = st.sampled_from((85, 90, 95, 100))


def table(cruxes, *, terms=TERMS, frame=FRAME, **points):
    return ForecastTable(points or dict.fromkeys(ROLES, (60, 40, 0)), cruxes, terms, frame)


# ---------------------------------------------------------------- value of a test


def test_check_values():
    assert value_of_test(PUBLISHED, 95) == Fraction("11.8")
    assert value_of_test(PUBLISHED, 70) == 0
    assert joint_value(group_forecast([(67, 33, 0)]), [(PUBLISHED, 95)]) == Fraction("11.8")


@given(numbers, qualities)
def test_a_value_is_never_negative_and_the_opposite_claim_is_worth_the_same(crux, quality):
    assert 0 <= value_of_test(crux, quality) <= 100
    assert value_of_test(crux, quality) == value_of_test(crux.negated, quality)
    assert value_of_test(crux, 50) == 0


@given(numbers)
def test_a_better_test_is_never_worth_less(crux):
    values = [value_of_test(crux, quality) for quality in range(50, 101, 5)]
    assert values == sorted(values)


@given(st.lists(numbers, min_size=1, max_size=4), qualities)
def test_the_mean_of_equal_numbers_is_worth_what_each_is_worth(several, quality):
    crux = several[0]
    assert value_of_test(mean_numbers([crux] * len(several)), quality) == value_of_test(crux, quality)


@given(forecasts(), st.lists(st.tuples(numbers, qualities), min_size=1, max_size=3))
def test_tests_together_are_worth_something_between_nothing_and_everything(forecast, tests):
    assert 0 <= joint_value(group_forecast([forecast]), tests) <= 100


# ---------------------------------------------------------------- update


def test_a_verdict_moves_a_forecast_by_bayes():
    # q rises from 70 to 6650/6800 = 97.79 points: 67 + 0.2779 · 60 = 83.68
    assert updated_forecast((67, 33, 0), [CruxResult(PUBLISHED, True, 95)]) == (84, 16, 0)
    assert updated_forecast((67, 33, 0), [CruxResult(PUBLISHED, False, 95)]) == (32, 68, 0)


@given(forecasts(), st.lists(st.builds(CruxResult, numbers, st.booleans(), qualities), max_size=3))
def test_a_forecast_stays_whole_and_the_order_of_verdicts_changes_nothing(forecast, observations):
    after = updated_forecast(forecast, observations)
    assert sum(after) == 100
    assert min(after) >= 0
    assert after == updated_forecast(forecast, observations[::-1])
    assert updated_forecast(forecast, []) == forecast


@given(numbers, forecasts(), forecasts())
def test_numbers_about_an_open_crux_move_along(crux, before, after):
    moved = moved_numbers(crux, before, after)
    assert moved.probability == crux.probability
    assert sum(moved.if_true) == sum(moved.if_false) == 100
    assert moved_numbers(crux, before, before) == crux


def test_rounding_goes_to_the_largest_remainder_and_then_in_option_order():
    assert whole_points([1, 1, 1]) == (34, 33, 33)
    assert whole_points([2, 1, -5]) == (67, 33, 0)
    with pytest.raises(ValueError, match="no share"):
        whole_points([0, -1])


def test_numbers_that_contradict_the_forecast_say_by_how_much():
    assert incoherence(PUBLISHED, (67, 33, 0)) == tuple(map(Fraction, (0, 0, 0)))
    assert incoherence(PUBLISHED, (50, 50, 0)) == tuple(map(Fraction, (17, -17, 0)))


# ---------------------------------------------------------------- choice


def strong(claim: str, how="execution", q: int = 70) -> Crux:
    return Crux(claim, how, {"critic": Numbers(q, (85, 15, 0), (25, 75, 0))})


def weak(claim: str, how="execution") -> Crux:
    return Crux(claim, how, {"critic": Numbers(50, (67, 33, 0), (65, 35, 0))})


def test_three_cruxes_are_kept_by_value_and_then_by_id():
    cruxes = [weak("C-1-1"), strong("C-1-10"), strong("C-1-2"), weak("C-1-4")]
    assert [crux.claim for crux in kept(cruxes, PARAMETERS)] == ["C-1-2", "C-1-10", "C-1-1"]


def test_one_crux_that_is_worth_a_test_takes_the_others_along():
    group = group_forecast([(60, 40, 0)])
    cruxes = [strong("C-1-1"), weak("C-1-2"), strong("C-1-3", "person")]
    assert [crux.claim for crux in worth_testing(cruxes, group, TERMS)] == ["C-1-1", "C-1-2"]
    assert wants_numbers(cruxes, group, TERMS)
    assert not wants_numbers([weak("C-1-2")], group, TERMS)


def test_what_cannot_be_tested_here_asks_for_numbers_and_is_not_tested():
    off = TERMS._replace(experiments=False, documents=False)
    cruxes = [strong("C-1-1"), strong("C-1-2", "document")]
    group = group_forecast([(60, 40, 0)])
    assert wants_numbers(cruxes, group, off)
    assert worth_testing(cruxes, group, off) == []


def test_cruxes_that_are_worth_a_test_only_together_are_tested():
    # two claims, each of which alone changes no choice
    half = Numbers(50, (78, 22, 0), (50, 50, 0))
    cruxes = [Crux(f"C-1-{n}", "execution", {"critic": half}) for n in (1, 2)]
    group = group_forecast([(64, 36, 0)])
    assert all(value_of_test(half, 95) < TERMS.tau for _ in cruxes)
    assert joint_value(group, [(half, 95)] * 2) >= TERMS.tau
    assert len(worth_testing(cruxes, group, TERMS)) == 2


def test_where_options_were_made_the_proposers_numbers_over_them_count():
    own = Crux("C-1-1", "execution", {"critic": Numbers(50, (90, 10), (10, 90))})
    made = table([own])._replace(made_options=True)
    assert cruxes_to_test(made, [own]) == []
    asked = own._replace(sealed={"critic": PUBLISHED, "action": Numbers(50, (60, 40, 0), (60, 40, 0))})
    assert cruxes_to_test(table([asked])._replace(made_options=True), [asked]) != []
    # The proposer's later numbers were lost: those of the others decide.
    lost = own._replace(sealed={"action": PUBLISHED})
    assert cruxes_to_test(table([lost])._replace(made_options=True), [lost]) != []


def test_the_role_that_doubts_most_comes_first():
    given = {"critic": PUBLISHED._replace(probability=30), "action": PUBLISHED._replace(probability=30)}
    given |= {"guardian": PUBLISHED}
    assert doubters(given, ROLES) == ["action", "critic", "guardian"]


def test_a_surprise_needs_every_role():
    given = dict.fromkeys(ROLES, PUBLISHED)
    assert all_expected_otherwise(given, False, ROLES)
    assert not all_expected_otherwise(given, True, ROLES)
    assert not all_expected_otherwise(given | {"critic": PUBLISHED._replace(probability=50)}, False, ROLES)
    assert not all_expected_otherwise({"action": PUBLISHED}, False, ROLES)


# ---------------------------------------------------------------- verdicts and standing


def test_the_highest_level_counts_and_among_equals_the_later():
    verdicts = (Verdict("holds", "reproduced"), Verdict("fails", "reproduced"), Verdict("holds", "quoted"))
    assert strong("C-1-1")._replace(verdicts=verdicts).verdict == Verdict("fails", "reproduced")
    assert strong("C-1-1")._replace(verdicts=(*verdicts, Verdict("holds", "measured"))).verdict == Verdict(
        "holds", "measured"
    )
    assert strong("C-1-1").verdict is None


def asked(claim: str, how="execution", verdicts=(), numbers_of=PUBLISHED) -> Crux:
    return Crux(claim, how, {"critic": numbers_of}, dict.fromkeys(ROLES, numbers_of), verdicts)


def test_a_verdict_moves_every_role_and_leaves_nothing_open():
    end = standing_of(table([asked("C-1-1", verdicts=(Verdict("fails", "reproduced"),))]))
    assert end.leader == 1
    assert end.unsettled == ()
    assert end.status is OutcomeStatus.DECIDED


def test_an_open_crux_that_is_worth_a_test_is_named_in_the_status():
    end = standing_of(table([asked("C-1-1", "person")]))
    assert end.status is OutcomeStatus.RUN_THIS_FIRST
    assert [crux.claim for crux in end.worth(TERMS.tau)] == ["C-1-1"]
    assert end.unsettled[0].here is None


def test_a_role_without_numbers_leaves_the_group_where_a_verdict_needs_them():
    crux = asked("C-1-1", verdicts=(Verdict("holds", "reproduced"),))
    lost = crux._replace(sealed={role: PUBLISHED for role in ROLES if role != "action"})
    assert set(standing_of(table([lost])).forecasts) == {"guardian", "observer", "critic"}
    assert set(standing_of(table([lost._replace(verdicts=())])).forecasts) == set(ROLES)


def test_verdicts_that_no_role_knows_both_of_keep_everybody():
    one = Crux("C-1-1", "person", {"action": PUBLISHED}, verdicts=(Verdict("holds", "measured"),))
    other = Crux("C-1-2", "person", {"critic": PUBLISHED}, verdicts=(Verdict("holds", "measured"),))
    assert set(standing_of(table([one, other])).forecasts) == set(ROLES)


def test_statuses():
    assert standing_of(table([])).status is OutcomeStatus.DECIDED
    near = table([], action=(52, 48, 0), critic=(54, 46, 0))
    assert standing_of(near).status is OutcomeStatus.YOUR_CALL
    at_ten = table([], action=(55, 45, 0))
    assert standing_of(at_ten).status is OutcomeStatus.DECIDED
    ill = FrameCheck(ill_posed=True, objection=True)
    assert standing_of(table([], frame=ill, action=(50, 0, 50))).status is OutcomeStatus.ILL_POSED
    assert standing_of(table([], frame=ill, action=(51, 0, 49))).status is OutcomeStatus.YOUR_CALL
    assert standing_of(ForecastTable({}, [], TERMS)).status is OutcomeStatus.NOBODY_ANSWERED


def test_the_end_without_each_role():
    carried = table([], action=(90, 10, 0), guardian=(45, 55, 0), critic=(45, 55, 0))
    without = without_each(carried)
    assert without["action"].changes
    assert without["action"].leader == 1
    alone = table([], action=(90, 10, 0))
    assert without_each(alone)["action"].leader is None


# ---------------------------------------------------------------- the short way


def test_the_short_way_needs_agreement_a_frame_and_nothing_to_test():
    sure = {"action": (96, 4, 0)}
    assert short_way(sure, 1, [], FRAME, TERMS, 95)
    assert not short_way({"action": (94, 6, 0)}, 1, [], FRAME, TERMS, 95)
    assert not short_way(sure, 1, [], None, TERMS, 95)
    assert not short_way(sure, 1, [], FrameCheck(ill_posed=False, objection=True), TERMS, 95)
    assert not short_way(sure, 2, [], FRAME, TERMS, 95)
    assert not short_way({**sure, "critic": (4, 96, 0)}, 2, [], FRAME, TERMS, 95)
    assert not short_way(sure, 1, [("execution", PUBLISHED)], FRAME, TERMS, 95)
    assert short_way(sure, 1, [("execution", Numbers(50, (97, 3, 0), (95, 5, 0)))], FRAME, TERMS, 95)


def test_the_nearest_role_is_the_one_with_the_smallest_distance():
    group = group_forecast([(60, 40), (70, 30), (90, 10)])
    distances = [distance_to(forecast, group) for forecast in ((60, 40), (70, 30), (90, 10))]
    assert distances.index(min(distances)) == 1
