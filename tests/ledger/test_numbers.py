"""Numbers in the prose of many languages, and whether one rounds another.

Of `ledger/language/numerals.py`.
"""

from __future__ import annotations

from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given, strategies as st

from ledger.language.numbers import numerals, values_in
from tests.effort import bounded

UNITS = st.sampled_from(["", " %", "%", "ms", " MB", " requests", ".", ",", ")", "次", "個の", "건", " من"])
SEPARATORS = st.sampled_from([",", "'", "’", " ", "\u00a0", "\u2009", "\u202f", "٬"])
DIGITS = st.sampled_from(
    ["0123456789", "٠١٢٣٤٥٦٧٨٩", "۰۱۲۳۴۵۶۷۸۹", "०१२३४५६७८९", "๐๑๒๓๔๕๖๗๘๙", "０１２３４５６７８９"]
)


def stated(text: str) -> list[str]:
    return [numeral.value for numeral in numerals(text)]


def accepts(cited: str, memo: str) -> bool:
    """Whether every number of a memo stands in what it cites or rounds it."""
    return all(numeral.is_among(values_in(cited)) for numeral in numerals(memo))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,000 of 12 300 rows", ["1000", "12300"]),
        ("1\u202f000.50 and 1'000.5", ["1000.5", "1000.5"]),
        ("in 2019 100 users", ["2019", "100"]),
        ("p99 and v1.2.3 take 40ms, SHA256 none", ["40"]),
        ("12.50 %, 007 and .5", ["12.5", "7", "0.5"]),
        ("5 million rows, 1.5 thousand users", ["5000000", "1500"]),
        ("12k calls, 3M rows, $2bn", ["12000", "3000000", "2000000000"]),
        ("twelve of one hundred", ["100"]),
        ("forty-five, a million, two hundred thousand", ["45", "1000000", "200000"]),
        ("one or two, first or second, no number", []),
        ("in May, in Mai, Kapitel IV, Ⅻ", []),
        ("٣٤ and ４０ and ½ and 1½ and 2/3", ["34", "40", "0.5", "1.5", "2/3"]),
        ("10 m² and 3 m³", ["10", "3"]),
        ("2024-05-01", ["2024", "5", "1"]),
        ("5–10 %", ["5", "10"]),
        ("", []),
        # Chinese and Japanese
        ("如果每天写入超过5000次", ["5000"]),
        ("延迟是320毫秒，2019，100个用户", ["320", "2019", "100"]),
        ("三百二十毫秒，二〇二六年，一千零五", ["320", "2026", "1005"]),
        ("一个文件还是三个文件，十分好，千万不要，万一，两三天", []),
        ("1.2万次，3億円，1億2000万、5万", ["12000", "300000000", "120000000", "50000"]),
        ("两万五，百万円，零点五七", ["20005", "1000000", "0.57"]),
        ("三分之二的用户", ["2/3"]),
        ("ＡＰＩ２は１，２３４ミリ秒", ["1234"]),
        # Korean, Arabic, Hindi, Thai
        ("3만 5천 건, 5백만원", ["30000", "5000", "5000000"]),
        ("٣٫١٤ و١٬٢٣٤ و٥ ملايين", ["3.14", "1234", "5000000"]),
        ("12,34,567 रुपये और ५ लाख", ["1234567", "500000"]),
        ("๓๒๐ มิลลิวินาที 5 ล้านคน", ["320", "5000000"]),
        # the continent
        ("3,5 Millionen Zeilen", ["3500000"]),
        ("1.234,56 Euro und 1.234.567 Zeilen", ["1234.56", "1234567"]),
        ("0,57 Sekunden", ["0.57"]),
        ("5 mıllion, 5 MİLLION", ["5", "5"]),
        ("die 100-prozentige Lösung, 20%ige", ["100", "20"]),
    ],
)
def test_the_numbers_of_a_text(text, values):
    assert stated(text) == values


