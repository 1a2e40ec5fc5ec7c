"""Find the single reply in the output of a model or a program.

    Here is the JSON:               a sentence before or after it
    ```json … ```                   a fence, closed or not
    … </think> {…}                  thinking, with or without the tag that opens it
    {"reply": "{…}"}                the envelope of a structured answer, fenced or not
    [{"type": "result", …}]         an array or lines of events
    U+FEFF {…}                      a byte order mark

An output that is one JSON object is kept unchanged: its errors are reported when the reply is validated. In any other
output, only an object that satisfies the step's schema counts, and only if there is exactly one, because choosing
between two would be answering for the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import JSONDecoder, dumps
from typing import Any, Final, cast

SCAN_STARTS_MAX: Final = 2_000
"""Braces that are tried as the start of an object; bounds the time spent on a text full of stray braces."""
END_OF_THOUGHTS: Final = ("</think>", "</thinking>", "</thought>")
BYTE_ORDER_MARK: Final = "\ufeff"


def reply_in(content: bytes, schema: Mapping[str, Any]) -> bytes:
    """Return the single reply in `content`, or `content` unchanged when it holds none or more than one."""
    try:
        text = content.decode("utf-8").lstrip(BYTE_ORDER_MARK).strip()
    # Validation reports the position of the bad byte.
    except UnicodeDecodeError:
        return content
    whole = _whole(text)
    if whole is None:
        # Thinking is removed only when the whole text is not an object: a reply may quote such a tag.
        text = _without_thoughts(text).strip()
        whole = _whole(text)
    if whole is not None:
        inner = unwrapped_object(whole)
        # A reply type may itself have a field `reply`; then an object with that one field is not an envelope.
        return text.encode() if inner is None or "reply" in schema.get("properties", {}) else inner.encode()
    fitting: dict[str, str] = {}
    for candidate in _candidates(text):
        value = _whole(candidate)
        if value is not None and _satisfies(value, schema):
            # Two spellings of the same object are one reply: models like to repeat it.
            fitting.setdefault(dumps(value, sort_keys=True), candidate)
    return next(iter(fitting.values())).encode() if len(fitting) == 1 else text.encode()


def objects_in(text: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every outermost JSON object in a text, also inside arrays, with its source text."""
    decoder = JSONDecoder()
    at, starts = text.find("{"), 0
    while at >= 0 and starts < SCAN_STARTS_MAX:
        starts += 1
        try:
            value, end = decoder.raw_decode(text, at)
        except (RecursionError, ValueError):
            at = text.find("{", at + 1)
            continue
        yield cast("dict[str, Any]", value), text[at:end]
        at = text.find("{", end)


def unwrapped_object(value: Mapping[str, Any]) -> str | None:
    """Return the text inside an envelope `{"reply": …}`; None when the object is not an envelope."""
    if list(value) != ["reply"]:
        return None
    inner = value["reply"]
    if isinstance(inner, dict):
        return dumps(inner, ensure_ascii=False)
    return inner if isinstance(inner, str) else None


def _whole(text: str) -> dict[str, Any] | None:
    try:
        value = JSONDecoder().decode(text)
    except (RecursionError, ValueError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _without_thoughts(text: str) -> str:
    """Return the text after the last thinking block."""
    # Only the closing tag is searched for, because servers often drop the opening one.
    ends = [at + len(tag) for tag in END_OF_THOUGHTS if (at := text.rfind(tag)) >= 0]
    return text[max(ends) :] if ends else text


def _candidates(text: str) -> Iterator[str]:
    """Yield the text of every object, and the content of envelopes."""
    for value, spelled in objects_in(text):
        inner = unwrapped_object(value)
        yield spelled if inner is None else inner


def _satisfies(value: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    from jsonschema import Draft202012Validator  # 100 ms, and only a text around a reply needs it

    validator: Any = Draft202012Validator(dict(schema))
    return bool(validator.is_valid(value))
