"""JSON and plain values made into types: with one error for all that can be wrong with a file, and safe in threads.

The decoder itself raises three unrelated ones: for other values, for bytes that are not UTF-8, and for deep nesting.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Final, TypeVar

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
