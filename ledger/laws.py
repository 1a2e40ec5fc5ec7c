"""Laws of single events that the field types cannot say; one table read by the decoder and by the published schemas.

Counts, non-empty text and the shape of an artifact's body are waived for `by: import` (FORMAT 12): there they are
findings. Everything else holds for every line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from ledger.artifacts import BODIES
from ledger.events import Artifact, Event
from ledger.ids import ID_PATTERNS


@dataclass(frozen=True, slots=True)
class Length:
    """The list or string at `path` (`sections[].text`) holds at least / at most so many items or characters.

    Not asked when field `unless[0]` equals `unless[1]`; only asked when field `when[0]` equals `when[1]`.
    """

    path: str
    at_least: int = 0
    at_most: int | None = None
    unless: tuple[str, str] | None = None
    when: tuple[str, str] | None = None

    def broken(self, event: Event) -> str | None:
        """What is wrong with `event`, or None."""
        if self.unless and getattr(event, self.unless[0]) == self.unless[1]:
            return None
        if self.when and getattr(event, self.when[0]) != self.when[1]:
            return None
        for value in _values(event, self.path.split("[].")):
            if len(value) < self.at_least:
                return f"{self.path} needs at least {self.at_least}"
            if self.at_most is not None and len(value) > self.at_most:
                return f"{self.path} allows at most {self.at_most}"
        return None


@dataclass(frozen=True, slots=True)
class Paired:
    """Field `field` is set if and only if `condition` holds (`other` is set, or equals `equals`)."""

    field: str
    other: str
    equals: str | None = None

    def broken(self, event: Event) -> str | None:
        """What is wrong with `event`, or None."""
        present = getattr(event, self.field) is not None
        other = getattr(event, self.other)
        expected = other is not None if self.equals is None else other == self.equals
        if present == expected:
            return None
        return f"{self.field} must be {'set' if expected else 'null'} here"


Law = Length | Paired


def _values(value: Any, path: list[str]) -> Iterator[Any]:
    head, rest = path[0], path[1:]
    field = getattr(value, head)
    if not rest:
        if field is not None:
            yield field
        return
    for element in cast("tuple[Any, ...]", field):
        yield from _values(element, rest)


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

_ID_MATCH: Final[dict[str, Callable[[str], object]]] = {
    kind: re.compile(pattern).search for kind, pattern in ID_PATTERNS.items() if pattern
}


def broken_law(event: Event) -> str | None:
    """The first law that `event` breaks, in words; None when it keeps all."""
    match = _ID_MATCH.get(event.kind)
    identity = event.id
    if match is None:
        if identity is not None:
            return f"a {event.kind} has no id"
    elif identity is None or not match(identity):
        return f"id {identity!r} is not an id of a {event.kind}"
    if (event.call is None) != (not event.saw):
        return "saw is empty if and only if call is null"
    if event.via is not None and event.call is not None:
        return "an event with via has call null"
    if event.by == "import":
        return None
    for law in LAWS.get(event.kind, ()):
        problem = law.broken(event)
        if problem:
            return problem
    if isinstance(event, Artifact):
        try:
            msgspec.convert(event.body, BODIES[event.type])
        except msgspec.ValidationError as error:
            return f"body: {error}"
    return None