@pytest.mark.parametrize(
    ("cited", "memo"),
    [
        ("It takes 1,000 ms.", "1000"),
        ("about 12 300 rows", "12,300"),
        ("cell 12 300", "300"),
        ("Postgres v16", "16"),
        ("one hundred and twenty", "20"),
        ("5 million", "5,000,000"),
        ("KEYS = 20_000", "20,000"),
        ("1_000_000 rows", "1000000"),
        # another language, another script
        ("It takes 1,000 ms.", "Es dauert 1.000 Millisekunden."),
        ("Der Wert ist 1.234,5.", "The value is 1,234.5."),
        ("the mean is 0.57", "der Mittelwert 0,57"),
        ("it takes 320 ms", "需要三百二十毫秒"),
        ("一共12000次", "1.2万次"),
        ("两万五千", "25,000 in all"),
        ("两万五", "25,000 in all"),
        ("the value is 3.14", "القيمة ٣٫١٤"),
        ("5 lakh rows", "500,000 rows"),
        # percent and fractions
        ("the share is 0.57", "57 %"),
        ("the share is 0.57", "57％"),
        ("the share is 0.57", "٥٧٪"),
        ("the share is 0.57", "%57"),
        ("the share is 0.57", "57 percent"),
        ("the share is 0.57", "百分之五十七"),
        ("the share is 0.57", "57パーセント"),
        ("57 percent", "a share of 0.57"),
        ("the share is 0.005", "5 ‰"),
        ("the share is 0.5", "½ of them"),
        ("the share is 0.5", "1/2 of them"),
        ("1/2", "50 %"),
        ("2 of 3 tests", "2/3 of the tests"),
        ("三分之一", "1/3 of the tests"),
        ("a ratio of 0.3", "3割"),
        # roundings
        ("0.5719", "0.57"),
        ("0.5719", "0.572"),
        ("0.5719", "57 %"),
        ("0.5719", "57.2 %"),
        ("0.5719", "about 57 percent"),
        ("2.13", "2.1"),
        ("2.13", "about 2.1"),
        ("2.13", "about 2"),
        ("11,987", "about 12,000"),
        ("11,987", "~12,000"),
        ("11,987", "≈ 12,000"),
        ("11,987", "roughly $12,000"),
        ("11,987", "12,000 or so"),
        ("11,987", "约12000次"),
        ("11,987", "12000件程度"),
        ("11,987", "约1.2万次"),
        ("11,987", "약 12,000건"),
        ("11,987", "etwa 12.000 Aufrufe"),
        ("11,987", "12 thousand"),
        ("11,987", "12k"),
        ("11,987", "1.2万"),
        ("9,960", "about 10,000"),
        ("2,130,000", "2.1 million"),
        ("0.125", "0.12"),
        ("0.125", "0.13"),
    ],
)
def test_a_number_of_a_memo_that_stands_in_what_it_cites(cited, memo):
    assert stated(memo)
    assert accepts(cited, memo)


@pytest.mark.parametrize(
    ("cited", "memo"),
    [
        ("1,000", "1"),
        ("5 million", "5"),
        ("61.2", "62"),
        ("0.40", "4"),
        ("", "0"),
        ("这里有5000次", "快87倍"),
        ("这里有5000次", "八十七倍"),
        ("5000 件", "8700件"),
        ("5000건", "87배"),
        ("٥٠٠٠ مرة", "٨٧ مرة"),
        ("५००० बार", "८७ गुना"),
        ("5000 ครั้ง", "87 เท่า"),
        ("fünf Tausend", "87-mal"),
        ("1.2万", "1.2"),
        ("3億", "3万"),
        ("0.57", "57"),
        ("0.57", "58 %"),
        ("0.57", "百分之五十八"),
        ("100 %", "1 test"),
        ("1 test", "100 % of the tests"),
        ("the value is 1.234", "the value is 1,234"),
        ("1/2", "1/3"),
        ("0.5719", "0.58"),
        ("0.5719", "0.56"),
        ("0.5719", "58 %"),
        ("0.5719", "about 58 %"),
        ("0.5719", "1"),
        ("2.13", "2.2"),
        ("2.13", "about 2.2"),
        ("11,987", "12,000"),
        ("11,987", "11,900"),
        ("11,987", "about 11,000"),
        ("11,987", "about 13,000"),
        ("11,987", "13 thousand"),
        ("11,987", "1.3万"),
        ("11,987", "we saw it about twice, and 12,000 is the sum"),
        ("0.4", "0"),
    ],
)
def test_another_number_does_not_stand_there(cited, memo):
    assert stated(memo)
    assert not accepts(cited, memo)


