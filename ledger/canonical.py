"""Canonical bytes: one event is one line, one line is one event (FORMAT 1).

    {"prev":"<64 hex>","seq":n,"rest":k,"v":1,"at":"…","kind":"claim",…}

`encode` writes the only form that moot writes. `decode` accepts what FORMAT calls canonical: the fixed prefix, bytes that
survive `orjson.dumps(orjson.loads(line))`, and the kind's schema. Both are exact inverses on moot's own lines, and then
the round trip through the typed event alone proves all three (the encoders agree on every code point; a test holds it).
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final, cast

import msgspec
import orjson

from ledger.events import KINDS, Event
from ledger.laws import broken_law
from ledger.values import DEPTH_MAX, LINE_BYTES_MAX

_PREFIX: Final = re.compile(
    rb'\{"prev":"[0-9a-f]{64}","seq":(?:0|[1-9][0-9]{0,15}),"rest":(?:0|[1-9][0-9]{0,15}),"v":([0-9]{1,6}),'
)
_USUAL: Final = re.compile(
    rb'"at":"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z","kind":"([a-z_]{1,24})",'
)
_AT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_STEP: Final = re.compile(
    r"r(?:0|[1-9][0-9]{0,3})\.[A-Za-z][A-Za-z0-9_]{0,23}(?:\.[a-z][a-z0-9_]{0,31}){1,2}(?:~(?:[2-9]|[1-9][0-9]+))?"
)
_SUSPECT: Final = (b"\\u00", b"\\b", b"\\f", b"\\r", b"\x7f", b"\xc2")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_ENCODER: Final = msgspec.json.Encoder()
_DECODERS: Final[dict[bytes, msgspec.json.Decoder[Event]]] = {
    kind.encode(): msgspec.json.Decoder(event_type) for kind, (event_type, _) in KINDS.items()
}


class NotCanonical(ValueError):
    """A line that is no event: the message says why, in one clause."""


class NewerVersion(NotCanonical):
    """A line written by a newer format; `version` is what a reader would need."""

    def __init__(self, version: int) -> None:
        super().__init__(f"format version {version} needs a newer moot")
        self.version = version


def encode(event: Event) -> bytes:
    """The line of `event`, without its line feed."""
    return _ENCODER.encode(event)


def line_hash(line: bytes) -> str:
    """SHA-256 of a line without its line feed, as 64 hex digits: what the next line's `prev` is."""
    return hashlib.sha256(line).hexdigest()


def decode(line: bytes) -> Event:
    """The event of a line without its line feed.

    Raises `NotCanonical` (or `NewerVersion`) when the line is not canonical or breaks its kind's schema.
    Unknown fields are accepted; `unknown_fields` names them.
    """
    prefix = _PREFIX.match(line)
    if prefix is None:
        raise NotCanonical("the line does not begin with prev, seq, rest and v")
    if prefix[1] != b"1":
        raise NewerVersion(int(prefix[1]))
    if len(line) > LINE_BYTES_MAX:
        raise NotCanonical(f"the line is longer than {LINE_BYTES_MAX} bytes")
    usual = _USUAL.match(line, prefix.end())
    decoder = _DECODERS.get(usual[1]) if usual else None
    try:
        event = decoder.decode(line) if decoder else _decode_unusual(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotCanonical(str(error)) from None
    except RecursionError:
        raise NotCanonical(f"nested deeper than {DEPTH_MAX}") from None
    if _ENCODER.encode(event) != line:
        _check_unusual(line, event)
    if event.step is not None and not _STEP.fullmatch(event.step):
        raise NotCanonical(f"step {event.step!r} is not a step id")
    for suspect in _SUSPECT:
        if suspect in line:
            _refuse_control_characters(orjson.loads(line))
            break
    if event.kind in _FREE_FORM:
        _check_free_form(getattr(event, _FREE_FORM[event.kind]), 2)
    problem = broken_law(event)
    if problem:
        raise NotCanonical(problem)
    return event


_FREE_FORM: Final = {"artifact": "body"}
"""Kinds with a field whose inner shape the types leave open: numbers and depth are checked by walking it."""


def _decode_unusual(line: bytes) -> Event:
    """A line whose fields after the prefix stand in another order, or whose kind is unknown."""
    kind = _loads(line).get("kind")
    decoder = _DECODERS.get(str(kind).encode())
    if decoder is None:
        raise NotCanonical(f"kind {kind!r} is unknown")
    return decoder.decode(line)


def _loads(line: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise NotCanonical(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise NotCanonical("not a JSON object")
    return cast("dict[str, Any]", value)


def _check_unusual(line: bytes, event: Event) -> None:
    """The slow path: unknown fields or another order, yet perhaps canonical by FORMAT's definition."""
    value = _loads(line)
    if orjson.dumps(value) != line:
        raise NotCanonical("the bytes are not the canonical form of their own content")
    if not _AT.fullmatch(event.at):
        raise NotCanonical(f"at {event.at!r} is not an instant")
    missing = _missing(value, orjson.loads(_ENCODER.encode(event)), "")
    if missing:
        raise NotCanonical(f"field {missing} is missing")
    _check_free_form(value, 1)


def _missing(found: Any, known: Any, path: str) -> str | None:
    """The first field of `known` that `found` lacks, as a path."""
    if isinstance(known, dict):
        if not isinstance(found, dict):
            return path or "(root)"
        for key, value in cast("dict[str, Any]", known).items():
            if key not in found:
                return f"{path}.{key}".lstrip(".")
            inner = _missing(cast("dict[str, Any]", found)[key], value, f"{path}.{key}")
            if inner:
                return inner
    if isinstance(known, list) and isinstance(found, list):
        pairs = zip(cast("list[Any]", found), cast("list[Any]", known), strict=False)
        for index, (one, other) in enumerate(pairs):
            inner = _missing(one, other, f"{path}[{index}]")
            if inner:
                return inner
    return None


def _check_free_form(value: Any, depth: int) -> None:
    if depth > DEPTH_MAX:
        raise NotCanonical(f"nested deeper than {DEPTH_MAX}")
    if isinstance(value, float):
        raise NotCanonical("a floating-point number occurs")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        raise NotCanonical("an integer beyond 2^53-1 occurs")
    if isinstance(value, dict):
        for inner in cast("dict[str, Any]", value).values():
            _check_free_form(inner, depth + 1)
    elif isinstance(value, list | tuple):
        for inner in cast("list[Any]", value):
            _check_free_form(inner, depth + 1)


def _refuse_control_characters(value: Any) -> None:
    if isinstance(value, str):
        found = _CONTROL.search(value)
        if found:
            raise NotCanonical(f"control character U+{ord(found[0]):04X} in a string")
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            _refuse_control_characters(key)
            _refuse_control_characters(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            _refuse_control_characters(inner)


def unknown_fields(line: bytes, event: Event) -> tuple[str, ...]:
    """Top-level fields of a canonical line that this version does not know, in the order read."""
    if _ENCODER.encode(event) == line:
        return ()
    known = {field.encode_name for field in msgspec.structs.fields(type(event))}
    return tuple(key for key in _loads(line) if key not in known)
