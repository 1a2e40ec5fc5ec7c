"""Which events a pick of the visibility table shows, and in which order: never by seq (FORMAT 5, law 1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Event, Statement
from ledger.ids import StepName, number_of, parse_reference, parse_step
from roles.brief_v1.scene import Scene
from roles.brief_v2 import quoting
from roles.protocol import Pick
from roles.quoting import Quoted

_KINDS: Final = tuple(quoting.BY_KIND)


def picked(scene: Scene, pick: Pick) -> tuple[Event, ...]:
    """The events that a pick shows, in order: role, repetition, kind, number."""
    found = [event for event in scene.book.events if _is_picked(scene, pick, event)]
    return tuple(sorted(found, key=lambda event: _place(scene, event)))


def quoted(pick: Pick, event: Event) -> Quoted:
    """How a picked event is quoted."""
    if pick.sections and isinstance(event, Statement):
        return quoting.sections(event, pick.sections)
    return quoting.BY_KIND[event.kind](event)


def lost(scene: Scene, pick: Pick) -> Iterator[str]:
    """Steps that the pick would have shown and that were given up.

    Version 1 of a short protocol names every lost step of the phase, also where the pick shows another role's only.
    """
    for step in scene.state.given_up:
        name = parse_step(step)
        if name is None or name.phase != pick.phase or name.round != scene.round - pick.back:
            continue
        if scene.opened.protocol_version == 1 or _would_have_shown(scene, pick, name):
            yield step


def _is_picked(scene: Scene, pick: Pick, event: Event) -> bool:
    if event.round != scene.round - pick.back or event.phase != pick.phase:
        return False
    if event.kind not in (pick.kinds or _KINDS):
        return False
    name, asked = parse_step(event.step or ""), scene.step.name
    is_own = name is not None and _is_own(name, asked)
    match pick.whose:
        case "all":
            return True
        case "own":
            return is_own
        case "others":
            return not is_own
        case "target":
            return event.by == target_of(asked)
        case "aimed":
            aim = scene.book.by_id.get(_aim(event))
            return aim is not None and aim.by == asked.role


def _would_have_shown(scene: Scene, pick: Pick, name: StepName) -> bool:
    """Whether a pick would have shown what a lost step had handed in, as far as its name tells."""
    asked = scene.step.name
    match pick.whose:
        case "all":
            return True
        case "own":
            return _is_own(name, asked)
        case "others":
            return not _is_own(name, asked)
        case "target":
            return name.role == target_of(asked)
        case "aimed":  # a step that names no target could have aimed at anybody else
            return name.role != asked.role and target_of(name) in (None, asked.role)


def _is_own(name: StepName, asked: StepName) -> bool:
    return (name.role, name.repeat) == (asked.role, asked.repeat)


def target_of(name: StepName) -> str | None:
    """The role that an act is about: `on_safety` → safety."""
    return name.act.removeprefix("on_") if name.act and name.act.startswith("on_") else None


def _aim(event: Event) -> str:
    named = getattr(event, "target", None) or getattr(event, "to", None) or getattr(event, "of", None)
    return parse_reference(str(named or "")).id


def _place(scene: Scene, event: Event) -> tuple[int, int, int, int, str]:
    roles = scene.protocol.role_ids()
    role = roles.index(event.by) if event.by in roles else len(roles)
    if scene.step.name.repeat % 2 == 0:
        role = -role  # every second reading of the same records goes the other way round (XS-19)
    name = parse_step(event.step or "")
    identity = event.id or _aim(event)
    repeat = name.repeat if name else 1
    return (role, repeat, _KINDS.index(event.kind), number_of(identity), identity)
