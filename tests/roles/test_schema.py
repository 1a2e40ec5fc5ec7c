"""Reply schemas: published as draft 2020-12, decoded strictly, explained with a path for every error.

Of `roles/replies.py`, `roles/reply_schemas.py`.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st
from jsonschema import Draft202012Validator

from roles import replies, reply_schemas
from roles.replies import CheckReply, CriticArtifact, PositionReply, Reply, ReviewReply, StatementReply
from roles.schema import (
    ERRORS_MAX,
    REPLY_BYTES_MAX,
    _is_perhaps_unclean,
    _unclean,
    explain,
    parse_reply,
    reply_schema,
    schema_of,
)
from tests.roles.runs import installed

TYPES: tuple[type[Reply], ...] = reply_schemas.REPLIES
GOLDEN = Path(__file__).parent / "golden" / "reply_schemas.json"

CHECK: dict[str, Any] = {
    "result": "BROKEN",
    "evidence": [{"ref": "A-1-critic#attack-2", "quote": "is gone"}, {"ref": "C-1-1", "quote": None}],
    "notes": "Played through trace 2.",
    "claims": [
        {
            "claim_id": "C-1-1",
            "bearing": "supports",
            "evidence": [{"ref": "A-1-action#trace-2", "quote": None}],
        },
        {"claim_id": "C-1-2", "bearing": None, "evidence": []},
    ],
    "about": [],
    "confidence": 4,
}


def _bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_a_schema_is_draft_2020_12_and_closed(kind: type[Reply]) -> None:
    schema: dict[str, Any] = dict(reply_schema(kind))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("draft/2020-12/schema")
    for name, definition in schema["$defs"].items():
        if definition.get("type") == "object":
            assert definition["additionalProperties"] is False, name
            assert definition["required"] == list(definition["properties"]), name


def test_schemas_are_frozen() -> None:
    for schema in (reply_schema, schema_of):
        made = {kind.__name__: hashlib.sha256(orjson.dumps(schema(kind))).hexdigest() for kind in TYPES}
        assert made == json.loads(GOLDEN.read_text())


def test_published_schemas_are_what_the_types_say() -> None:
    assert reply_schemas.main(["--check"]) == 0


@given(
    st.recursive(
        st.text(alphabet='a" \t\n\r\x0b\x00\x7f\x85\u2003\ud800\\u'),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner, max_size=3),
    ),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_an_unclean_string_is_never_passed_over(value: Any, ascii_only: bool, indent: int | None) -> None:
    """The glance at the whole text that spares a look into every string."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    if any(_unclean(value, "")):
        assert "\ud800" in text or _is_perhaps_unclean(text)  # a raw surrogate is no UTF-8


def test_tasks_name_every_field_of_their_reply() -> None:
    tasks = {
        "B": StatementReply,
        "C": StatementReply,
        "D.action": replies.ActionArtifact,
        "D.guardian": replies.GuardianArtifact,
        "D.observer": replies.ObserverArtifact,
        "D.critic": CriticArtifact,
        "E.position": PositionReply,
        **{f"E.check{n}": CheckReply for n in (1, 2, 3, 4)},
        "F": ReviewReply,
        "G": replies.AssessmentReply,
        "H": replies.DriftReply,
        "S.resolve": replies.ResolveReply,
        "S.review": replies.RetrospectiveReply,
        "S.close": replies.ClosingReply,
    }
    for task, kind in tasks.items():
        text = installed()["templates"][f"tasks/{task}"]
        fields = {
            field
            for definition in reply_schema(kind)["$defs"].values()
            for field in definition.get("properties", {})
        }
        unsaid = {field for field in fields if f"`{field}`" not in text} - {"ref", "quote", "always", "name"}
        assert unsaid == set(), task


