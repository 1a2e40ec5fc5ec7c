"""The task: what to return, and every id that may be named, so that a seat needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final

from ledger.events import Position
from ledger.lifecycle import STATUSES, TESTED
from ledger.values import Status
from roles.brief_v1.scene import Block, Scene
from roles.prompt_set import template
from roles.protocol import Column
from roles.quoting import Quoted
from roles.templates import Row, Text, Values, names

Shown = Mapping[Column, tuple[Quoted, ...]]


def task_block(scene: Scene, shown: Shown) -> Block:
    """The task of the step."""
    path = f"tasks/{scene.step.task}"
    used = names(template(scene.prompt_set, path))
    task = scene.rendered(path, _values(scene, shown, used)).rstrip("\n")
    return Block("task", scene.rendered("blocks/task", {"step": scene.step.id, "task": task}))


def failed_drift(scene: Scene) -> tuple[tuple[str, int], ...]:
    """Drift checks that failed and that no later one answers: (id, seq). Only a drift check answers them."""
    if scene.step.name.phase != "H":
        return ()
    answered = {facts.addresses for facts in scene.state.drift.values()}
    return tuple(
        (facts.id, facts.seq)
        for _, facts in sorted(scene.state.drift.items())
        if facts.verdict == "FAIL" and facts.id not in answered
    )


def _values(scene: Scene, shown: Shown, used: frozenset[str]) -> Values:
    """What the task's template uses, and no more: most of it is made from every claim that is shown."""
    return {name: _VALUES[name](scene, shown) for name in used if name in _VALUES}


def _ids(shown: Shown, *columns: Column) -> list[str]:
    return [quoted.name for column in columns for quoted in shown.get(column, ())]


def _options(scene: Scene, shown: Shown) -> str:
    del shown
    whole = scene.view.get(Column.QUESTION)
    return _line(option.id for option in scene.opened.options if whole and whole.extent == "all")


def _claims(statuses: Collection[Status]) -> Callable[[Scene, Shown], str]:
    """Ids of the claims that are shown and stand in one of these ways."""

    def line(scene: Scene, shown: Shown) -> str:
        facts, named = scene.state.claims, _ids(shown, Column.OLD_CLAIMS, Column.CLAIMS)
        return _line(claim for claim in named if facts[claim].status in statuses)

    return line


def _once_if(holds: object) -> Sequence[Row]:
    return [{}] if holds else []


def _sealed(scene: Scene, shown: Shown) -> list[str]:
    return _own_positions(scene) if Column.POSITIONS in shown else []


def _line(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"


def _active(scene: Scene) -> list[str]:
    absent = scene.state.rounds[scene.round].absent
    return [role for role in scene.protocol.role_ids() if role not in (absent, "verifier")]


_CHECKS: Final[Mapping[int, str]] = {
    1: "the critic's attack on the action's traces",
    2: "the guardian's invariant on the observer's walkthrough",
    3: "the observer's friction against the critic's attack",
    4: "all artifacts against earlier decisions",
}


def _checks(scene: Scene) -> list[Row]:
    """The checks that will be asked: the applicable ones that the controller has not written off."""
    round_, checks = scene.round, scene.state.checks
    applicable = scene.state.rounds[round_].applicable
    return [
        {"n": check, "check": _CHECKS[check]}
        for check in applicable
        if check in _CHECKS and f"V-{round_}-{check}" not in checks
    ]


def _own_positions(scene: Scene) -> list[str]:
    own = [event for event in scene.of(Position, scene.round) if event.by == scene.step.role]
    own.sort(key=lambda event: event.check_id or 0)
    return [f"check {event.check_id} {event.stance} ({event.id})" for event in own]


_PENDING: Final[tuple[Status, ...]] = ("pending",)
_VALUES: Final[Mapping[str, Callable[[Scene, Shown], Text | Sequence[Row]]]] = {
    "round": lambda scene, _: scene.round,
    "role": lambda scene, _: scene.step.role,
    "goals": lambda scene, _: _line(goal.id for goal in scene.opened.goals),
    "options": _options,
    "claims": _claims(STATUSES),
    "may_move": _claims((*_PENDING, *TESTED)),
    "pending": _claims(_PENDING),
    "replaceable": _claims(TESTED),
    "decisions": lambda _, shown: _line(_ids(shown, Column.DECISIONS)),
    "statements": lambda _, shown: _line(_ids(shown, Column.PROPOSAL, Column.SUPPLEMENTS)),
    "artifacts": lambda _, shown: _line(_ids(shown, Column.ARTIFACTS)),
    "verdicts": lambda _, shown: _line(_ids(shown, Column.VERDICTS)),
    "tensions": lambda _, shown: _line(name for name in _ids(shown, Column.FLIPS) if name.startswith("N-")),
    "positions": lambda scene, shown: _line(_sealed(scene, shown)),
    "failed_drift": lambda scene, _: _line(identity for identity, _ in failed_drift(scene)),
    "roles": lambda scene, shown: _line(_active(scene)) if Column.PLAN in shown else "none",
    "checks": lambda scene, _: _checks(scene) if scene.step.task == "E.position" else [],
    "sealed": lambda scene, shown: _once_if(_sealed(scene, shown)),
    "unsealed": lambda scene, shown: _once_if(not _sealed(scene, shown)),
    "first_round": lambda scene, _: _once_if(scene.round == 1),
    "later_round": lambda scene, _: _once_if(scene.round > 1),
    "some_failed_drift": lambda scene, _: _once_if(failed_drift(scene)),
    "no_failed_drift": lambda scene, _: _once_if(not failed_drift(scene)),
}
"""Name in a template → what is put there."""
