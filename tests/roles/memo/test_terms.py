"""Terms: what a reader from outside cannot know, and what counts as explaining it."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from roles.memo.terms import unexplained, vocabulary, without_ids
from tests.effort import bounded

KNOWN = vocabulary(
    ("Should the API use SQLite or PostgreSQL 16 in a K-12 school?", "It logs x86-64 and tps_max.")
)


def found(text: str) -> list[str]:
    return [term.text for term in unexplained(text, KNOWN)]


@pytest.mark.parametrize(
    "text",
    [
        "Use SQLite for the API in the K-12 school.",
        "PostgreSQL 16 on x86-64 keeps tps_max.",
        "It takes 40ms, 5 GB and 12.5 % in the 3rd year.",
        "On 2024-05-01 at 12:30, e.g. and/or i.e. I think a well-known one.",
        "The write-ahead log (WAL) grows.",
        "WAL (a log that is written first) grows.",
        "WAL, that is the log that is written first, grows.",
        "The “WAL” (a log written first) grows.",
        "如果每天写入超过5000次，会成为瓶颈。",
        "5,000回以上、p값 없음",
        "ใช้5000ครั้ง และ ५००० बार",
        "WAL（预写日志）会变大，预写日志（WAL）也是。",
        "Es ist 3fach so groß und 50prozentige 10 m².",
        "",
    ],
)
def test_what_a_reader_can_know(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The WAL grows.", ["WAL"]),
        ("APIs and RPCs fail.", ["APIs", "RPCs"]),
        ("The p99 of if_true is good.", ["p99", "if_true"]),
        ("A CI/CD run.", ["CI/CD"]),
        ("The crux is the redraw.", ["crux", "redraw"]),
        ("It is likely (55–80 %) that the WAL grows.", ["WAL"]),
        ("The WAL (WAL) grows.", ["WAL"]),
        ("The WAL (55 %) grows.", ["WAL"]),
        ("The log (a big one) and WAL grow.", ["WAL"]),
        ("That is so, because the WAL grows.", ["WAL"]),
        ("The WAL (a log", []),
        ("NOT now.", ["NOT"]),
    ],
)
def test_terms_that_nobody_explains(text, terms):
    assert found(text) == terms


IDS = (
    "C-1-4 D-2-1 O-2 G-1 K-1 K-1#L3-L5 S-1-B-critic S-1-B-critic#crux-1 A-3-critic#attack-2 B-2-critic~3 E-2-1 H-3"
    " M-1~2 M-1#s4 VO-1-1-critic crux-2 plan-1 r2.E.verifier r1.B.critic~2"
)


@pytest.mark.parametrize("identity", IDS.split())
def test_ids_are_never_in_the_text(identity):
    assert found(f"See {identity}.") == [identity]
    assert found(f"See {identity} (the one that is meant).") == [identity]
    assert without_ids(f"See {identity}, of 12.") == "See  , of 12."


def test_what_the_opening_uses_is_no_id():
    assert found("A K-12 school") == []
    assert [term.text for term in unexplained("A K-12 school", frozenset())] == ["K-12"]


@given(st.text(max_size=300))
def test_any_text_is_known_to_itself(text: str):
    assert list(unexplained(text, vocabulary((text,)))) == []


@pytest.mark.parametrize(
    "part", ["1_1 ", "WAL (", "C-1-1", "a-", "(", "S-1-B-a-", "r1.B.", "_", "p99 (WAL) that "]
)
def test_a_hostile_sentence_is_read_at_once(part):
    with bounded(part):
        list(unexplained((part * 1_000)[:1_000], KNOWN))
        vocabulary((part * 20_000,))
