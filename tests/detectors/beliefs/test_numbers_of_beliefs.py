"""Pool, value of a test and update: the figures that are published, the edges, and what always holds."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.beliefs import pool, values
from detectors.beliefs.parameters import crux_parameter_bytes, crux_parameter_hash, crux_parameters
from detectors.beliefs.triage import CruxValue, admitted, doubter_of, holder_of, ranked, to_test
from detectors.beliefs.unseen import Unseen, unseen_of
from detectors.beliefs.update import CruxResult, Verdict, derived, shifted, surprised, unexplained
from detectors.beliefs.values import Conditional, CruxMove
from roles.memo.likelihood import WORDS, likelihood_of

PARAMETERS = crux_parameters()
BEST = Fraction("0.95")
ARGUED = Fraction("0.70")


def points(*values: int | str) -> pool.Points:
    return tuple(Fraction(value) for value in values)


def crux(q: int, if_true: pool.Points, if_false: pool.Points) -> Conditional:
    return Conditional(Fraction(q), if_true, if_false)


PUBLISHED = crux(70, points(85, 15, 0), points(25, 75, 0))
"""The check values of docs/crux.md."""


@st.composite
def whole(draw, options: int = 3) -> pool.Points:
    """A belief: whole points over the options and `none`."""
    cuts = sorted(draw(st.lists(st.integers(0, 100), min_size=options, max_size=options)))
    return points(*(high - low for low, high in zip([0, *cuts], [*cuts, 100], strict=True)))


conditionals = st.builds(crux, st.integers(1, 99), whole(), whole())
qualities = st.sampled_from(sorted(set(PARAMETERS.qualities.values()))) | st.just(Fraction(1))


# ---------------------------------------------------------------- the value of a test


def test_the_check_values():
    assert values.evsi(PUBLISHED, BEST) == Fraction("11.8")
    assert values.evsi(PUBLISHED, ARGUED) == 0
    assert values.joint_value(PUBLISHED.mixture, [(PUBLISHED, BEST)]) == Fraction("11.8")


def test_a_test_of_two_qualities():
    """s and t may differ: by hand, 0.9 and 0.6 of q 50, T 80:20, F 20:80."""
    even = crux(50, points(80, 20), points(20, 80))
    plus = max(Fraction("0.45") * 80 + Fraction("0.2") * 20, Fraction("0.45") * 20 + Fraction("0.2") * 80)
    minus = max(Fraction("0.05") * 80 + Fraction("0.3") * 20, Fraction("0.05") * 20 + Fraction("0.3") * 80)
    assert values.evsi(even, Fraction("0.9"), Fraction("0.6")) == plus + minus - 50
    assert values.posterior(Fraction(50), True, Fraction("0.9"), Fraction("0.6")) == Fraction(4500, 65)
    assert (
        values.posterior(Fraction(0), True, Fraction(1)) == 0
    )  # a verdict that was impossible changes nothing


@given(conditionals, qualities)
def test_a_value_is_never_negative_and_a_coin_is_worth_nothing(one, quality):
    assert values.evsi(one, quality) >= 0
    assert values.evsi(one, Fraction(1, 2)) == 0
    assert values.evsi(one, quality) == values.evsi(one.negated, quality)


@given(conditionals, qualities)
def test_it_is_nothing_where_no_result_changes_the_leader(one, quality):
    leads = []
    for holds in (True, False):
        q = values.posterior(one.q, holds, quality) / 100
        leads.append([q * t + (1 - q) * f for t, f in zip(one.if_true, one.if_false, strict=True)])
    for option, now in enumerate(one.mixture):
        if now == max(one.mixture) and all(lead[option] == max(lead) for lead in leads):
            assert values.evsi(one, quality) == 0
            break
    else:
        assert values.evsi(one, quality) > 0


@given(conditionals, qualities, qualities)
def test_a_better_test_is_worth_no_less(one, quality, other):
    worse, better = sorted((quality, other))
    assert values.evsi(one, worse) <= values.evsi(one, better)


@settings(max_examples=40, deadline=None)
@given(whole(), st.lists(st.tuples(conditionals, qualities), min_size=1, max_size=4))
def test_joint_values_are_never_negative(belief, cruxes):
    found = values.joint_value(belief, cruxes)
    assert found is not None
    assert found >= 0
    assert found == values.joint_value(belief, cruxes[::-1])


@given(conditionals, qualities)
def test_one_coherent_crux_is_worth_the_same_alone_and_jointly(one, quality):
    assert values.joint_value(one.mixture, [(one, quality)]) == values.evsi(one, quality)


def test_nothing_open_has_no_joint_value_and_too_many_are_refused():
    assert values.joint_value(points(60, 40), []) is None
    with pytest.raises(ValueError, match="at most 12"):
        values.joint_value(points(60, 40, 0), [(PUBLISHED, BEST)] * 13)


@given(conditionals, qualities, st.permutations(range(4)))
def test_the_names_and_the_order_of_options_change_no_value(one, quality, order):
    other = Conditional(
        one.q, tuple(one.if_true[place] for place in order), tuple(one.if_false[place] for place in order)
    )
    assert values.evsi(other, quality) == values.evsi(one, quality)
    assert values.joint_value(other.mixture, [(other, quality)]) == values.joint_value(
        one.mixture, [(one, quality)]
    )


@given(st.lists(conditionals, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_roles_changes_no_mean(given_by_roles, random):
    shuffled = random.sample(given_by_roles, len(given_by_roles))
    assert values.mean_conditional(shuffled) == values.mean_conditional(given_by_roles)


def test_what_a_crux_moves():
    assert values.moves_of(PUBLISHED) == CruxMove(0, "for", Fraction(60))
    assert values.moves_of(PUBLISHED.negated) == CruxMove(0, "against", Fraction(60))
    assert values.moves_of(crux(50, points(20, 80, 0), points(30, 30, 40))) == CruxMove(
        1, "for", Fraction(50)
    )


def test_incoherent_numbers_are_told_by_option():
    assert values.incoherence(PUBLISHED, points(67, 33, 0)) == points(0, 0, 0)
    assert values.incoherence(PUBLISHED, points(50, 40, 10)) == points(17, -7, -10)


# ---------------------------------------------------------------- the pool


def test_the_pool_is_the_mean():
    by_role = {"action": points(70, 25, 5), "critic": points(52, 48, 0)}
    assert pool.mean_of(by_role.values()) == points(61, "36.5", "2.5")
    assert pool.spread_of(by_role, 0) == points(52, 70)
    with pytest.raises(ValueError, match="no belief"):
        pool.mean_of([])


def test_ties_go_in_option_order_and_none_wins_none():
    assert pool.leader_of(points(40, 40, 20)) == 0
    assert pool.leader_of(points(20, 40, 40)) == 1
    assert pool.margin_of(points(20, 40, 40)) == 0
    assert pool.margin_of(points(100)) == 100


def test_movement_is_of_the_roles_in_both_pools():
    before = {"action": points(70, 30), "critic": points(30, 70), "guardian": points(50, 50)}
    after = {"action": points(30, 70), "critic": points(70, 30), "observer": points(0, 100)}
    assert pool.movement_of(before, after) == 40  # the mean of the pool did not move at all
    assert pool.movement_of(before, {"observer": points(0, 100)}) is None
    assert pool.noise_of(points(70, 30), points(64, 36)) == 6


@given(st.lists(st.fractions(-50, 150), min_size=1, max_size=6).filter(lambda found: max(found) > 0))
def test_largest_remainders_always_sum_to_100(found):
    rounded = pool.by_largest_remainder(found)
    assert sum(rounded) == 100
    total = sum(max(value, 0) for value in found)
    assert all(
        abs(whole - max(value, 0) * 100 / total) < 1 for whole, value in zip(rounded, found, strict=True)
    )


def test_largest_remainders_by_hand():
    assert pool.by_largest_remainder(points(1, 1, 1)) == (34, 33, 33)
    assert pool.by_largest_remainder(points("33.2", "33.4", "33.4")) == (33, 34, 33)
    for none_above in (points(0, 0), points(-5, 0)):
        with pytest.raises(ValueError, match="above 0"):
            pool.by_largest_remainder(none_above)
        with pytest.raises(ValueError, match="above 0"):
            pool.scaled(none_above)


# ---------------------------------------------------------------- results


@given(conditionals, st.booleans())
def test_a_certain_result_gives_the_conditional_for_coherent_numbers(one, holds):
    after = derived(one.mixture, [Verdict(one, holds, Fraction(1))])
    assert after == (one.if_true if holds else one.if_false)


@given(whole(), st.lists(st.builds(Verdict, conditionals, st.booleans(), qualities), max_size=4))
def test_points_always_sum_to_100(belief, verdicts):
    after = derived(belief, verdicts)
    assert sum(after) == 100
    assert all(value >= 0 and value.denominator == 1 for value in after)
    if not verdicts:
        assert after == belief


@given(whole(), conditionals, st.booleans())
def test_a_coin_moves_nothing(belief, one, holds):
    assert derived(belief, [Verdict(one, holds, Fraction(1, 2))]) == belief


def test_an_update_by_hand():
    """q 70 → 97.7941… at .95: (q' − q)·60 = 16.67 points to the first option."""
    after = derived(points(67, 33, 0), [Verdict(PUBLISHED, True, BEST)])
    assert after == points(84, 16, 0)
    assert derived(points(67, 33, 0), [Verdict(PUBLISHED, False, BEST)]) == points(32, 68, 0)


def test_who_is_surprised():
    before, near, far = points(67, 33, 0), points(60, 38, 2), points(57, 43, 0)
    results: dict[str, CruxResult] = {"C-1-1": "holds", "C-1-2": "inconclusive"}
    assert not surprised(before, near, {"C-1-1": "holds", "C-1-2": "fails"}, results, PARAMETERS)
    assert surprised(before, near, {"C-1-1": "fails"}, results, PARAMETERS)
    assert surprised(before, far, {}, {}, PARAMETERS)  # 10 points exactly
    assert not surprised(before, near, {"C-9-9": "holds"}, results, PARAMETERS)  # not tested


def test_what_is_unexplained():
    own, mechanical = points(80, 20, 0), points(64, 36, 0)
    assert unexplained(own, mechanical, new_evidence=False, parameters=PARAMETERS)
    assert not unexplained(own, mechanical, new_evidence=True, parameters=PARAMETERS)
    assert not unexplained(
        points(79, 21, 0), mechanical, new_evidence=False, parameters=PARAMETERS
    )  # 15 exactly


def test_numbers_of_an_open_crux_move_with_their_role():
    moved = shifted(PUBLISHED, points(67, 33, 0), points(37, 63, 0))
    assert moved == crux(70, points(55, 45, 0), points(0, 100, 0))  # −5 and 105 are clipped and scaled


# ---------------------------------------------------------------- who and what


def test_what_is_admitted():
    assert admitted(Fraction(10), "person", PARAMETERS)
    assert not admitted(Fraction(9), "person", PARAMETERS)
    assert not admitted(Fraction(60), "judgement", PARAMETERS)
    assert not admitted(Fraction(60), None, PARAMETERS)


def value(claim: str, worth: int, testable: bool = True) -> CruxValue:
    return CruxValue(claim, "execution", Fraction(worth), Fraction(worth), testable, True)


def test_three_are_tested_by_value_and_then_by_number():
    cruxes = [
        value("C-1-10", 5),
        value("C-1-2", 5),
        value("C-1-3", 9),
        value("C-1-4", 20, False),
        value("C-1-5", 1),
    ]
    assert [one.claim for one in ranked(cruxes)] == ["C-1-4", "C-1-3", "C-1-2", "C-1-10", "C-1-5"]
    assert [one.claim for one in to_test(cruxes, PARAMETERS)] == ["C-1-3", "C-1-2", "C-1-10"]


ORDER = ("action", "guardian", "observer", "critic")
BELIEFS = {
    "action": points(80, 20),
    "guardian": points(30, 70),
    "observer": points(30, 70),
    "critic": points(90, 10),
}
FOR = CruxMove(0, "for", Fraction(60))


def test_the_doubter_is_the_lowest_q_and_the_holder_the_highest_of_the_others():
    q = {"critic": Fraction(20), "action": Fraction(20), "observer": Fraction(80)}
    assert doubter_of(q, BELIEFS, FOR, {"critic"}, ORDER) == "action"
    assert holder_of(q, "action", ORDER) == "observer"
    assert holder_of({"action": Fraction(20)}, "action", ORDER) is None


def test_where_only_proposers_have_numbers_somebody_else_doubts():
    q = {"action": Fraction(20), "critic": Fraction(90)}
    assert doubter_of(q, BELIEFS, FOR, {"action", "critic"}, ORDER) == "guardian"
    against = CruxMove(0, "against", Fraction(60))
    assert doubter_of({"action": Fraction(20)}, BELIEFS, against, {"action"}, ORDER) == "critic"
    assert doubter_of(q, {"action": BELIEFS["action"]}, FOR, {"action", "critic"}, ORDER) == "action"


# ---------------------------------------------------------------- what nobody found, and words


def test_what_nobody_found():
    found = unseen_of([["action"], ["critic"], ["action", "critic"], ["guardian"], list(ORDER)], 4)
    assert found == Unseen(5, 3, 1, 4, 5 + 3 * Fraction(3, 4), 5 + Fraction(3, 4) * Fraction(6, 4))
    none_twice = unseen_of([["action"], ["critic"]], 2)
    assert none_twice == Unseen(2, 2, 0, 2, Fraction(3), 2 + Fraction(1, 2))
    assert unseen_of([], 3) == Unseen(0, 0, 0, 3, Fraction(), Fraction())
    assert unseen_of([["action"]], 0) is None


@pytest.mark.parametrize(
    ("percent", "word"),
    [
        (0, "almost no chance"),
        (4, "almost no chance"),
        (5, "very unlikely"),
        (20, "unlikely"),
        (44, "unlikely"),
        (45, "roughly even"),
        (55, "roughly even"),
        ("55.01", "likely"),
        (80, "very likely"),
        (94, "very likely"),
        (95, "almost certain"),
        (100, "almost certain"),
    ],
)
def test_likelihood_words(percent, word):
    assert likelihood_of(Fraction(percent)).word == word


def test_a_word_is_said_with_its_range():
    assert str(likelihood_of(Fraction(61))) == "likely (55–80 %)"
    assert [(low.high, high.low) for low, high in pairwise(WORDS)] == [
        (bound, bound) for bound in (5, 20, 45, 55, 80, 95)
    ]


# ---------------------------------------------------------------- the parameter file


def test_the_parameters_are_what_the_rules_name():
    assert PARAMETERS.tau() == 3
    assert PARAMETERS.tau("high") == Fraction("1.5")
    assert PARAMETERS.tau("low") == 6
    assert PARAMETERS.qualities["reproduced"] == BEST
    assert len(crux_parameter_hash()) == 64
    text = crux_parameter_bytes().decode()
    assert "not one is a measurement" in text
    for name in ("qualities", "at_best", "stop", "short", "stakes", "crux", "update"):
        assert "not" in text.partition(f"[{name}]")[2].partition("\n")[0] or name == "stop"


@pytest.mark.parametrize(
    ("how", "experiments", "documents", "quality"),
    [
        ("execution", True, False, "0.95"),
        ("calculation", False, True, "0.70"),
        ("document", False, True, "0.85"),
        ("document", True, False, "0.70"),
        ("person", True, True, None),
        ("judgement", True, True, "0.70"),
    ],
)
def test_the_quality_that_can_be_had_here(how, experiments, documents, quality):
    found = PARAMETERS.here(how, experiments=experiments, documents=documents)
    assert found == (None if quality is None else Fraction(quality))