@given(
    st.decimals(0, 10**9, places=3),
    SEPARATORS,
    UNITS,
    DIGITS,
    st.sampled_from(["", "about ", "× ", "$", "(", "约"]),
)
def test_however_a_number_is_written_it_is_one(
    number: Decimal, separator: str, unit: str, digits: str, before: str
):
    written = f"{number:,}".replace(",", separator).translate(str.maketrans("0123456789", digits))
    text = before + written + unit
    (found,) = numerals(text)
    assert Fraction(found.value) == Fraction(number)
    assert found.value in values_in(text)
    assert found.rounds(Fraction(number))


@given(st.integers(1, 99_999_999))
def test_chinese_numerals_are_read_as_they_are_counted(number: int):
    written = _in_chinese(number)
    assert (
        str(number) in {value for numeral in numerals(f"共{written}个") for value, _ in numeral.readings}
        or number <= 12
    )


def _in_chinese(number: int) -> str:
    """Write a number as it is taught in school, by the rule of four digits."""
    if number >= 10_000:
        rest = number % 10_000
        zero = "零" if 0 < rest < 1_000 else ""
        return _in_chinese(number // 10_000) + "万" + zero + (_in_chinese(rest) if rest else "")
    text = ""
    for power, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // power % 10
        if digit:
            text += "零一二三四五六七八九"[digit] + unit
        elif text and number % power and not text.endswith("零"):
            text += "零"
    return text


@given(st.decimals(Decimal("0.0001"), 10**6, places=4), st.integers(0, 3), st.integers(-3, 3))
def test_a_rounding_is_accepted_where_decimal_rounds_the_same_way(exact: Decimal, places: int, off: int):
    unit = Decimal(1).scaleb(-places)
    assume(exact >= unit)
    written = exact.quantize(unit, ROUND_HALF_UP) + off * unit
    assume(written >= 0)
    right = {exact.quantize(unit, mode) for mode in (ROUND_HALF_UP, ROUND_HALF_DOWN)}
    assert accepts(str(exact), f"the mean is {written}") is (written in right or written == exact)


@given(st.integers(1_000, 10**7), st.integers(1, 3), st.integers(-2, 2))
def test_round_thousands_need_the_word_about(exact: int, power: int, off: int):
    unit = 10**power
    written = (exact + unit // 2) // unit * unit + off * unit
    assume(written > 0 and written % (unit * 10) and written != exact)
    is_right = 2 * abs(written - exact) <= unit
    assert accepts(f"{exact:,}", f"the sum is about {written:,}") is is_right
    assert not accepts(f"{exact:,}", f"the sum is {written:,}")


@given(st.text(max_size=400))
def test_any_text_has_numbers_that_stand_in_it(text: str):
    assert set(stated(text)) <= values_in(text)


@given(st.text("0123456789.,'/½%万千百十三二〇点分之成k \u2064⁄", max_size=60))
def test_any_heap_of_digits_has_numbers_that_stand_in_it(text: str):
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
    assert found.rounds(exact) is right


@pytest.mark.parametrize(
    "part",
    [
        "9999",
        "1,",
        "1 000",
        "11,",
        "1.000",
        "1.1",
        "one hundred ",
        "½",
        "1/2 ",
        "v1.",
        "million ",
        "1万",
        "三百",
        "十",
        "% ",
        "约 ",
    ],
)
def test_a_long_hostile_text_is_read_at_once(part):
    text = part * 8_000
    with bounded(part, 4.0):
        list(numerals(text))
        values_in(text)
