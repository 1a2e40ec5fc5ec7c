"""JSON from a stranger's file or blob, decoded into a type, with one error for all that can be wrong with it.

The decoder itself raises three unrelated ones: for other values, for bytes that are not UTF-8, and for deep nesting.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

T = TypeVar("T")


class NotJson(ValueError):
    """Bytes that are not JSON of the expected type; the message says where."""


def decoded(content: bytes, kind: type[T]) -> T:
    """Return the value of a JSON text. Raises `NotJson`."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise NotJson(str(error)) from None
    except RecursionError:
        raise NotJson("nested too deeply") from None
