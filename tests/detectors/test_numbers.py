"""Slopes and decimal strings against independent arithmetic.

Of `detectors/parameters.py`.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from statistics import linear_regression

import pytest
from hypothesis import given, strategies as st

from detectors.report import decimal_string
from detectors.signals import exact_slope, exact_slopes
from ledger.events.envelope import DECIMAL_PATTERN

SERIES = st.lists(st.integers(0, 40), min_size=2, max_size=30)


@given(SERIES)
def test_slopes_are_those_of_a_regression(counts):
    points = list(enumerate(counts, start=1))
    reference = linear_regression([x for x, _ in points], [y for _, y in points]).slope
    assert float(exact_slope(points)) == pytest.approx(reference, abs=1e-9)
    assert exact_slopes(points) == [exact_slope(points[:end]) for end in range(2, len(points) + 1)]


@given(st.floats(-1e9, 1e9, allow_nan=False), st.integers(0, 9))
def test_a_decimal_string_is_the_value_rounded_half_even(value, digits):
    exact = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN, Context(prec=2_000))
    text = decimal_string(value, digits)
    assert Decimal(text) == exact
    assert re.match(DECIMAL_PATTERN, text)
    assert text == "0" or "." not in text or not text.endswith("0")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (-0.0, "0"),
        (-1e-9, "0"),
        (Fraction(-1, 5), "-0.2"),
        (Fraction(1, 3), "0.333333"),
        (Fraction(5, 10**7), "0"),
        (Fraction(15, 10**7), "0.000002"),
        (Fraction(25, 10**7), "0.000002"),
        (12, "12"),
        (1.975, "1.975"),
    ],
)
def test_decimal_strings(value, text):
    assert decimal_string(value) == text
