"""The arithmetic of studies agrees with scipy, with what is worked by hand here, and with what must always hold."""

from __future__ import annotations

import ast
import sys
from itertools import pairwise, product
from math import comb, sqrt
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given, strategies as st

pytest.importorskip("scipy")

from moot.studies import statistics
from moot.studies.statistics import (
    Bin,
    Interval,
    agreement,
    brier,
    exact_mcnemar,
    holm,
    paired_interval,
    redraw_noise,
    reliability,
    share_interval,
    smallest_difference,
)
from tests.studies import coverage

DRAWS = 200
numbers = st.floats(-100, 100, allow_subnormal=False)
ps = st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8)


def test_the_arithmetic_imports_nothing_of_ours_and_no_numpy_before_it_is_called() -> None:
    tree = ast.parse(Path(statistics.__file__).read_text("utf-8"))
    everywhere = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    }
    assert everywhere - sys.stdlib_module_names == {"numpy", "scipy"}
    assert not {"numpy", "scipy"} & {
        (node.module or "").partition(".")[0] for node in tree.body if isinstance(node, ast.ImportFrom)
    }


# paired_interval


def test_the_wider_of_bootstrap_and_t_by_another_way() -> None:
    """scipy draws its own bootstrap, so limits agree to the noise of 10,000 draws."""
    import numpy as np
    from scipy import stats

    values = [0.0, 0.1, 0.1, 0.2, 0.3, 0.5, 0.9, 1.7]
    n = len(values)
    quantile = stats.t.ppf(0.975, n - 1)
    tail = stats.norm.cdf(-quantile * sqrt(n / (n - 1)))
    assert 0.001 < tail < 0.025 / 2  # cuts less than half of what a plain percentile does
    again = stats.bootstrap(
        (values,), np.mean, n_resamples=10_000, confidence_level=1 - 2 * tail, method="percentile", rng=3
    ).confidence_interval
    by_t = stats.ttest_1samp(values, 0).confidence_interval()
    found = paired_interval(values, seed=7, draws=10_000)
    assert found.low == pytest.approx(min(again.low, by_t.low), abs=0.02)
    assert found.high == pytest.approx(max(again.high, by_t.high), abs=0.05)
    assert again.high > by_t.high  # the bootstrap sees the skew
    assert by_t.low < again.low  # and t is the wider one below
    assert found.low == pytest.approx(by_t.low, rel=1e-9)
    assert found.mean == pytest.approx(0.475)
    assert found.n == 8


def test_no_limits_without_spread() -> None:
    assert paired_interval([], seed=1) == Interval(None, None, None, 0)
    assert paired_interval([0.5], seed=1) == Interval(None, None, 0.5, 1)
    assert paired_interval([0.0] * 12, seed=1) == Interval(None, None, 0.0, 12)
    assert paired_interval([0.3, 0.1 + 0.2], seed=1)[:2] == (None, None)  # rounding is no spread
    assert paired_interval([0.3, 0.4], seed=1).low is not None


def test_more_items_are_narrower() -> None:
    random = Random(1)
    values = [random.gauss(0, 1) for _ in range(40)]

    def width(values: list[float]) -> float:
        low, high, _, _ = paired_interval(values, seed=1)
        assert low is not None
        assert high is not None
        return high - low

    assert width(values * 4) == pytest.approx(width(values) / 2, rel=0.06)


def test_blocks_of_draws_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [0.0, 0.0, 0.0, 0.1, 0.7, 2.0, 9.0]
    whole = paired_interval(values, seed=5, draws=1_001)
    monkeypatch.setattr(statistics, "BLOCK", 70)
    assert paired_interval(values, seed=5, draws=1_001) == whole
    assert paired_interval(values, seed=6, draws=1_001) != whole


def test_the_draws_are_the_same_on_every_version_of_numpy() -> None:
    """Worked from the published bits of PCG64: the upper half of each word, times n, without its fraction."""
    import numpy as np
    from scipy import stats

    values, n, draws = [0.0, 0.0, 0.0, 0.1, 0.7, 2.0, 9.0], 7, 400
    assert int(np.random.PCG64(0).random_raw()) == 11749869230777074271
    bits = np.random.PCG64(5)
    words = [int(bits.random_raw()) for _ in range(n * draws)]
    means = [
        sum(values[(word >> 32) * n >> 32] for word in words[at : at + n]) / n
        for at in range(0, n * draws, n)
    ]
    tail = stats.norm.cdf(-stats.t.ppf(0.975, n - 1) * sqrt(n / (n - 1)))
    by_t = stats.ttest_1samp(values, 0).confidence_interval()
    again = float(np.quantile(means, 1 - tail))
    assert again > by_t.high
    assert paired_interval(values, seed=5, draws=draws).high == pytest.approx(again, rel=1e-9)


