"""What a decision hangs on, as whoever makes it is asked from version 2 of the format on.

A run of version 1 is asked in the shape that it was opened with, where one field or none stood for both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta

from ledger.state.state import State
from roles.replies import Reply, Sentence

Falsifiers = Annotated[
    tuple[Sentence, ...],
    Meta(min_length=1, max_length=3, description="what would show the decision to be wrong"),
]
Requirements = Annotated[
    tuple[Sentence, ...], Meta(max_length=3, description="what has to be met before it is followed")
]


def from_format_2(before: type[Reply], now: type[Reply]) -> Callable[[State], type[Reply]]:
    """The shape of a deciding reply: `before` in a run of version 1 of the format, `now` in every other."""

    def shape(state: State) -> type[Reply]:
        return before if state.opening.v == 1 else now

    return shape


def hangs_on(reply: Reply) -> dict[str, Any]:
    """The fields of a decision that hold it; empty where the reply was not asked for them."""
    return {name: getattr(reply, name, ()) for name in ("falsifiers", "requirements")}
