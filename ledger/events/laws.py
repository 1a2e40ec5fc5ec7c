"""Laws of single events that the field types cannot say: a table that the decoder and the schemas both read.

Counts, non-empty text and the shape of an artifact's body are waived for `by: import` (FORMAT 12): there they are
findings. Everything else holds for every line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

import msgspec

from ledger.events import Artifact, Event
from ledger.events.artifacts import BODIES
from ledger.events.ids import ID_PATTERNS
from ledger.events.law_checks import Broken, Law, Length, Paired, check_of, fused

__all__ = ["LAWS", "Law", "Length", "Paired", "broken_law", "broken_waived_laws", "laws_of"]

LAWS: Final[dict[str, tuple[Law, ...]]] = {
    "statement": (Length("sections", 1), Length("sections[].text", 1), Length("sections[].name", 1)),
    "artifact": (
        Length("proposed_claims", 0, 4),
        Length("proposed_claims", 1, when=("type", "adversarial_test_case")),
        Length("proposed_claims[].text", 1),
        Length("proposed_claims[].testable_as", 1),
        Length("findings[].text", 1),
    ),
    "claim": (Length("text", 1), Length("testable_as", 1)),
    "assumption": (Length("text", 1),),
    "argument": (Length("claim", 10), Length("reasoning", 20), Length("evidence", 5), Length("label", 1)),
    "concern": (Length("text", 1), Length("between", 2, when=("type", "tension"))),
    "rating": (Length("reason", 1),),
    "position": (Length("reason", 1),),
    "verification": (
        Length("evidence_refs", 2, unless=("result", "NOT_APPLICABLE")),
        Length("notes", 1),
    ),
    "challenge": (Length("claim", 1), Length("text", 1)),
    "response": (Length("text", 1), Length("evidence", 1, when=("outcome", "defend"))),
    "drift_check": (Length("notes", 1),),
    "validation": (Length("findings", 0, 100),),
    "run_opened": (Length("question", 1), Length("goals", 1), Length("goals[].text", 1)),
    "round_opened": (Length("focus", 1), Paired("predicted_signature", "absent")),
    "decision": (Length("text", 1), Length("cites", 1), Length("narratives", 0, 3)),
    "disposition": (Length("reason", 1), Paired("question", "disposition", "escalated")),
    "standing": (Length("reason", 1),),
    "vote": (Length("reasoning", 1),),
    "fallback": (Length("detail", 1),),
    "amendment": (Length("reason", 1),),
}
"""Kind → laws that are waived for `by: import`."""


def broken_law(event: Event) -> str | None:
    """The first law that `event` breaks, in words; None when it keeps all."""
    return laws_of(event.kind)(event)


def _matcher(pattern: str) -> Callable[[str], object]:
    return re.compile(
        re.sub(r"\((?!\?)", "(?:", pattern)
    ).match  # nobody asks for the groups, and they cost time


@cache
def laws_of(kind: str) -> Broken:
    """`broken_law` for the events of one kind, made for speed: what is usual is asked first and at once."""
    pattern = ID_PATTERNS.get(kind)
    is_id = _matcher(pattern) if pattern else None
    laws = fused(LAWS.get(kind, ()))
    has_body = kind == "artifact"

    def broken(event: Any) -> str | None:
        identity = event.id
        if (identity is None or not is_id(identity)) if is_id else identity is not None:
            return f"id {identity!r} is not an id of a {kind}" if is_id else f"a {kind} has no id"
        if (event.call is None) != (not event.saw):
            return "saw is empty if and only if call is null"
        if event.via is not None and event.call is not None:
            return "an event with via has call null"
        if event.by == "import":
            return None
        for law in laws:
            problem = law(event)
            if problem:
                return problem
        return _body(event) if has_body else None

    return broken


def broken_waived_laws(event: Event) -> Iterator[tuple[Law, str]]:
    """The laws waived for imports that `event` does not keep, each with what is wrong."""
    for law, broken in _waived(event.kind):
        problem = broken(event)
        if problem is not None:
            yield law, problem


@cache
def _waived(kind: str) -> tuple[tuple[Law, Broken], ...]:
    return tuple((law, check_of(law)) for law in LAWS.get(kind, ()))


def _body(event: Artifact) -> str | None:
    try:
        msgspec.convert(event.body, BODIES[event.type])
    except msgspec.ValidationError as error:
        return f"body: {error}"
    return None
