"""Conditions of a decision, as asked of the role that makes it."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from ledger.events.decisions import Requirement
from roles.replies import Reply, Sentence

Falsifiers = Annotated[
    tuple[Sentence, ...],
    Meta(min_length=1, max_length=3, description="what would show the decision to be wrong"),
]
Requirements = Annotated[
    tuple[Sentence, ...], Meta(max_length=3, description="what has to be met before it is followed")
]


def hangs_on(reply: Reply) -> dict[str, Any]:
    """Return the fields of a decision that hold its conditions; empty where the reply was not asked for them."""
    texts: tuple[str, ...] = getattr(reply, "requirements", ())
    return {
        "falsifiers": getattr(reply, "falsifiers", ()),
        "requirements": tuple(Requirement(text=text) for text in texts),
    }
