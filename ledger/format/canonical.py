"""Canonical bytes: one event is one line, one line is one event, and each line names the one before (FORMAT 1).

    line 0  {"prev":"000…0","seq":0,"rest":1,"v":3,"at":"…","kind":"run_opened",…}
    line 1  {"prev":"<sha256 of line 0>","seq":1,"rest":0,…}      head = (1, <sha256 of line 1>)

`encode` writes the only form that moot writes. `decode` accepts what FORMAT calls canonical: the fixed prefix, bytes
that survive `orjson.dumps(orjson.loads(line))`, and the kind's schema. Both are exact inverses on moot's own lines,
where the round trip through the typed event alone proves all of it (the two encoders agree on every code point; a test
holds that). Other lines, with unknown fields or another order, are judged by the definition itself.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

import msgspec
import orjson

from ledger.events import KINDS, Artifact, Event
from ledger.events.envelope import DEPTH_MAX, FORMAT, GENESIS, LINE_BYTES_MAX, SAFE_INTEGER
from ledger.events.laws import grammar, laws_of
from ledger.plain_json import built

_LINKS: Final = rb'\{"prev":"[0-9a-f]{64}","seq":(?:0|[1-9][0-9]{0,15}),"rest":(?:0|[1-9][0-9]{0,15}),'
_D: Final = b"[0-9]"  # written out below: a counted repetition costs more than what it counts
_INSTANT: Final = (
    b"-".join([_D * 4, _D * 2, _D * 2]) + b"T" + b":".join([_D * 2] * 3) + rb"\." + _D * 6 + b"Z"
)
_BEHIND: Final = rb'"v":3,"at":"' + _INSTANT + rb'","kind":"([a-z_]+)",'
_usual: Final = re.compile(_LINKS + _BEHIND).match
_usual_after_links: Final = re.compile(_BEHIND).match
_version: Final = re.compile(_LINKS + rb'"v":([1-9][0-9]{0,5}),').match
_AT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_ESCAPE: Final = re.compile(rb'\\[^nt"\\]')
_C1: Final = re.compile(rb"\xc2[\x80-\x9f]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_encode: Final = msgspec.json.Encoder().encode


class NotCanonical(ValueError):
    """Line that is not an event. The message gives the reason in one clause."""


class OtherVersion(NotCanonical):
    """Line in another version of the format: a later one, or one of release 0.1."""

    def __init__(self, version: int) -> None:
        super().__init__(f"version {version} of the format is not the one that this moot reads ({FORMAT})")
        self.version = version


class _Kind(NamedTuple):
    """Decoder and checks for the lines of one kind, built when the first such line is read."""

    decode: Callable[[bytes], Event]
    bad_form: Callable[[Event], str | None]
    broken_law: Callable[[Event], str | None]


@lru_cache(128)
def _kind(name: bytes) -> _Kind | None:
    kind = name.decode("ascii", "replace")
    if kind not in KINDS:
        return None
    return _Kind(msgspec.json.Decoder(built(KINDS[kind].model)).decode, grammar(kind), laws_of(kind))


def encode(event: Event) -> bytes:
    """Return the line of `event`, without its line feed."""
    return _encode(event)


def line_hash(line: bytes) -> str:
    """Return SHA-256 of a line without its line feed, as 64 hex digits: the next line's `prev`."""
    return hashlib.sha256(line).hexdigest()


def decode(line: bytes, proven: int = 0) -> Event:
    """Return the event of a line without its line feed.

    The first `proven` bytes, up to after `rest`, are known to be right.

    Raises `NotCanonical` (or `OtherVersion`) when the line is not canonical or breaks its kind's schema.
    Unknown fields are accepted; `unknown_fields` names them.
    """
    # The length is checked before any parser sees the line: a hostile file may hold one of any size.
    if len(line) > LINE_BYTES_MAX:
        raise NotCanonical(f"the line is longer than {LINE_BYTES_MAX} bytes")
    try:
        usual = _usual_after_links(line, proven) if proven else _usual(line)
        kind = _kind(usual[1] if usual else _unusual_kind(line))
        if kind is None:
            raise NotCanonical("its kind is unknown")
        read, bad_form, broken_law = kind
        event = read(line)
        # Writing the event again and comparing bytes proves field order, escapes and number forms at once,
        # without a second parser.
        if usual is None or _encode(event) != line:
            _check_by_definition(line, event)
        if (
            (b"\\" in line and _ESCAPE.search(line))
            or b"\x7f" in line
            or (b"\xc2" in line and _C1.search(line))
        ):
            refuse_control_characters(parse(line))
        problem = bad_form(event) or broken_law(event)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotCanonical(str(error)) from None
    # A hostile line may nest deeper than the interpreter's stack before any depth check of ours runs.
    except RecursionError:
        raise NotCanonical(f"nested deeper than {DEPTH_MAX}") from None
    if problem:
        raise NotCanonical(problem)
    if event.by == "import" and isinstance(event, Artifact):
        check_numbers_and_depth(event.body, 2)  # others have the closed shape of their type
    return event