@pytest.mark.parametrize(
    "raw",
    [
        _bytes(CHECK),
        b"\n  " + _bytes(CHECK) + b"\r\n",
        b"```json\n" + _bytes(CHECK) + b"\n```\n",
        b"```\n" + _bytes(CHECK) + b"```",
        _bytes({**CHECK, "notes": "two\nlines\tand ``` a fence"}),
    ],
)
def test_a_good_reply_is_read(raw: bytes) -> None:
    reply, errors = parse_reply(CheckReply, raw)
    assert isinstance(reply, CheckReply)
    assert errors == ()
    assert reply.evidence[0].quote == "is gone"


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b"", "(reply): empty"),
        (b"BROKEN, I think.", "(reply): not one JSON object"),
        (b"Here it is:\n" + _bytes(CHECK), "(reply): not one JSON object"),
        (_bytes(CHECK) + _bytes(CHECK), "(reply): not one JSON object: Extra data"),
        (_bytes(CHECK)[:-1], "(reply): not one JSON object"),
        (b"```json\n" + _bytes(CHECK), "(reply): not one JSON object"),
        (_bytes([CHECK]), "(reply): a JSON object is asked for"),
        (b"null", "(reply): a JSON object is asked for"),
        (b"\xff{}", "(reply): not UTF-8 at byte 0"),
        (b'{"result":"BROKEN","result":"ROBUST"}', "(reply): the field 'result' is given twice"),
        (b'{"confidence":NaN}', "(reply): NaN is not JSON"),
        (b'{"confidence":' + b"9" * 5_000 + b"}", "(reply): a number has too many digits"),
        (b'{"confidence":1e999}', "(reply): missing"),
        (b"[" * 100_000, "(reply): nested too deeply"),
        (b"{" + b" " * REPLY_BYTES_MAX + b"}", "(reply): 400002 bytes, more than 400000"),
        (b'{"notes":"a\\u0000b"}', "notes: control character U+0000"),
        (b'{"a":["x","a\\u0086b"]}', "a[1]: control character U+0086"),
        (b'{"notes":"\\ud800"}', "notes: a lone surrogate"),
        (b'{"notes":" \\n "}', "notes: nothing but white space"),
        (_bytes({**CHECK, "confidence": 9}), "confidence: 9 is more than 5"),
        (_bytes({**CHECK, "confidence": 4.0}), "confidence: Expected int, got float"),
        (_bytes({**CHECK, "confidence": 4.5}), "confidence: must be integer, not number"),
        (_bytes({**CHECK, "confidence": 1e300}), "confidence: 1e+300 is more than 5"),
        (_bytes({**CHECK, "confidence": True}), "confidence: must be integer, not boolean"),
        (_bytes({**CHECK, "confidence": "4"}), "confidence: must be integer, not string"),
        (_bytes({**CHECK, "result": "broken"}), "result: 'broken' is none of BROKEN, ROBUST, UNCLEAR"),
        (_bytes({**CHECK, "evidence": []}), "evidence: 0 entries, at least 1"),
        (_bytes({**CHECK, "notes": ""}), "notes: 0 characters, at least 1"),
        (_bytes({**CHECK, "verdict": "x"}), "(reply): not asked for: 'verdict'; the fields are result, "),
        (_bytes({"result": "ROBUST"}), "(reply): missing: evidence, notes, claims, about, confidence"),
    ],
)
def test_a_bad_reply_is_said_what_is_wrong_with_it(raw: bytes, error: str) -> None:
    reply, errors = parse_reply(CheckReply, raw)
    assert reply is None
    assert any(said.startswith(error) for said in errors), errors


def test_every_error_is_said_with_its_path() -> None:
    bad = copy.deepcopy(CHECK)
    bad["evidence"][0] = {"ref": "", "quote": 3}
    bad["claims"][1]["bearing"] = "proves"
    bad["confidence"] = 0
    assert set(parse_reply(CheckReply, _bytes(bad))[1]) == {
        "evidence[0].ref: 0 characters, at least 1",
        "evidence[0].quote: integer is none of the allowed types",
        "claims[1].bearing: 'proves' is none of contradicts, inconclusive, partly_contradicts, supports",
        "confidence: 0 is less than 1",
    }


def test_errors_are_bounded() -> None:
    bad = {**CHECK, "about": [""] * 500}
    assert len(parse_reply(CheckReply, _bytes(bad))[1]) <= ERRORS_MAX


@given(seed=st.integers(0, 100_000))
def test_the_decoder_and_the_published_schema_agree(seed: int) -> None:
    """A document with one random change is refused by the one if and only if by the other."""
    rng = random.Random(seed)
    mutated = copy.deepcopy(CHECK)
    _mutate(rng, mutated)
    reply, errors = parse_reply(CheckReply, _bytes(mutated))
    assert (reply is not None) == (not explain(reply_schema(CheckReply), mutated))
    assert (reply is None) == bool(errors)


def _mutate(rng: random.Random, value: Any) -> None:
    """Change one place somewhere inside `value`."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = rng.choice(keys)
    if isinstance(value[key], dict | list) and rng.random() < 0.7:
        _mutate(rng, value[key])
        return
    match rng.randrange(3):
        case 0:
            del value[key]
        case 1:
            value[key] = rng.choice(
                [None, 0, 3, 6, 2.5, True, "", "x", "BROKEN", "supports", [], {}, ["x"] * 40]
            )
        case _ if isinstance(value, dict):
            value[f"{key}_"] = value.pop(key)
        case _:
            value.append(value[key])
