"""Hypothesis strategies: documents and events of every kind, made from the types and laws themselves.

A document is the parsed JSON of a lawful line, keys in their order; `orjson.dumps` of it is the line.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import orjson
from hypothesis import strategies as st
from msgspec import inspect

from ledger.events import KINDS, Event
from ledger.events.artifacts import BODIES, DELTA_PATTERN
from ledger.events.envelope import (
    AT_PATTERN,
    CONTEXT_PATTERN,
    DECIMAL_PATTERN,
    HEX64_PATTERN,
    ROLE_PATTERN,
    SAFE_INTEGER,
    STEP_PATTERN,
)
from ledger.events.kinds import Law, Length, Total
from ledger.format.canonical import decode

Document = dict[str, Any]

_CLEAN = st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t")
_ODD = '\\ " \\u0007 \n\t / \u2028 \u00a0 \U0001f600 é < \ufeff \ufffd \\'

roles = st.sampled_from(
    ["action", "guardian", "observer", "critic", "verifier", "controller", "human", "a", "b_2"]
)
hashes = st.binary(min_size=32, max_size=32).map(bytes.hex)
decimals = st.builds(
    lambda whole, digits, minus: f"{'-' * minus}{whole}{digits}",
    st.integers(1, 10**6),
    st.sampled_from(["", ".5", ".000001", ".123456789"]),
    st.integers(0, 1),
) | st.sampled_from(["0", "0.0", "0.5", "-0.5"])
rounds = st.integers(0, 9_999)


def texts(least: int = 0, most: int = 40) -> st.SearchStrategy[str]:
    """Text as a line may hold it: no control characters but tab and line feed."""
    odd = st.just((_ODD * (least // len(_ODD) + 1))[: max(least, most)])
    return st.text(_CLEAN, min_size=least, max_size=max(least, min(most, 12))) | odd


def _steps() -> st.SearchStrategy[str]:
    act = st.sampled_from(["", ".position", ".check1", ".on_safety"])
    repeat = st.sampled_from(["", "", "~2", "~10"])
    phase = st.sampled_from("ABCDEFGHS")
    return st.builds(lambda n, p, a, r, t: f"r{n}.{p}{a}.{r}{t}", rounds, phase, act, roles, repeat)


_FORMS: dict[str, st.SearchStrategy[str]] = {
    HEX64_PATTERN: hashes,
    AT_PATTERN: st.datetimes().map(
        lambda at: at.strftime("%Y").zfill(4) + at.strftime("-%m-%dT%H:%M:%S.%fZ")
    ),
    DECIMAL_PATTERN: decimals,
    ROLE_PATTERN: roles,
    STEP_PATTERN: _steps(),
    CONTEXT_PATTERN: st.integers(1, 10**6).map("c{}".format),
    DELTA_PATTERN: texts(1, 10).map("state.x[1]= ".__add__).filter(lambda text: text[11:].strip() != ""),
}

_LETTERS = {
    "claim": "C",
    "concern": "N",
    "assumption": "Q",
    "argument": "R",
    "challenge": "X",
    "response": "Y",
    "decision": "D",
    "verification": "V",
    "experiment_planned": "E",
}


def identities(kind: str) -> st.SearchStrategy[str | None]:
    """Ids of a kind, None for kinds without."""
    n = st.integers(1, 10**6)
    repeat = st.sampled_from(["", "~2"])
    match kind:
        case "statement":
            act = st.sampled_from(["", "-close"])
            return st.builds(lambda r, a, role, t: f"S-{r}-S{a}-{role}{t}", rounds, act, roles, repeat)
        case "artifact":
            return st.builds(lambda r, role, t: f"A-{r}-{role}{t}", rounds, roles, repeat)
        case "position" | "flip":
            letter = kind[0].upper()
            return st.builds(lambda r, k, role: f"{letter}-{r}-{k}-{role}", rounds, n, roles)
        case "belief":
            return st.builds(lambda r, role, t: f"B-{r}-{role}{t}", rounds, roles, repeat)
        case "memo":
            return st.builds(lambda r, t: f"M-{r}{t}", rounds, repeat)
        case "drift_check":
            return rounds.map("H-{}".format)
        case "vote":
            return st.builds(lambda r, k, role: f"VO-{r}-{k}-{role}", rounds, n, roles)
        case _ if kind in _LETTERS:
            return st.builds(lambda r, k: f"{_LETTERS[kind]}-{r}-{k}", rounds, n)
        case _:
            assert not KINDS[kind].id
            return st.none()


Laws = tuple[Law, ...]


def values(type_: inspect.Type, laws: Laws = (), path: str = "") -> st.SearchStrategy[Any]:
    """JSON values of a field's type; `path` is where in an event with these laws they stand."""
    least, most = _lengths(laws, path)
    match type_:
        case inspect.Metadata(type=inner, extra_json_schema=extra):
            pattern = (extra or {}).get("pattern")
            return _FORMS[pattern] if pattern else values(inner, laws, path)
        case inspect.UnionType(types=types):
            return st.one_of([values(one, laws, path) for one in types])
        case inspect.StructType():
            return _structs(type_, laws, f"{path}[]." if path else "")
        case inspect.VarTupleType(item_type=item, min_length=low, max_length=high):
            low = max(low or 0, least)
            top = min(high if high is not None else low + 2, most if most is not None else low + 2)
            return st.lists(values(item, laws, path), min_size=low, max_size=max(low, top))
        case inspect.DictType(value_type=inspect.AnyType()):
            return st.dictionaries(texts(0, 5), anything(), max_size=3)
        case inspect.DictType() if Total(path) in laws:
            return st.lists(texts(0, 5), min_size=1, max_size=4, unique=True).flatmap(_points)
        case inspect.DictType(value_type=inner):
            return st.dictionaries(texts(0, 5), values(inner), max_size=3)
        case inspect.StrType(min_length=low, max_length=high, pattern=pattern):
            return _FORMS[pattern] if pattern else texts(max(low or 0, least), min(high or 40, 40))
        case inspect.IntType(ge=low, le=high):
            assert isinstance(low, int)
            assert isinstance(high, int)
            return st.one_of(st.integers(low, min(high, max(low, 0) + 9)), st.sampled_from([low, high]))
        case inspect.BoolType():
            return st.booleans()
        case inspect.LiteralType(values=choices):
            return st.sampled_from(list(choices))
        case _:
            assert isinstance(type_, inspect.NoneType), type_
            return st.none()


