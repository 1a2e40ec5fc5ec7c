"""Numbers in prose, and calculations that are redone."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roles.calculation import DEPTH_MAX, calculation, numerals, values_in
from tests.effort import bounded

UNITS = st.sampled_from(["", " %", "%", "ms", " MB", " requests", ".", ",", ")"])
SEPARATORS = st.sampled_from([",", "'", "’", " ", "\u00a0", "\u2009", "\u202f"])


def stated(text: str) -> list[str]:
    return [one.value for one in numerals(text)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,000 of 12 300 rows", ["1000", "12300"]),
        ("1\u202f000.50 and 1'000.5", ["1000.5", "1000.5"]),
        ("in 2019 100 users", ["2019", "100"]),
        ("p99 and v1.2.3 take 40ms, SHA256 none", ["40"]),
        ("12.50 %, 007 and .5", ["12.5", "7", "5"]),
        ("5 million rows, 1.5 thousand users", ["5000000", "1500"]),
        ("twelve of one hundred", ["100"]),
        ("forty-five, a million, two hundred thousand", ["45", "1000000", "200000"]),
        ("one or two, first or second, no number", []),
        ("٣٤ and ４０ and ½", ["34", "40", "1", "2"]),
        ("2024-05-01", ["2024", "5", "1"]),
        ("5–10 %", ["5", "10"]),
        ("", []),
    ],
)
def test_the_numbers_of_a_text(text, values):
    assert stated(text) == values


@pytest.mark.parametrize(
    ("cited", "said"),
    [
        ("It takes 1,000 ms.", "1000"),
        ("about 12 300 rows", "12,300"),
        ("cell 12 300", "300"),
        ("Postgres v16", "16"),
        ("one hundred and twenty", "20"),
        ("5 million", "5,000,000"),
        ("KEYS = 20_000", "20,000"),
        ("1_000_000 rows", "1000000"),
    ],
)
def test_what_a_cited_text_can_be_read_to_state(cited, said):
    assert set(stated(said)) <= values_in(cited)


@pytest.mark.parametrize(
    ("cited", "said"), [("1,000", "1"), ("5 million", "5"), ("61.2", "61"), ("0.40", "4"), ("", "0")]
)
def test_another_number_does_not_stand_there(cited, said):
    assert not set(stated(said)) & values_in(cited)


@given(st.decimals(0, 10**9, places=3), SEPARATORS, UNITS, st.sampled_from(["", "about ", "× ", "$", "("]))
def test_however_a_number_is_written_it_is_one(number: Decimal, separator: str, unit: str, before: str):
    text = before + f"{number:,}".replace(",", separator) + unit
    (found,) = numerals(text)
    assert Fraction(found.value) == Fraction(number)
    assert found.value in values_in(text)
    assert found.is_rounded(Fraction(number))


@given(st.text(max_size=400))
def test_any_text_has_numbers_that_stand_in_it(text: str):
    assert set(stated(text)) <= values_in(text)


@pytest.mark.parametrize(
    ("written", "exact", "right"),
    [
        ("61", Fraction("61.25"), True),
        ("61.3", Fraction("61.25"), True),
        ("61.2", Fraction("61.25"), True),
        ("61.4", Fraction("61.25"), False),
        ("62", Fraction("61.25"), False),
        ("33.33", Fraction(100, 3), True),
        ("33.34", Fraction(100, 3), False),
        ("9" * 5_000, Fraction(1), False),
    ],
)
def test_a_computed_value_may_be_rounded(written, exact, right):
    (found,) = numerals(written)
    assert found.is_rounded(exact) is right


@pytest.mark.parametrize(
    ("text", "operands", "holds"),
    [
        ("40 × (25 + 5) = 1,200", ("40", "25", "5"), True),
        ("40*25=1000.", ("40", "25"), True),
        ("40 x 25 = 1001", ("40", "25"), False),
        ("12/48 = 25 %", ("12", "48"), True),
        ("12/48 = 25.00%", ("12", "48"), True),
        ("12/48 = 25", ("12", "48"), False),
        ("10 % * 350 = 35", ("10", "350"), True),
        ("(1 + 2) % = 0.03", ("1", "2"), True),
        ("3 − 5 = −2", ("3", "5"), True),
        ("100/3 = 33.33", ("100", "3"), True),
        ("100/3 = 33", ("100", "3"), False),
        ("0.1 + 0.2 = 0.3", ("0.1", "0.2"), True),
        ("2 + 3 × 4 = 14", ("2", "3", "4"), True),
        ("8 − 3 − 2 = 3", ("8", "3", "2"), True),
        ("64 ÷ 4 ÷ 2 = 8", ("64", "4", "2"), True),
    ],
)
def test_a_calculation_is_redone(text, operands, holds):
    assert calculation(text) == (operands, holds)


@pytest.mark.parametrize(
    "text",
    [
        "5 = 5",
        "1 + 1",
        "1 = 1 = 1",
        "1 / 0 = 3",
        "1 / (2 − 2) = 0",
        "2 + = 3",
        "(2 + 3 = 5",
        "2 + 3) = 5",
        "2 ** 3 = 8",
        "2 + 3 = 2 + 3",
        "40 × 25 = 1000 rows",
        "__import__('os') + 1 = 2",
        "1e9 * 2 = 2",
        "= 5",
        "",
        "1 + " + "(" * (DEPTH_MAX + 1) + "1" + ")" * (DEPTH_MAX + 1) + " = 2",
        "1 + " + "9" * 31 + " = 2",
        "1" + " + 1" * 200 + " = 201",
    ],
)
def test_what_is_no_calculation(text):
    assert calculation(text) is None


@given(st.integers(0, 999), st.integers(1, 999), st.integers(0, 999), st.sampled_from("+-*/"))
def test_a_calculation_agrees_with_fractions(a: int, b: int, c: int, sign: str):
    results = {"+": Fraction(a + b), "-": Fraction(a - b), "*": Fraction(a * b), "/": Fraction(a, b)}
    exact = results[sign] * c
    if (exact * 10_000).denominator == 1:
        written = format(Decimal(exact.numerator) / Decimal(exact.denominator), "f")
        found = calculation(f"({a} {sign} {b}) * {c} = {written}")
        assert found is not None
        assert found.holds
    wrong = calculation(f"({a} {sign} {b}) * {c} = {int(exact) + 7}")
    assert wrong is not None
    assert not wrong.holds


@given(st.text("0123456789.,%()+-*/= ×x−\n", max_size=300))
def test_no_expression_breaks_the_reader(text: str):
    found = calculation(text)
    assert found is None or found.operands


@pytest.mark.parametrize(
    "part", ["9999", "1,", "1 000", "1.1", "one hundred ", "½", "v1.", "million ", "(1+", "1+"]
)
def test_a_long_hostile_text_is_read_at_once(part):
    text = part * 20_000
    with bounded(part):
        list(numerals(text))
        values_in(text)
        calculation(text)
