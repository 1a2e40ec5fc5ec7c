"""Upcasting: events of version 1 are read as what they would be in version 2, and written again as they were.

Version 1 is published and read for ever; a run that began in it goes on in it. `CHANGED` says what version 2 added to
the kinds that were there before. From it come the shape of a line of version 1, the step up to the event that
everybody works with (what version 1 did not have is null or empty there), and the step back to the shape, for writing.

decision   version 1 has `conditions` for what version 2 tells apart. Which of the two it was depends on the run's
           protocol and not on the line, so it is read as `falsifiers`; `ledger.events.conditions` knows which it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, Literal, NamedTuple, cast, get_type_hints

import msgspec

from ledger.events import KINDS, Event
from ledger.events.claims import Artifact, Claim, Concern
from ledger.events.decisions import (
    Alarm,
    Cite,
    Decision,
    Dissent,
    Signals,
)
from ledger.events.envelope import Version
from ledger.events.run import (
    Amendment,
    RunClosed,
    RunOpened,
    StopRule,
)
from ledger.events.values import Prose
from ledger.events.verifications import DriftCheck, StatusChange, Verification

NEW_KINDS: Final = frozenset(
    {
        "belief",
        "frame",
        "experiment_planned",
        "experiment_run",
        "experiment_judged",
        "agenda",
        "memo",
    }
)
"""Kinds that version 1 does not have."""

_PROFILE = Literal["script", "text", "calibrated"]


class Changed(NamedTuple):
    """What version 2 changed of a struct: fields that it added, types that it widened, parts that changed in turn."""

    added: tuple[str, ...] = ()
    types: Mapping[str, Any] = {}
    parts: Mapping[str, type[msgspec.Struct]] = {}
    split: Mapping[str, tuple[str, tuple[str, ...]]] = {}
    """Field of version 1 → the field it stood behind, and the fields that hold it now; it is read into the first."""


CHANGED: Final[Mapping[type[msgspec.Struct], Changed]] = {
    Claim: Changed(("how", "moves", "places")),
    Concern: Changed(("sightings", "deciding"), {"type": Literal["concern", "tension", "question"]}),
    Artifact: Changed(
        types={
            "type": Literal[
                "behavioral_trace_set",
                "identity_invariant_check",
                "operator_walkthrough",
                "adversarial_test_case",
            ]
        }
    ),
    StatusChange: Changed(("class_", "evidence")),
    Verification: Changed(parts={"claim_status_changes": StatusChange}),
    DriftCheck: Changed(("sentences",)),
    StopRule: Changed(types={"profile": _PROFILE}),
    RunOpened: Changed(parts={"stop": StopRule}),
    Cite: Changed(
        types={
            "type": Literal[
                "claim",
                "verification",
                "decision",
                "concern",
                "challenge",
                "argument",
                "drift_check",
                "vote",
            ]
        }
    ),
    Dissent: Changed(("text",)),
    Decision: Changed(
        ("falsifiers", "requirements", "name", "result", "claims", "output"),
        parts={"cites": Cite, "dissent": Dissent},
        split={"conditions": ("confidence", ("falsifiers", "requirements"))},
    ),
    Signals: Changed(
        ("status", "reason", "leader", "pool", "movement", "noise", "values"), types={"profile": _PROFILE}
    ),
    Alarm: Changed(("name",)),
    Amendment: Changed(("name",)),
    RunClosed: Changed(
        types={
            "reason": Literal[
                "signals",
                "ready",
                "budget_rounds",
                "budget_usd",
                "budget_tokens",
                "budget_calls",
                "budget_minutes",
                "human",
                "seats_failed",
                "protocol_end",
                "not_ready",
            ]
        }
    ),
}


class NotInVersion1(ValueError):
    """An event that version 1 of the format cannot say."""


class Older(NamedTuple):
    """The shape of a line of version 1, and the steps from it and to it."""

    shape: type[msgspec.Struct]
    raised: Callable[[Any], Any]
    lowered: Callable[[Any], Any]


def shape_of(kind: str, version: int) -> type[Any] | None:
    """The type of the lines of a kind in a version; None when the version has no such kind."""
    if kind not in KINDS or (version == 1 and kind in NEW_KINDS):
        return None
    present = KINDS[kind][0]
    older = older_of(present) if version == 1 else None
    return present if older is None else older.shape


@cache
def present_of(shape: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """The struct that an old shape is the shape of; any other struct itself."""
    for present in CHANGED:
        older = older_of(present)
        if older is not None and older.shape is shape:
            return present
    return shape


def older_event(kind: str) -> Older | None:
    """How the lines of a kind were in version 1; None when they were as they are."""
    return older_of(KINDS[kind][0])


@cache
def older_of(present: type[msgspec.Struct]) -> Older | None:
    """How a struct was in version 1; None when it was as it is."""
    changed = CHANGED.get(present)
    if changed is None:
        return None
    parts = {name: cast("Older", older_of(part)) for name, part in changed.parts.items()}
    shape = _shape(present, changed, parts)
    return Older(shape, _raising(present, changed, parts), _lowering(shape, changed, parts))


def _shape(
    present: type[msgspec.Struct], changed: Changed, parts: Mapping[str, Older]
) -> type[msgspec.Struct]:
    """The fields of version 1 in their order."""
    hints = get_type_hints(present, include_extras=True)
    behind = {place: name for name, (place, _) in changed.split.items()}
    fields: list[tuple[str, Any]] = []
    for field in msgspec.structs.fields(present):
        if field.name in changed.added:
            continue
        part = parts.get(field.name)
        type_ = changed.types.get(field.name, hints[field.name])
        if part is not None:
            type_ = part.shape if field.type is changed.parts[field.name] else tuple[part.shape, ...]  # type: ignore[name-defined]
        fields.append((field.name, Literal[1] if field.name == "v" else type_))
        if field.name in behind:
            fields.append((behind[field.name], tuple[Prose, ...]))
    renamed = {one.name: one.encode_name for one in msgspec.structs.fields(present)}
    shape = msgspec.defstruct(
        f"{present.__name__}1",
        fields,
        frozen=True,
        kw_only=True,
        gc=False,
        rename=lambda name: renamed.get(name, name),
        module=__name__,
    )
    shape.__doc__ = present.__doc__
    return shape


def _raising(
    present: type[msgspec.Struct], changed: Changed, parts: Mapping[str, Older]
) -> Callable[[Any], Any]:
    fields_of = msgspec.structs.asdict
    if not parts and not changed.split:
        return lambda line: present(**fields_of(line))
    steps = [(name, older.raised) for name, older in parts.items()]
    moved = [(name, sources[0]) for name, (_, sources) in changed.split.items()]

    def raised(line: Any) -> Any:
        fields = fields_of(line)
        for name, step in steps:
            fields[name] = _each(fields[name], step)
        for name, now in moved:
            fields[now] = fields.pop(name)
        return present(**fields)

    return raised


def _lowering(
    shape: type[msgspec.Struct], changed: Changed, parts: Mapping[str, Older]
) -> Callable[[Any], Any]:
    kept = tuple(name for name in shape.__struct_fields__ if name not in changed.split)
    split = {source for _, sources in changed.split.values() for source in sources}
    empty = tuple(name for name in changed.added if name not in split)

    def lowered(event: Any) -> Any:
        for name in empty:
            if getattr(event, name) not in (None, (), {}, msgspec.UNSET):
                raise NotInVersion1(f"{name} does not occur in version 1 of the format")
        fields = {name: getattr(event, name) for name in kept}
        for name, older in parts.items():
            fields[name] = _each(fields[name], older.lowered)
        for name, (_, sources) in changed.split.items():
            fields[name] = tuple(text for source in sources for text in getattr(event, source))
        return shape(**fields)

    return lowered


def _each(value: Any, step: Callable[[Any], Any]) -> Any:
    return (
        tuple([step(one) for one in cast("tuple[Any, ...]", value)])
        if isinstance(value, tuple)
        else step(value)
    )


def in_version(event: Event, version: Version) -> Event:
    """The event as it is read again from a line of that version. Raises `NotInVersion1`."""
    event = msgspec.structs.replace(event, v=version)
    older = older_event(event.kind) if version == 1 else None
    return event if older is None else cast("Event", older.raised(older.lowered(event)))


def lowered(event: Event) -> msgspec.Struct:
    """An event of version 1 in the shape of its line. Raises `NotInVersion1`."""
    if event.kind in NEW_KINDS:
        raise NotInVersion1(f"a {event.kind} does not occur in version 1 of the format")
    older = older_event(event.kind)
    return event if older is None else cast("msgspec.Struct", older.lowered(event))
