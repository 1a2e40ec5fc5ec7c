"""Codec: one event is one line, one line is one event, and two encoders and two validators agree on both.

Of `ledger/format/canonical.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from jsonschema import Draft202012Validator

import schemas
from ledger.events import KINDS
from ledger.format.canonical import NotCanonical, decode, encode, unknown_fields
from tests.strategies import Document, anything, documents

EVERY_KIND = pytest.mark.parametrize("kind", list(KINDS))


@cache
def validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(schemas.load(f"events/{kind}"))


def accepted(line: bytes) -> bool:
    try:
        decode(line)
    except NotCanonical:
        return False
    return True


@pytest.mark.parametrize("examples", [3, pytest.param(8, marks=pytest.mark.slow)])
@EVERY_KIND
def test_lines_events_and_schema_agree(kind: str, examples: int) -> None:
    look_at(kind, examples)


def look_at(kind: str, examples: int) -> None:
    """Every codec law on so many documents of a kind, and on mutations of each."""

    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(documents(kind), anything(), st.data())
    def check(document: Document, value: Any, data: st.DataObject) -> None:
        decode_and_encode_are_inverses(document)
        assert_agreement(kind, document)
        unknown_fields_are_kept_and_named(kind, document, value)
        missing = data.draw(st.sampled_from(list(document)))
        a_field_is_missing(kind, document, missing)
        for _ in range(data.draw(st.integers(1, 4))):
            mutate(document, data.draw)
            assert_agreement(kind, document)

    check()


def decode_and_encode_are_inverses(document: Document) -> None:
    line = orjson.dumps(document)
    event = decode(line)
    assert encode(event) == line
    assert decode(encode(event)) == event
    assert unknown_fields(line, event) == ()
    assert orjson.dumps(orjson.loads(line)) == line


def unknown_fields_are_kept_and_named(kind: str, document: Document, value: Any) -> None:
    longer = {**document, "novel": value}
    line = orjson.dumps(longer)
    assert unknown_fields(line, decode(line)) == ("novel",)
    assert validator(kind).is_valid(longer)


def a_field_is_missing(kind: str, document: Document, key: str) -> None:
    shorter = {name: value for name, value in document.items() if name != key}
    assert not accepted(orjson.dumps(shorter))
    assert not validator(kind).is_valid(shorter)


def assert_agreement(kind: str, document: Document) -> None:
    line = orjson.dumps(document)
    errors = [error.message for error in validator(kind).iter_errors(document)]
    is_accepted = accepted(line) and document.get("kind") == kind
    is_valid = not errors and (kind != "belief" or totals_hold(document))
    assert is_accepted == is_valid, (errors, line)


def totals_hold(belief: Document) -> bool:
    """What no schema can say of a belief: its points, and those of its conditionals, sum to 100."""
    given = [points for one in belief["given"] for points in (one["if_true"], one["if_false"])]
    return belief["by"] == "import" or all(sum(one.values()) == 100 for one in [belief["points"], *given])


ODD_VALUES = [
    None,
    True,
    False,
    0,
    1,
    -1,
    6,
    10_000,
    2**53 - 1,
    2**53,
    -(2**53),
    0.5,
    "",
    "x",
    "x\n",
    "bell\x07",
    "\x7f",
    "\x85",
    "\u00a0",
    "0" * 64,
    "0" * 64 + "\n",
    "A" * 64,
    "-0",
    "-0.0",
    "0.1000000001",
    "1e3",
    "01",
    "import",
    "critic",
    "Critic",
    "critic\n",
    "r1.D.critic",
    "r01.D.critic",
    "r1.D.critic~1",
    "C-1-1",
    "C-1-0",
    "NOT_APPLICABLE",
    "tension",
    "escalated",
    "adversarial_test_case",
    "x" * 501,
    "x" * 8_001,
    [],
    [0],
    [None],
    {},
    {"a": {"b": [0.5]}},
    {"\x00": 1},
]


def mutate(document: Document, draw: Any) -> None:
    """Change one thing somewhere in `document`."""
    container, key = draw(st.sampled_from(list(places(document))))
    match draw(st.sampled_from(["replace", "replace", "remove", "add", "nudge", "wrap"])):
        case "replace":
            container[key] = draw(st.sampled_from(ODD_VALUES) | anything())
        case "remove":
            del container[key]
        case "add" if isinstance(container, dict):
            container[draw(st.sampled_from(["new", "", "né\n", "tab\t", "c1\x85"]))] = draw(
                st.sampled_from(ODD_VALUES) | anything()
            )
        case "add":
            container.insert(key, container[key])
        case "nudge":
            container[key] = draw(nudged(container[key]))
        case _:
            for _ in range(draw(st.integers(1, 12))):
                container[key] = {"": container[key]} if draw(st.booleans()) else [container[key]]


def nudged(value: Any) -> st.SearchStrategy[Any]:
    """Values that are nearly `value`."""
    match value:
        case bool():
            return st.sampled_from([int(value), not value])
        case int():
            return st.sampled_from([value + 1, value - 1, -value, value + 0.5, str(value), value == 1])
        case str():
            ends = st.sampled_from(["\n", "\t", "\x00", "\x9f", " ", "~2", "x"])
            return st.one_of(ends.map(value.__add__), st.just(value.upper()), st.just(value[:-1]))
        case _:
            return st.sampled_from([None, [value], {"x": value}])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in `value` with each of its keys."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(pairs):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places(inner)


def test_both_encoders_write_every_code_point_alike() -> None:
    every = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    for start in range(0, len(every), 4_096):
        text = "".join(every[start : start + 4_096])
        assert msgspec.json.encode(text) == orjson.dumps(text)
    for character in every[:0x3000]:
        assert msgspec.json.encode(character) == orjson.dumps(character)


def test_every_control_character_is_refused_everywhere_but_tab_and_line_feed() -> None:
    line = plain_claim()
    for point in [*range(0x20), *range(0x7F, 0xA0)]:
        document = {**orjson.loads(line), "text": f"a{chr(point)}b"}
        unknown = {**orjson.loads(line), "novel": {f"a{chr(point)}b": 1}}
        for one in (document, unknown):
            assert accepted(orjson.dumps(one)) == (chr(point) in "\t\n"), point


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("\\u0007 is written so, and so is \\\\b")
@example("\\\\\\")
def test_text_is_refused_exactly_when_it_holds_a_control_character(text: str) -> None:
    document = {**orjson.loads(plain_claim()), "text": text + "x"}
    controls = [
        point for point in map(ord, text) if (point < 32 and point not in (9, 10)) or 127 <= point < 160
    ]
    assert accepted(orjson.dumps(document)) == (not controls)


def plain_claim() -> bytes:
    from ledger.format.canonical import seal
    from tests.ledger import samples

    return seal([samples.claim(1)], prev="0" * 64, seq=0, at=samples.AT).lines[0]


def other_bytes() -> Iterator[tuple[str, bytes]]:
    """The same content in other bytes, and bytes that are no JSON."""
    line = plain_claim()
    yield "space", line.replace(b'"v":3', b'"v": 3')
    yield "space at the end", line + b" "
    yield "line feed at the end", line + b"\n"
    yield "needless escape", line.replace(b"torn", b"\\u0074orn")
    yield "escaped solidus", line.replace(b"torn", b"to\\/rn")
    yield "surrogate pair", line.replace(b"torn", b"\\ud83d\\ude00")
    yield "lone surrogate", line.replace(b"torn", b"\\ud83d")
    yield "lone surrogate in bytes", line.replace(b"torn", b"\xed\xa0\x80")
    yield "overlong", line.replace(b"torn", b"\xc0\xaf")
    yield "not UTF-8", line.replace(b"torn", b"\xff")
    yield "upper case escape", line.replace(b"torn", b"\\u001F")
    yield "minus zero", line.replace(b'"via":null', b'"via":-0')
    yield "fraction", line.replace(b'"via":null', b'"via":1.0')
    yield "exponent", line.replace(b'"via":null', b'"via":1e2')
    yield "leading zero", line.replace(b'"round":1', b'"round":01')
    yield "beyond 64 bits", line[:-1] + b',"novel":18446744073709551616}'
    yield "beyond 53 bits", line[:-1] + b',"novel":9007199254740992}'
    yield "unknown fraction", line[:-1] + b',"novel":0.5}'
    yield "key twice", line.replace(b'"round":1', b'"round":1,"round":1')
    yield "unknown key twice", line[:-1] + b',"novel":1,"novel":1}'
    yield "kind twice", line.replace(b'"kind":"claim"', b'"kind":"claim","kind":"claim"')
    yield "NaN", line[:-1] + b',"novel":NaN}'
    yield "deep", line[:-1] + b',"novel":' + b"[" * 12 + b"]" * 12 + b"}"
    yield "very deep", line[:-1] + b',"novel":' + b"[" * 900 + b"]" * 900 + b"}"
    yield "deeper than any stack", line[:-1] + b',"novel":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    yield "byte order mark", b"\xef\xbb\xbf" + line
    yield "cut", line[:-1]
    yield "empty", b""
    yield "two", line + line
    yield "unknown kind", line.replace(b'"kind":"claim"', b'"kind":"clair"')
    yield "no instant", line.replace(b'"at":"2026-01-02T03:04:05.000006Z"', b'"at":""')
    yield "other instant", line.replace(b"T03:04:05.000006Z", b"T03:04:05Z")
    yield "wrong order in the prefix", line.replace(b'"seq":0,"rest":0', b'"rest":0,"seq":0')
    yield "beyond 1 MiB", line[:-1] + b',"novel":"' + b"x" * (1 << 20) + b'"}'


@pytest.mark.parametrize("line", [pytest.param(line, id=what) for what, line in other_bytes()])
def test_other_bytes_are_not_canonical(line: bytes) -> None:
    with pytest.raises(NotCanonical):
        decode(line)


def test_what_is_at_the_limits_is_canonical() -> None:
    line = plain_claim()
    assert accepted(line[:-1] + b',"novel":' + b"[" * 11 + b"]" * 11 + b"}")
    assert accepted(line[:-1] + b',"novel":9007199254740991}')
    room = (1 << 20) - len(line) - len(b',"novel":""')
    assert accepted(line[:-1] + b',"novel":"' + b"x" * room + b'"}')
    assert not accepted(line[:-1] + b',"novel":"' + b"x" * (room + 1) + b'"}')


def test_another_order_behind_the_prefix_is_canonical_too() -> None:
    document = orjson.loads(plain_claim())
    head = {key: document.pop(key) for key in ("prev", "seq", "rest", "v")}
    backwards = orjson.dumps({**head, **dict(reversed(document.items()))})
    assert decode(backwards) == decode(plain_claim())
