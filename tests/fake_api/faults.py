"""Faults on demand: what the fake does instead of answering, one a request."""

from __future__ import annotations

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
]


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault; `status` and `headers` are for `status` and `stream_error`."""

    kind: Kind
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def status(code: int, **headers: str) -> Fault:
    """An HTTP error; `retry_after="1"` sets the header."""
    return Fault("status", code, {name.replace("_", "-"): value for name, value in headers.items()})
