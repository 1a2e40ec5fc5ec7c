"""JSON and plain values made into types: with one error for all that can be wrong with a file, and safe in threads.

The decoder itself raises three unrelated ones: for other values, for bytes that are not UTF-8, and for deep nesting.
"""

from __future__ import annotations

from json import JSONDecodeError, loads
from threading import Lock
from typing import Any, Final, TypeVar, cast

import msgspec

T = TypeVar("T")
_BUILT: Final = set[Any]()
_BUILDING: Final = Lock()


class NotJson(ValueError):
    """Bytes that are not JSON of the expected type; the message says where."""


def built(kind: type[T]) -> type[T]:
    """Return a type whose fields msgspec has looked up.

    Two threads that have it look up the same type at once end the process (msgspec 0.22).
    """
    if kind not in _BUILT:
        with _BUILDING:
            msgspec.json.Decoder(kind)
            _BUILT.add(kind)
    return kind


def converted(value: object, kind: type[T], *, from_attributes: bool = False) -> T:
    """Return a plain value as a type. Raises `msgspec.ValidationError`."""
    return msgspec.convert(value, built(kind), from_attributes=from_attributes)


def decoded(content: bytes, kind: type[T]) -> T:
    """Return the value of a JSON text. Raises `NotJson`."""
    try:
        return msgspec.json.decode(content, type=built(kind))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotJson(str(error)) from None
    except RecursionError:
        raise NotJson("nested too deeply") from None


def json_object(text: str) -> dict[str, Any]:
    """Return the one JSON object that a person or a model wrote. Raises `NotJson`, with the place of the error."""
    # The standard library is slower than msgspec, but reports repeated keys, `NaN` and the column of an error.
    try:
        value = loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse)
    except JSONDecodeError as error:
        raise NotJson(
            f"not one JSON object: {error.msg.removesuffix(' at')} at line {error.lineno}, column {error.colno}"
        ) from None
    except NotJson:
        raise
    except ValueError:
        # Python limits the digits of an integer, against attacks with quadratic parsing time.
        raise NotJson("a number has too many digits") from None
    except RecursionError:
        raise NotJson("nested too deeply") from None
    if not isinstance(value, dict):
        raise NotJson("a JSON object is asked for")
    return cast("dict[str, Any]", value)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    # The last of two equal keys would win silently, so that a reader of the file might see another value.
    if len(fields) == len(pairs):
        return fields
    fields.clear()
    for key, value in pairs:
        if key in fields:
            raise NotJson(f"the field {key[:60]!r} is given twice in one object")
        fields[key] = value
    return fields


def _refuse(constant: str) -> None:
    raise NotJson(f"{constant} is not JSON")
