"""The task: what to return, and every id that may be named, so that a seat needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from ledger.events import Position
from roles.brief_v1.scene import Block, Scene
from roles.protocol import Column
from roles.quoting import Quoted
from roles.templates import Row, Text, Values

Shown = Mapping[Column, tuple[Quoted, ...]]


def task_block(scene: Scene, shown: Shown) -> Block:
    """The task of the step."""
    task = scene.rendered(f"tasks/{scene.step.task}", _values(scene, shown)).rstrip("\n")
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


def _values(scene: Scene, shown: Shown) -> Values:
    failed = failed_drift(scene)

    def ids(*columns: Column) -> list[str]:
        return [quoted.name for column in columns for quoted in shown.get(column, ())]

    sealed = _own_positions(scene) if Column.POSITIONS in shown else []
    claims = ids(Column.OLD_CLAIMS, Column.CLAIMS)
    statuses = {identity: scene.state.claims[identity].status for identity in claims}
    whole = scene.view.get(Column.QUESTION)
    options = [option.id for option in scene.opened.options] if whole and whole.extent == "all" else []
    words: dict[str, Text] = {
        "round": scene.round,
        "role": scene.step.role,
        "goals": _line(goal.id for goal in scene.opened.goals),
        "options": _line(options),
        "claims": _line(claims),
        "may_move": _line(claim for claim in claims if statuses[claim] != "superseded"),
        "pending": _line(claim for claim in claims if statuses[claim] == "pending"),
        "replaceable": _line(claim for claim in claims if statuses[claim] not in ("pending", "superseded")),
        "decisions": _line(ids(Column.DECISIONS)),
        "statements": _line(ids(Column.PROPOSAL, Column.SUPPLEMENTS)),
        "artifacts": _line(ids(Column.ARTIFACTS)),
        "verdicts": _line(ids(Column.VERDICTS)),
        "tensions": _line(name for name in ids(Column.FLIPS) if name.startswith("N-")),
        "positions": _line(sealed),
        "failed_drift": _line(identity for identity, _ in failed),
        "roles": _line(_active(scene)) if Column.PLAN in shown else "none",
    }
    lists: dict[str, list[Row]] = {
        "checks": _checks(scene) if scene.step.task == "E.position" else [],
        "sealed": [{}] if sealed else [],
        "unsealed": [] if sealed else [{}],
        "first_round": [{}] if scene.round == 1 else [],
        "later_round": [{}] if scene.round > 1 else [],
        "some_failed_drift": [{}] if failed else [],
        "no_failed_drift": [] if failed else [{}],
    }
    return {**words, **lists}


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
