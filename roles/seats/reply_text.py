"""Find the one reply inside what a model or a program wrote around it.

    Here is the JSON:               a sentence before or after it
    ```json … ```                   a fence, closed or not
    … </think> {…}                  thinking, with or without the tag that opens it
    {"reply": "{…}"}                the envelope of a structured answer, fenced or not
    [{"type": "result", …}]         an array or lines of events
    U+FEFF {…}                      a byte order mark

A text that is one JSON object stays as it is: what is wrong with it is said when the reply is accepted. Of any other
text only an object that satisfies the step's schema counts, and only if there is exactly one: to choose between two
would be to answer for the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from json import JSONDecodeError, JSONDecoder, dumps
from typing import Any, Final, cast

SCAN_STARTS_MAX: Final = 2_000
"""Braces at which an object is looked for; a longer text of stray braces holds no reply."""
END_OF_THOUGHTS: Final = ("</think>", "</thinking>", "</thought>")
BYTE_ORDER_MARK: Final = "\ufeff"


def reply_in(content: bytes, schema: Mapping[str, Any]) -> bytes:
    """Return the one reply in `content`, or `content` as it is when there is none or more than one."""
    try:
        text = content.decode("utf-8").lstrip(BYTE_ORDER_MARK).strip()
    except UnicodeDecodeError:
        return content
    whole = _whole(text)
    if whole is None:
        text = _without_thoughts(text).strip()
        whole = _whole(text)
    if whole is not None:
        inner = unwrapped_object(whole)
        return text.encode() if inner is None or "reply" in schema.get("properties", {}) else inner.encode()
    fitting: dict[str, str] = {}
    for candidate in _candidates(text):
        value = _whole(candidate)
        if value is not None and _satisfies(value, schema):
            # Two spellings of the same object are one reply: models like to repeat it.
            fitting.setdefault(dumps(value, sort_keys=True), candidate)
    return next(iter(fitting.values())).encode() if len(fitting) == 1 else text.encode()


def objects_in(text: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield every outermost JSON object of a text, also inside arrays, with the text that spells it."""
    decoder = JSONDecoder()
    at, starts = text.find("{"), 0
    while at >= 0 and starts < SCAN_STARTS_MAX:
        starts += 1
        try:
            value, end = decoder.raw_decode(text, at)
        except (JSONDecodeError, RecursionError, ValueError):
            at = text.find("{", at + 1)
            continue
        yield cast("dict[str, Any]", value), text[at:end]
        at = text.find("{", end)


def unwrapped_object(value: Mapping[str, Any]) -> str | None:
    """Return the text inside an envelope `{"reply": …}`; None when the object is no envelope."""
    if list(value) != ["reply"]:
        return None
    inner = value["reply"]
    if isinstance(inner, dict):
        return dumps(inner, ensure_ascii=False)
    return inner if isinstance(inner, str) else None


def _whole(text: str) -> dict[str, Any] | None:
    try:
        value = JSONDecoder().decode(text)
    except (JSONDecodeError, RecursionError, ValueError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _without_thoughts(text: str) -> str:
    """Return what follows the last end of a thinking block; servers often swallow the tag that opens it."""
    ends = [at + len(tag) for tag in END_OF_THOUGHTS if (at := text.rfind(tag)) >= 0]
    return text[max(ends) :] if ends else text


def _candidates(text: str) -> Iterator[str]:
    """Yield every object, and what envelopes among them hold."""
    for value, spelled in objects_in(text):
        inner = unwrapped_object(value)
        yield spelled if inner is None else inner


def _satisfies(value: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    from jsonschema import Draft202012Validator  # 100 ms, and only a text around a reply needs it

    validator: Any = Draft202012Validator(dict(schema))
    return bool(validator.is_valid(value))