def _points(keys: list[str]) -> st.SearchStrategy[dict[str, int]]:
    """Points that sum to 100."""
    cuts = st.lists(st.integers(0, 100), min_size=len(keys) - 1, max_size=len(keys) - 1).map(sorted)
    return cuts.map(
        lambda at: {key: high - low for key, low, high in zip(keys, [0, *at], [*at, 100], strict=True)}
    )


def _lengths(laws: Laws, path: str) -> tuple[int, int | None]:
    """What the laws want at `path`, conditions taken as met."""
    lengths = [law for law in laws if isinstance(law, Length) and law.path == path]
    tops = [law.at_most for law in lengths if law.at_most is not None]
    return max((law.at_least for law in lengths), default=0), min(tops, default=None)


def _structs(info: inspect.StructType, laws: Laws, prefix: str) -> st.SearchStrategy[Document]:
    fields = {field.encode_name: values(field.type, laws, prefix + field.name) for field in info.fields}
    return st.tuples(*fields.values()).map(lambda drawn: dict(zip(fields, drawn, strict=True)))


def anything(depth: int = 3) -> st.SearchStrategy[Any]:
    """Any tame JSON value."""
    scalars = st.none() | st.booleans() | st.integers(-SAFE_INTEGER, SAFE_INTEGER) | texts(0, 8)
    if depth == 0:
        return scalars
    inner = anything(depth - 1)
    return scalars | st.lists(inner, max_size=2) | st.dictionaries(texts(0, 5), inner, max_size=2)


@cache
def _fields(kind: str, *, imported: bool) -> st.SearchStrategy[Document]:
    info = inspect.type_info(KINDS[kind].model)
    assert isinstance(info, inspect.StructType)
    return _structs(info, () if imported else KINDS[kind].laws, "")


@cache
def _bodies(type_: str) -> st.SearchStrategy[Document]:
    return values(inspect.type_info(next(body for name, body in BODIES.items() if name == type_)))


@st.composite
def documents(draw: st.DrawFn, kind: str) -> Document:
    """Lawful documents of a kind; one in five is imported, and then need not keep the laws that are waived."""
    imported = draw(st.integers(0, 4)) == 0
    document = draw(_fields(kind, imported=imported))
    document["kind"] = kind
    document["id"] = draw(identities(kind))
    if imported:
        document["by"] = "import"
    elif kind == "artifact":
        document["body"] = draw(_bodies(document["type"]))
    _keep_call_laws(draw, document)
    if kind == "disposition" and not imported:
        document["question"] = "why?" if document["disposition"] == "escalated" else None
    if kind == "round_opened" and not imported:
        document["predicted_signature"] = None if document["absent"] is None else []
    return document


def _keep_call_laws(draw: st.DrawFn, document: Document) -> None:
    if document["call"] is None:
        document["saw"] = []
        return
    document["via"] = None
    document["saw"] = sorted(draw(st.sets(st.integers(0, 1_000), min_size=1, max_size=4)))


def events(kind: str) -> st.SearchStrategy[Event]:
    """Lawful events of a kind."""
    return documents(kind).map(lambda document: decode(orjson.dumps(document)))
