"""Version 2 of the derivation of a brief: the short protocols, whose tables pick what earlier steps handed in.

Laws
1. What a brief shows had happened when the step's group opened; what arrives later changes nothing.
2. Records are ordered by role, repetition, kind and number, never by seq; for every second repetition the roles go the
   other way round.
3. Nothing is shown but the question (where the table has it), what the picks name, and the step's own role and task.
4. Seats, models, costs, other roles' charters and seqs never occur.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ledger.book import Book
from ledger.events import Event
from roles.brief_v1 import settled
from roles.brief_v1.blocks import Derived, frame, role_block
from roles.brief_v1.opening import scene_at_opening
from roles.brief_v1.scene import Block, Scene, Shared
from roles.brief_v2.picking import lost, picked, quoted, target_of
from roles.brief_v2.quoting import BY_KIND
from roles.prompt_set import PromptSet, template
from roles.protocol import Column, Pick, Protocol, Sight, Step, Whose
from roles.templates import Row, Values, names, render

_WHOSE: Final[tuple[Whose, ...]] = ("all", "own", "others", "target", "aimed")


def derive(
    ledger: Book, protocol: Protocol, step: Step, prompt_set: PromptSet, shared: Shared | None = None
) -> Derived:
    """The blocks of a step's brief and the events that they show."""
    scene = scene_at_opening(ledger, protocol, step, prompt_set, shared)
    view = scene.view
    blocks, saw = [frame(scene)], {scene.opened.seq}
    whole = view.get(Column.QUESTION)
    if whole is not None:
        quotations = settled.question(scene, whole)
        blocks.append(
            Block("question", _heading(scene, "question", {"none": [], **_flags((), whole.extent)}))
        )
        blocks += [scene.shared.block_of(each) for each in quotations]
    picks = tuple(
        pick for pick in view.get(Column.RECORD, Sight("picked")).picks if _was_planned(scene, pick)
    )
    shown: list[Event] = []
    for pick in picks:
        events = picked(scene, pick)
        shown += events
        blocks.append(_record(scene, pick, events))
    saw |= {event.seq for event in shown}
    blocks += [role_block(scene), _task(scene, picks, shown)]
    return Derived(tuple(blocks), tuple(sorted(saw)), scene.state)


def _was_planned(scene: Scene, pick: Pick) -> bool:
    """Whether the round that the pick looks at has its phase: otherwise nothing is said about it."""
    return any(row.round == scene.round - pick.back and pick.phase in row.phases for row in scene.opened.plan)


def _record(scene: Scene, pick: Pick, events: Sequence[Event]) -> Block:
    values: Values = {
        "phase": pick.phase,
        "target": target_of(scene.step.name) or "",
        "none": [] if events else [{}],
        "earlier": [{"round": scene.round - pick.back}] if pick.back else [],
        **_flags(_WHOSE, pick.whose),
    }
    texts = [quoted(pick, event).text + "\n" for event in events]
    return Block(pick.phase, "\n".join([_heading(scene, "record", values), *texts]))


def _heading(scene: Scene, name: str, values: Values) -> str:
    path = f"blocks/{name}"
    used = names(template(scene.prompt_set, path))
    unset: Values = {flag: [] for flag in used if flag not in values}
    return scene.rendered(path, {**unset, **values})


def _flags(all_values: Iterable[str], holds: str) -> dict[str, list[Row]]:
    flags: dict[str, list[Row]] = {value: [] for value in all_values}
    flags[holds] = [{}]
    return flags


def _task(scene: Scene, picks: Sequence[Pick], shown: Sequence[Event]) -> Block:
    path = f"tasks/{scene.step.task}"
    values = _values(scene, picks, shown)
    task = render(template(scene.prompt_set, path), values).rstrip("\n")
    return Block("task", scene.rendered("blocks/task", {"step": scene.step.id, "task": task}))


def _values(scene: Scene, picks: Sequence[Pick], shown: Sequence[Event]) -> Values:
    """What a task can name: ids by kind (all, one's own, others'), goals, options, named variants, what is missing."""
    missing: list[Row] = [{"lost": step} for pick in picks for step in lost(scene, pick)]
    values: dict[str, str | int | Sequence[Row]] = {
        "round": scene.round,
        "role": scene.step.role,
        "focus": _focus(scene),
        "target": target_of(scene.step.name) or "",
        "goals": _line(goal.id for goal in scene.opened.goals),
        "options": _line(option.id for option in scene.opened.options),
        "roles": _line(scene.state.roles),
        "some_lost": [{}] if missing else [],
        "missing": missing,
        "first_round": [{}] if scene.round == 1 else [],
        "later_round": [{}] if scene.round > 1 else [],
    }
    for kind in BY_KIND:
        of_kind = [event for event in shown if event.kind == kind and event.id]
        values[f"{kind}s"] = _line(str(event.id) for event in of_kind)
        values[f"own_{kind}s"] = _line(str(e.id) for e in of_kind if e.by == scene.step.role)
        values[f"other_{kind}s"] = _line(str(e.id) for e in of_kind if e.by != scene.step.role)
    return {**values, **_variants(scene.protocol, scene.opened.rules)}


def _focus(scene: Scene) -> str:
    """The plan's focus of the round, which is ours: never the question."""
    rows = [row for row in scene.opened.plan if row.round == scene.round]
    return (rows[0].focus if rows else None) or "none"


def _variants(protocol: Protocol, rules: Mapping[str, object]) -> dict[str, str | Sequence[Row]]:
    """Every named variant as a word, and as a list `rule_value` that is not empty for the value in force."""
    values: dict[str, str | Sequence[Row]] = {}
    for rule, known in protocol.variants.items():
        values[rule] = str(rules.get(rule))
        for value in known:
            values[f"{rule}_{value}"] = [{}] if rules.get(rule) == value else []
    return values


def _line(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"
