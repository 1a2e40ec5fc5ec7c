"""CTX001, error: a conversation answers for one role, and says truly whether it is new.

Two roles in one conversation know each other's drafts, and their agreement is worth nothing.
Source: FORMAT 1 (`call.context`), FORMAT 5, law 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Contexts shared by two roles, and modes that the ledger contradicts."""
    owners: dict[str, str] = {}
    for event in docket.events:
        context = event.call.context if event.call else None
        if context is None:
            continue
        if (context.mode is None) != (context.id is None):
            yield Breach(event.seq, "a context has a mode if and only if it has an id")
        if context.id is None:
            continue
        owner = owners.get(context.id)
        if owner is not None and owner != event.by:
            yield Breach(event.seq, f"context {context.id} answers for {event.by} and served {owner} before")
        elif (context.mode == "fresh") != (owner is None):
            seen = "has not answered before" if owner is None else f"answered for {owner} before"
            yield Breach(event.seq, f"context {context.id} is called {context.mode}, but {seen}")
        owners.setdefault(context.id, event.by)


RULE: Final = Rule(
    code="CTX001",
    name="context_serves_one_role",
    severity="error",
    summary="A conversation answers for one role, and says truly whether it is new.",
    check=check,
    applies_to_imports=False,
)
