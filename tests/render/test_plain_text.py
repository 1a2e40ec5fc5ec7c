"""Nothing in a ledger's text reaches the terminal as a command, and nothing in it is invisible."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from ledger.plain_text import first_sentence, isolated, one_line, shortened, visible

TRICKS = {
    "\x1b[31mred\x1b[0m": "␛[31mred␛[0m",
    "\x1b]8;;http://x\x07link\x1b]8;;\x07": "␛]8;;http://x␇link␛]8;;␇",
    "\x9b2J": "<U+009B>2J",
    "a\u202eb": "a<U+202E>b",
    "a\u2066b\u2069": "a<U+2066>b<U+2069>",
    "a\u200bb\u200db\u2060\ufeff": "a<U+200B>b<U+200D>b<U+2060><U+FEFF>",
    "gone\rforged": "gone␍forged",
    "back\b\b\x7f": "back␈␈␡",
    "soft\u00adhyphen": "soft<U+00AD>hyphen",
    "tag\U000e0041": "tag<U+E0041>",
    "line\u2028sep\x85": "line<U+2028>sep<U+0085>",
    "blank\u3164\u2800\u115f": "blank<U+3164><U+2800><U+115F>",
    "one\r\ntwo\tthree": "one\ntwo    three",
}


@pytest.mark.parametrize(("said", "shown"), TRICKS.items())
def test_what_cannot_be_seen_is_named(said: str, shown: str) -> None:
    assert visible(said) == shown


@pytest.mark.parametrize("said", ["plain", "Prüfung, naïve, 日本語, Ελληνικά", "✗ BROKEN – “so”", "e\u0301"])
def test_what_can_be_seen_stays(said: str) -> None:
    assert visible(said) == said


@given(st.text())
def test_no_control_and_no_format_character_is_left(said: str) -> None:
    shown = visible(said)
    left = [
        character for character in shown if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs")
    ]
    assert set(left) <= {"\n"}
    assert visible(shown) == shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("O-1  אבג 58% דהו  42%", "O-1  \u2068אבג 58% דהו\u2069  42%"),
        ("O-1 مرحبا O-2 سلام, 5", "O-1 \u2068مرحبا\u2069 O-2 \u2068سلام\u2069, 5"),
        ("مرحبا\nسلام", "\u2068مرحبا\u2069\n\u2068سلام\u2069"),
        ("plain, 日本語", "plain, 日本語"),
    ],
)
def test_words_from_right_to_left_reorder_nothing_beside_them(line: str, shown: str) -> None:
    assert isolated(line) == shown


@given(st.text())
def test_every_word_from_right_to_left_is_isolated_within_its_line(said: str) -> None:
    shown = isolated(visible(said))
    assert shown.replace("\u2068", "").replace("\u2069", "") == visible(said)
    for line in shown.split("\n"):
        depth = 0
        for character in line:
            depth += (character == "\u2068") - (character == "\u2069")
            assert depth in (0, 1)
            assert depth or unicodedata.bidirectional(character) not in ("R", "AL")
        assert depth == 0


def test_stacked_marks_do_not_climb() -> None:
    assert visible("x" + "\u0301" * 5).count("<U+0301>") == 2


@given(st.text(), st.integers(1, 40))
def test_a_shortened_text_is_one_short_line(said: str, columns: int) -> None:
    assert len(shortened(said, columns)) <= max(2, columns)
    assert "\n" not in shortened(said, columns)


def test_shortened_keeps_whole_words_and_says_that_it_cut() -> None:
    assert shortened("a journal with a sync at every commit", 20) == "a journal with a…"
    assert shortened("a journal", 20) == "a journal"
    assert one_line(" a \n\n b ") == "a b"


def test_first_sentence() -> None:
    assert first_sentence("Write one journal and sync it. Then rest.") == "Write one journal and sync it."
    assert first_sentence("No end here") == "No end here"
