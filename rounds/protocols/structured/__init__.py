"""`structured`: four roles and a neutral verifier, rounds of phases A–H, and a closing synthesis S (SD-1 … SD-59).

Laws
 1. A round runs B, C, D, E.position, E.checks (1, 2 and 4), E.check3, E.rejudge, F, G, H in this order; steps of one
    group run side by side and see nothing of each other. A check that is judged again is judged from the brief of its
    first judgement with the artifacts in the other order; it sees no verdict that the first one did not see.
 2. In a stress round the absent role has no step in A–H, and a check that needs its artifact is not asked of anybody.
 3. Claims proposed in D are minted when D closes, so that E can bear on them; those of F from the next round on.
 4. A position is sealed before any verdict of its check is known.
 5. The verifier is nobody's author: it writes checks, drift checks and resolutions, never a claim or a decision.
 6. S follows the last G, or the first look whose stop is obeyed; it raises no new claim.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from ledger.events.ids import StepName
from ledger.state.state import State
from roles.protocol import Group, Protocol, RoleDefinition, Step, View
from roles.replies import (
    ActionArtifact,
    AssessmentReply,
    CheckReply,
    ClosingReply,
    CriticArtifact,
    DriftReply,
    GuardianArtifact,
    ObserverArtifact,
    PositionReply,
    Reply,
    ResolveReply,
    RetrospectiveReply,
    ReviewReply,
    StatementReply,
)
from rounds.protocols.losses import LOSSES
from rounds.protocols.structured.owed import missing_checks
from rounds.protocols.structured.problems import problems
from rounds.protocols.structured.records import close, give_up, record
from rounds.protocols.structured.visibility import VISIBILITY, row_of
from rounds.run.schedule import active_roles, applicable_checks, plan_row, rejudged_checks, synthesis_is_due

ROLES: Final = (
    RoleDefinition("action", "What does the system do, step by step?", "charters/action"),
    RoleDefinition("guardian", "What must hold, whatever happens?", "charters/guardian"),
    RoleDefinition("observer", "Can a real operator get through?", "charters/observer"),
    RoleDefinition("critic", "What is the strongest argument against it?", "charters/critic"),
    RoleDefinition("verifier", "What does the evidence show?", "charters/verifier"),
)
AUTHORS: Final = ("action", "guardian", "observer", "critic")

_ARTIFACT_REPLIES: Final[dict[str, type[Reply]]] = {
    "action": ActionArtifact,
    "guardian": GuardianArtifact,
    "observer": ObserverArtifact,
    "critic": CriticArtifact,
}
_REPLIES: Final[dict[str, type[Reply]]] = {
    "B": StatementReply,
    "C": StatementReply,
    "E.position": PositionReply,
    "F": ReviewReply,
    "G": AssessmentReply,
    "H": DriftReply,
    "S.resolve": ResolveReply,
    "S.review": RetrospectiveReply,
    "S.close": ClosingReply,
}


def view(state: State, step: Step) -> View:
    """The row of the visibility table for this step."""
    del state
    return VISIBILITY[row_of(step)]


def reply_type(state: State, step: Step) -> type[Reply]:
    """The shape that this step asks for."""
    del state
    if step.task.startswith("D."):
        return _ARTIFACT_REPLIES[step.role]
    if step.task.startswith("E.check"):
        return CheckReply
    return _REPLIES[step.task]


def groups(state: State, round_: int) -> tuple[Group, ...]:
    """The groups of a round in order; S joins once it is known to follow."""
    row = plan_row(state, round_)
    present = active_roles(state, round_)
    opened = state.rounds[round_]
    lead = opened.lead or AUTHORS[0]
    found: list[Group] = []
    if "B" in row.phases:
        sealed = state.opened is None or state.opened.rules.get("positions") != "off"
        checks = applicable_checks(state, round_)
        again = rejudged_checks(state, round_)
        found += _deliberation(round_, lead, present, checks, again, sealed, row.drift)
    if synthesis_is_due(state, round_):
        resolve = _group("S.resolve", round_, "S", "resolve", ("verifier",), "S.resolve")
        pending = any(claim.status == "pending" for claim in state.claims.values())
        if pending or state.is_done(resolve.steps[0].id):
            found.append(resolve)
        found.append(_group("S.review", round_, "S", "review", AUTHORS, "S.review"))
        found.append(_group("S.close", round_, "S", "close", (lead,), "S.close"))
    return tuple(group for group in found if group.steps)


@cache
def _deliberation(
    round_: int,
    lead: str,
    present: tuple[str, ...],
    checks: tuple[int, ...],
    again: tuple[int, ...],
    sealed: bool,
    drift: bool,
) -> tuple[Group, ...]:
    """The groups of phases B to H."""
    others = tuple(role for role in present if role != lead)
    return (
        _group("B", round_, "B", None, (lead,), "B"),
        _group("C", round_, "C", None, others, "C"),
        _group("D", round_, "D", None, present, "D.{role}"),
        *_check_groups(round_, present, checks, sealed),
        Group("E.rejudge", "E", tuple(_again(round_, check) for check in again)),
        _group("F", round_, "F", None, present, "F"),
        _group("G", round_, "G", None, (lead,), "G"),
        *((_group("H", round_, "H", None, ("verifier",), "H"),) if drift else ()),
    )


def _check_groups(
    round_: int, present: tuple[str, ...], checks: tuple[int, ...], sealed: bool
) -> list[Group]:
    found: list[Group] = []
    if checks and sealed:
        found.append(_group("E.position", round_, "E", "position", present, "E.position"))
    together = tuple(
        _step("E.checks", round_, "E", f"check{n}", "verifier", f"E.check{n}") for n in checks if n != 3
    )
    found.append(Group("E.checks", "E", together))
    if 3 in checks:
        found.append(_group("E.check3", round_, "E", "check3", ("verifier",), "E.check3"))
    return found


@cache
def _group(name: str, round_: int, phase: str, act: str | None, roles: tuple[str, ...], task: str) -> Group:
    steps = tuple(_step(name, round_, phase, act, role, task.replace("{role}", role)) for role in roles)
    return Group(name, phase, steps)


@cache
def _step(group: str, round_: int, phase: str, act: str | None, role: str, task: str) -> Step:
    return Step(StepName(round_, phase, act, role), group, task)


@cache
def _again(round_: int, check: int) -> Step:
    """A check judged once more (`~2`): the same task, the artifacts in the other order."""
    return Step(StepName(round_, "E", f"check{check}", "verifier", 2), "E.rejudge", f"E.check{check}")


STRUCTURED: Final = Protocol(
    name="structured",
    version=1,
    summary="four roles cross-examine a question in rounds, with stress tests, drift checks and a synthesis",
    roles=ROLES,
    groups=groups,
    view=view,
    reply_type=reply_type,
    problems=problems,
    record=record,
    close=close,
    give_up=give_up,
    losses=LOSSES["structured"],
    owed=missing_checks,
    fits="a decision that is dear to undo and that several people will have to live with",
    calls="142 in minimum-8, 258 in standard-13, at most",
    variants={"positions": ("sealed", "off"), "rejudge": ("0", "1", "2", "3", "4")},
)