@given(st.lists(numbers, min_size=2, max_size=20), st.integers(0, 99), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_the_limits_hold_the_mean(
    values: list[float], seed: int, random: Random
) -> None:
    found = paired_interval(values, seed=seed, draws=DRAWS)
    random.shuffle(values)
    assert paired_interval(values, seed=seed, draws=DRAWS) == found
    low, high, mean, n = found
    assert n == len(values)
    assert mean is not None
    if low is None or high is None:
        assert max(values) == pytest.approx(min(values), rel=1e-11)
    else:
        assert low <= mean <= high


@given(st.lists(st.integers(-8, 8), min_size=3, max_size=12), st.integers(-50, 50))
def test_the_interval_moves_with_the_differences(values: list[int], shift: int) -> None:
    assume(len(set(values)) > 1)
    here = paired_interval(values, seed=1, draws=DRAWS)
    there = paired_interval([2 * value + shift for value in values], seed=1, draws=DRAWS)
    assert there.low == pytest.approx(2 * (here.low or 0) + shift, abs=1e-9)
    assert there.high == pytest.approx(2 * (here.high or 0) + shift, abs=1e-9)


CLAIMS = [
    (name, n)
    for name, n in product(coverage.WORLDS, coverage.SIZES)
    if coverage.claimed(coverage.WORLDS[name], n)
]


@pytest.mark.slow  # three seeds of hundreds of samples each; fewer where each takes longer and the claim is easier
@pytest.mark.parametrize(("name", "n"), CLAIMS[::2])
def test_the_interval_holds_the_true_mean_as_often_as_it_says(name: str, n: int) -> None:
    found = coverage.measured(coverage.WORLDS[name], n, {8: 1_000, 12: 800, 30: 400, 100: 250}[n])
    assert coverage.LEAST <= found.share <= coverage.MOST
    assert found.without < 0.03


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "n"), CLAIMS)
def test_it_does_by_the_thousands_that_the_docstring_gives(name: str, n: int) -> None:
    found = coverage.measured(coverage.WORLDS[name], n)
    assert coverage.LEAST <= found.share <= coverage.MOST
    assert found.without < 0.03


# share_interval


@given(st.integers(1, 300), st.data())
def test_wilson_agrees_with_scipy(n: int, data: st.DataObject) -> None:
    from scipy.stats import binomtest

    right = data.draw(st.integers(0, n))
    again = binomtest(right, n).proportion_ci(0.95, method="wilson")
    low, high, mean, _ = share_interval(right, n)
    assert low == pytest.approx(again.low, abs=1e-12)
    assert high == pytest.approx(again.high, abs=1e-12)
    assert 0 <= (low or 0) <= (mean or 0) <= (high or 0) <= 1


def test_limits_at_the_ends_of_the_scale_are_exact() -> None:
    assert share_interval(0, 9)[0] == 0
    assert share_interval(9, 9)[1] == 1


# exact_mcnemar and power


@given(st.integers(0, 120), st.integers(0, 120))
def test_mcnemar_agrees_with_scipy(only_first: int, only_second: int) -> None:
    from scipy.stats import binomtest

    found = exact_mcnemar(only_first, only_second)
    assert found == exact_mcnemar(only_second, only_first)
    if only_first + only_second:
        assert found == pytest.approx(binomtest(only_first, only_first + only_second).pvalue, rel=1e-9)


def test_mcnemar_by_hand() -> None:
    assert exact_mcnemar(0, 0) == 1
    assert exact_mcnemar(0, 5) == 2 / 32
    assert exact_mcnemar(0, 6) == 2 / 64
    assert exact_mcnemar(1, 8) == 2 * (1 + 9) / 512
    assert exact_mcnemar(3, 3) == 1


def test_the_smallest_difference_by_hand() -> None:
    """All one way, p = 2/2^k is at most 0.05 from 6 of 6 on; of exactly 6 items, all 6 differ with probability d^6."""
    assert smallest_difference(6) == pytest.approx(0.8 ** (1 / 6))
    assert smallest_difference(5) is None
    assert smallest_difference(0) is None