def _unusual_kind(line: bytes) -> bytes:
    """Return the kind of a line in which `v`, `at` and `kind` do not follow one another as moot writes them."""
    version = _version(line)
    # Only after prev, seq and rest are recognized may a line be called one of another version; otherwise it is
    # just damaged.
    if version is None:
        raise NotCanonical("the line does not begin with prev, seq, rest and v")
    if int(version[1]) != FORMAT:
        raise OtherVersion(int(version[1]))
    kind = parse(line).get("kind")
    return kind.encode() if isinstance(kind, str) else b""


def _check_by_definition(line: bytes, event: Any) -> None:
    """Check a line with unknown fields or another order of fields, which may still be canonical. Slow path."""
    value = parse(line)
    check_numbers_and_depth(value, 1)
    if orjson.dumps(value) != line:
        raise NotCanonical("the bytes are not the canonical form of their own content")
    if not _AT.fullmatch(event.at):
        raise NotCanonical(f"at {event.at!r} is not an instant")
    missing = _missing(value, orjson.loads(_encode(event)), "")
    if missing:
        raise NotCanonical(f"field {missing} is missing")


def _missing(stored: Any, known: Any, path: str) -> str | None:
    """Return the path of the first field of `known` that `stored` lacks, or None."""
    if isinstance(known, dict):
        for key, value in cast("dict[str, Any]", known).items():
            if key not in stored:
                return f"{path}.{key}".lstrip(".")
            inner = _missing(stored[key], value, f"{path}.{key}")
            if inner:
                return inner
    if isinstance(known, list):
        for index, (element, other) in enumerate(zip(stored, cast("list[Any]", known), strict=True)):
            inner = _missing(element, other, f"{path}[{index}]")
            if inner:
                return inner
    return None


def unknown_fields(line: bytes, event: Event) -> tuple[str, ...]:
    """Return top-level fields of a canonical line that this version does not know, in the order read."""
    if encode(event) == line:
        return ()
    known = {field.encode_name for field in msgspec.structs.fields(event)}
    return tuple(key for key in parse(line) if key not in known)


# The JSON profile: no fractions, bounded integers, bounded depth, no control characters.


def parse(line: bytes) -> dict[str, Any]:
    """Return the object that a line holds, with any numbers and text. Raises `NotCanonical`."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise NotCanonical(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise NotCanonical("not a JSON object")
    return cast("dict[str, Any]", value)


def check_numbers_and_depth(value: Any, depth: int) -> None:
    """Raise `NotCanonical` for numbers or nesting out of bounds, in values that no type bounds. The line is depth 1."""
    if isinstance(value, float):
        raise NotCanonical("a floating-point number occurs")
    if isinstance(value, int) and not -SAFE_INTEGER <= value <= SAFE_INTEGER:
        raise NotCanonical("an integer beyond 2^53-1 occurs")
    if not isinstance(value, dict | list):
        return
    if depth > DEPTH_MAX:
        raise NotCanonical(f"nested deeper than {DEPTH_MAX}")
    container = cast("dict[str, Any] | list[Any]", value)
    for inner in container.values() if isinstance(container, dict) else container:
        check_numbers_and_depth(inner, depth + 1)


def refuse_control_characters(value: Any) -> None:
    """Raise `NotCanonical` for a control character in any string of `value`, names of fields included.

    Tab and line feed are allowed.
    """
    if isinstance(value, str):
        match = _CONTROL.search(value)
        if match:
            raise NotCanonical(f"control character U+{ord(match[0]):04X} in a string")
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            refuse_control_characters(key)
            refuse_control_characters(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            refuse_control_characters(inner)


class Head(msgspec.Struct, frozen=True):
    """Last event of a ledger: its number and the hash of its line, which is the next line's `prev`."""

    seq: int
    hash: str


BEGINNING: Final = Head(-1, GENESIS)
"""The head of a ledger without events."""


class Sealed(msgspec.Struct, frozen=True):
    """One commit: events as they will be read again, their lines without line feed, the head they lead to."""

    events: tuple[Event, ...]
    lines: tuple[bytes, ...]
    head: Head


def seal(drafts: Sequence[Event], *, prev: str, seq: int, at: str) -> Sealed:
    """Return the commit that `drafts` make after the line with hash `prev`. The first event gets number `seq`.

    A draft that already has an `at` keeps it. Every line is decoded again before it is returned, so a line that no
    reader would accept is never written: raises `NotCanonical` then.
    """
    events: list[Event] = []
    lines: list[bytes] = []
    for index, draft in enumerate(drafts):
        rest = len(drafts) - 1 - index
        # `rest` counts down to 0, so a reader that meets a torn file knows how many events of the commit are
        # missing.
        event = msgspec.structs.replace(draft, prev=prev, seq=seq + index, rest=rest, at=draft.at or at)
        line = _encoded(event)
        prev = line_hash(line)
        # The decoded event is kept, not the draft: callers see exactly what every later reader will see.
        events.append(decode(line))
        lines.append(line)
    return Sealed(tuple(events), tuple(lines), Head(seq + len(drafts) - 1, prev))


def _encoded(event: Event) -> bytes:
    try:
        return encode(event)
    except (UnicodeEncodeError, OverflowError) as error:  # a lone surrogate, an integer beyond 64 bits
        raise NotCanonical(f"{event.kind} cannot be written: {error}") from None
