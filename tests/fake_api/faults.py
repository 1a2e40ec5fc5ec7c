"""Faults on demand: what the fake does instead of answering, one a request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "status",  # an HTTP error
    "drop",  # the connection is closed before any byte
    "cut",  # the connection is closed in the middle of the stream
    "half_line",  # … in the middle of a line
    "stream_error",  # an error event in the middle of the stream
    "refusal",  # HTTP 200 with stop_reason refusal
    "max_tokens",  # the text stops half-way
    "malformed",  # text that is no JSON
    "schema",  # JSON that breaks the step's schema
    "empty",  # no text at all
    "huge",  # ten megabytes of text
    "raw",  # the bytes of `content`, with `headers`
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; `status` and `headers` are for `status` and `stream_error`."""

    kind: Kind
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    content: bytes = b""


def status(code: int, **headers: str) -> Fault:
    """An HTTP error; `retry_after="1"` sets the header."""
    return Fault("status", code, {name.replace("_", "-"): value for name, value in headers.items()})


def raw(content: object, *, code: int = 200, kind: str = "application/json") -> Fault:
    """A body of any form: bytes as they are, anything else as JSON."""
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Fault("raw", code, {"content-type": kind}, body)


def events(*data: object, name: str | None = None) -> Fault:
    """A stream of these events, then its end."""
    head = f"event: {name}\n" if name else ""
    lines = [f"{head}data: {json.dumps(one)}\n\n" for one in data]
    return raw("".join([*lines, "data: [DONE]\n\n"]).encode(), kind="text/event-stream")