@pytest.mark.parametrize("n", [6, 7, 12, 30, 60])
def test_just_that_difference_is_shown(n: int) -> None:
    """The slow way: each number of items that differ, all one way, with its probability and its p."""
    found = smallest_difference(n)
    assert found is not None
    power = sum(
        comb(n, k) * found**k * (1 - found) ** (n - k) for k in range(n + 1) if exact_mcnemar(0, k) <= 0.05
    )
    assert power == pytest.approx(0.8, abs=1e-9)


# holm


def test_holm_by_hand() -> None:
    """0.01 × 4, 0.02 × 3, 0.03 × 2 and 0.04 × 1, none less than the one before."""
    found = holm({"d": 0.04, "a": 0.01, "c": 0.03, "b": 0.02})
    assert found == pytest.approx({"d": 0.06, "a": 0.04, "c": 0.06, "b": 0.06})
    assert list(found) == ["d", "a", "c", "b"]
    assert holm({}) == {}
    assert holm({"one": 0.2}) == {"one": 0.2}
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}


@given(ps)
def test_holm_keeps_the_order_and_takes_nothing_away(p_values: dict[str, float]) -> None:
    found = holm(p_values)
    assert list(found) == list(p_values)
    assert all(p <= found[name] <= min(1, p * len(p_values)) for name, p in p_values.items())
    ranked = sorted(p_values, key=lambda name: p_values[name])
    assert all(found[one] <= found[other] for one, other in pairwise(ranked))
    assert holm(dict(reversed(p_values.items()))) == found


@given(ps, st.sampled_from([0.01, 0.05, 0.3]))
def test_holm_rejects_what_its_steps_reject(p_values: dict[str, float], level: float) -> None:
    """The steps as Holm has them: from the smallest on, until one is above level / (those that are left)."""
    rejected = set()
    for left, name in zip(
        range(len(p_values), 0, -1), sorted(p_values, key=lambda n: p_values[n]), strict=True
    ):
        if p_values[name] * left > level:
            break
        rejected.add(name)
    assert {name for name, p in holm(p_values).items() if p <= level} == rejected


# beliefs


def test_brier_by_hand() -> None:
    assert brier({"a": 100, "b": 0}, "a") == 0
    assert brier({"a": 100, "b": 0}, "b") == 2
    assert brier({"a": 1}, "c") == 2
    assert brier({"a": 0.5, "b": 0.3, "c": 0.2}, "a") == pytest.approx(0.25 + 0.09 + 0.04)
    assert brier({"a": 50, "b": 30, "c": 20}, "a") == pytest.approx(0.38)


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 100), min_size=1), st.sampled_from("abcdef")
)
def test_brier_lies_between_nothing_and_two(beliefs: dict[str, float], truth: str) -> None:
    assert 0 <= brier(beliefs, truth) <= 2 + 1e-12
    assert brier(dict(reversed(beliefs.items())), truth) == brier(beliefs, truth)


def test_reliability_by_hand() -> None:
    pairs = [(0.0, False), (0.1, True), (0.2, False), (0.625, True), (0.75, False), (1.0, True), (0.8, True)]
    assert reliability(pairs) == (
        Bin(0.0, 0.2, 2, 0.05, 0.5),
        Bin(0.2, 0.4, 1, 0.2, 0.0),
        Bin(0.6, 0.8, 2, 0.6875, 0.5),
        Bin(0.8, 1.0, 2, 0.9, 1.0),
    )
    assert reliability([]) == ()


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans())))
def test_every_belief_is_in_one_bin_and_within_it(pairs: list[tuple[float, bool]]) -> None:
    found = reliability(pairs)
    assert sum(one.n for one in found) == len(pairs)
    assert all(one.high <= other.low for one, other in pairwise(found))
    assert all(one.low - 1e-12 <= one.mean_belief <= one.high + 1e-12 for one in found)
    assert reliability(pairs[::-1]) == found


# repetitions and cost


def test_agreement_counts_pairs_by_hand() -> None:
    """A, A, B: one pair of three agrees. C, C: the only one does. D: no pair."""
    assert agreement([["A", "A", "B"], ["C", "C"], ["D"]]) == 2 / 4
    assert agreement([["A"], ["A"], []]) is None
    assert agreement([["A", "B"]]) == 0


def test_redraw_noise_by_hand() -> None:
    """10 points moved; then 30, 30 and 0 over three repetitions: (10 + 30 + 30 + 0) / 4."""
    first = [{"a": 60, "b": 40}, {"a": 70, "b": 30}]
    second = [{"a": 50, "b": 50}, {"a": 20, "b": 50, "c": 30}, {"a": 20, "b": 50, "c": 30}]
    assert redraw_noise([first, second]) == 17.5
    assert redraw_noise([first[:1], []]) is None
