"""The task: what to return, and every id that may be named, so that a seat needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from ledger.events import Position
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
    made = {**_words(scene, shown), **_lists(scene, shown)}
    return {name: make() for name, make in made.items() if name in used}


def _words(scene: Scene, shown: Shown) -> dict[str, Callable[[], Text]]:
    def ids(*columns: Column) -> list[str]:
        return [quoted.name for column in columns for quoted in shown.get(column, ())]

    def claims(*excluded: Status) -> str:
        facts = scene.state.claims
        named = ids(Column.OLD_CLAIMS, Column.CLAIMS)
        return _line(claim for claim in named if facts[claim].status not in excluded)

    def pending() -> str:
        facts = scene.state.claims
        named = ids(Column.OLD_CLAIMS, Column.CLAIMS)
        return _line(claim for claim in named if facts[claim].status == "pending")

    def options() -> str:
        whole = scene.view.get(Column.QUESTION)
        return _line(option.id for option in scene.opened.options if whole and whole.extent == "all")

    return {
        "round": lambda: scene.round,
        "role": lambda: scene.step.role,
        "goals": lambda: _line(goal.id for goal in scene.opened.goals),
        "options": options,
        "claims": claims,
        "may_move": lambda: claims("superseded"),
        "pending": pending,
        "replaceable": lambda: claims("pending", "superseded"),
        "decisions": lambda: _line(ids(Column.DECISIONS)),
        "statements": lambda: _line(ids(Column.PROPOSAL, Column.SUPPLEMENTS)),
        "artifacts": lambda: _line(ids(Column.ARTIFACTS)),
        "verdicts": lambda: _line(ids(Column.VERDICTS)),
        "tensions": lambda: _line(name for name in ids(Column.FLIPS) if name.startswith("N-")),
        "positions": lambda: _line(_sealed(scene, shown)),
        "failed_drift": lambda: _line(identity for identity, _ in failed_drift(scene)),
        "roles": lambda: _line(_active(scene)) if Column.PLAN in shown else "none",
    }


def _lists(scene: Scene, shown: Shown) -> dict[str, Callable[[], Sequence[Row]]]:
    return {
        "checks": lambda: _checks(scene) if scene.step.task == "E.position" else [],
        "sealed": lambda: _once_if(_sealed(scene, shown)),
        "unsealed": lambda: _once_if(not _sealed(scene, shown)),
        "first_round": lambda: _once_if(scene.round == 1),
        "later_round": lambda: _once_if(scene.round > 1),
        "some_failed_drift": lambda: _once_if(failed_drift(scene)),
        "no_failed_drift": lambda: _once_if(not failed_drift(scene)),
    }


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
