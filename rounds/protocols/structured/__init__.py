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

from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final

from ledger.events import Event
from ledger.events.run import PlanRow
from ledger.state.state import State
from roles.protocol import Protocol, RoleDefinition, Rules, Step
from roles.replies import (
    ActionArtifact,
    ArtifactReply,
    AssessmentReply,
    CheckReply,
    ClosingReply,
    CriticArtifact,
    DriftReply,
    GuardianArtifact,
    NamedSection,
    ObserverArtifact,
    PositionReply,
    Reply,
    ResolveReply,
    RetrospectiveReply,
    ReviewReply,
    StatementReply,
)
from rounds.protocols.plans import AUTHORS, standard_13
from rounds.protocols.schedule import (
    active_roles,
    applicable_checks,
    plan_row,
    rejudged_checks,
    synthesis_is_due,
)
from rounds.protocols.step_table import Numbering, Sheet, StepRow, asks_each, statement_id
from rounds.protocols.structured import making, problems
from rounds.protocols.structured.unmade_checks import lost_verdict, missing_checks
from rounds.protocols.structured.visibility import VISIBILITY

ROLES: Final = (
    RoleDefinition("action", "What does the system do, step by step?", "charters/action"),
    RoleDefinition("guardian", "What must hold, whatever happens?", "charters/guardian"),
    RoleDefinition("observer", "Can a real operator get through?", "charters/observer"),
    RoleDefinition("critic", "What is the strongest argument against it?", "charters/critic"),
    RoleDefinition("verifier", "What does the evidence show?", "charters/verifier"),
)


# ---------------------------------------------------------------- who is asked


def _lead(state: State, round_: int) -> tuple[str, ...]:
    return (state.rounds[round_].lead or AUTHORS[0],)


def _others(state: State, round_: int) -> tuple[str, ...]:
    return tuple(role for role in active_roles(state, round_) if role != _lead(state, round_)[0])


def _verifier(state: State, round_: int) -> tuple[str, ...]:
    del state, round_
    return ("verifier",)


def _authors(state: State, round_: int) -> tuple[str, ...]:
    del state, round_
    return AUTHORS


def _present(role: str) -> Callable[[State, int], tuple[str, ...]]:
    return lambda state, round_: (role,) if role in active_roles(state, round_) else ()


# ---------------------------------------------------------------- when


def _seals(state: State, round_: int) -> bool:
    sealed = state.opened is None or state.opened.rules.get("positions") != "off"
    return sealed and bool(applicable_checks(state, round_))


def _is_made(check: int) -> Callable[[State, int], bool]:
    return lambda state, round_: check in applicable_checks(state, round_)


def _is_rejudged(check: int) -> Callable[[State, int], bool]:
    return lambda state, round_: check in rejudged_checks(state, round_)


def _checks_drift(state: State, round_: int) -> bool:
    return plan_row(state, round_).drift


def _resolves(state: State, round_: int) -> bool:
    """Claims are resolved where some are pending, or were until this step resolved them."""
    pending = any(claim.status == "pending" for claim in state.claims.values())
    return synthesis_is_due(state, round_) and (pending or state.is_done(f"r{round_}.S.resolve.verifier"))


def _follows_from(state: State, round_: int) -> Hashable:
    opened, row = state.rounds[round_], plan_row(state, round_)
    sealed, closing = _seals(state, round_), synthesis_is_due(state, round_)
    checks, again = applicable_checks(state, round_), rejudged_checks(state, round_)
    present = active_roles(state, round_)
    resolved = closing and _resolves(state, round_)
    return round_, row.phases, row.drift, opened.lead, present, checks, again, sealed, closing, resolved


# ---------------------------------------------------------------- what a reply yields


def _statement(kind: str) -> Callable[[Numbering, Step, Any], tuple[Event, ...]]:
    return lambda _, step, reply: (
        making.statement(
            step, kind, reply.sections, getattr(reply, "responds_to", ()), getattr(reply, "options", ())
        ),
    )


def _artifact(_: Numbering, step: Step, reply: ArtifactReply) -> tuple[Event, ...]:
    return (making.artifact(step, reply),)


def _claims(numbering: Numbering, step: Step, reply: ArtifactReply) -> Iterator[Event]:
    for draft in reply.proposed_claims:
        yield making.claim(numbering, step, draft, f"A-{step.name.round}-{step.role}#{draft.section}")


def _review(numbering: Numbering, step: Step, reply: ReviewReply) -> tuple[Event, ...]:
    summary = NamedSection(name="summary", text=reply.summary)
    return (making.statement(step, "review", (summary,)), *making.flips(numbering.book, step, reply))


def _findings(numbering: Numbering, step: Step, reply: ReviewReply) -> Iterator[Event]:
    for draft in reply.claims:
        yield making.claim(numbering, step, draft, f"{statement_id(step)}#summary")
    for tension in reply.tensions:
        yield making.tension_of(numbering, step, tension)


def _assessed(numbering: Numbering, step: Step, reply: AssessmentReply) -> Iterator[Event]:
    for draft in reply.decisions:
        yield making.decision(numbering, step, draft, "round")
    for concern in reply.concerns:
        yield making.concern_of(numbering, step, concern)


def _closed(numbering: Numbering, step: Step, reply: ClosingReply) -> Iterator[Event]:
    for draft in reply.decisions:
        yield making.decision(numbering, step, draft, "final")


def _retrospective(_: Numbering, step: Step, reply: RetrospectiveReply) -> tuple[Event, ...]:
    modes = (
        NamedSection(name=note.mode.lower(), text=f"seen: {note.seen}\n{note.text}")
        for note in reply.failure_modes
    )
    return (
        making.statement(step, "retrospective", (NamedSection(name="summary", text=reply.summary), *modes)),
    )


# ---------------------------------------------------------------- the table


def _artifact_row(role: str, reply: type[Reply]) -> StepRow:
    return StepRow(
        f"D.{role}",
        asks_each(_present(role)),
        reply,
        _artifact,
        _claims,
        problems.wrong_artifact,
        columns=VISIBILITY["D"],
        group="D",
    )


def _check_row(check: int, group: str, repeat: int = 1) -> StepRow:
    return StepRow(
        f"E.check{check}",
        asks_each(_verifier, f"check{check}", repeat),
        CheckReply,
        lambda numbering, step, reply: (making.verification(numbering.book, step, reply),),
        wrong=problems.wrong_check,
        columns=VISIBILITY[f"E.check{check}"],
        when=_is_made(check) if repeat == 1 else _is_rejudged(check),
        stand_in=lost_verdict,
        group=group,
    )


SHEET: Final = Sheet(
    (
        StepRow(
            "B",
            asks_each(_lead),
            StatementReply,
            _statement("proposal"),
            wrong=problems.wrong_statement,
            columns=VISIBILITY["B"],
        ),
        StepRow(
            "C",
            asks_each(_others),
            StatementReply,
            _statement("supplement"),
            wrong=problems.wrong_statement,
            columns=VISIBILITY["C"],
        ),
        _artifact_row("action", ActionArtifact),
        _artifact_row("guardian", GuardianArtifact),
        _artifact_row("observer", ObserverArtifact),
        _artifact_row("critic", CriticArtifact),
        StepRow(
            "E.position",
            asks_each(active_roles, "position"),
            PositionReply,
            lambda _, step, reply: making.positions(step, reply),
            wrong=problems.wrong_positions,
            columns=VISIBILITY["E.position"],
            when=_seals,
        ),
        *(_check_row(check, "E.checks") for check in (1, 2, 4)),
        _check_row(3, "E.check3"),
        *(_check_row(check, "E.rejudge", repeat=2) for check in (1, 2, 3, 4)),
        StepRow(
            "F",
            asks_each(active_roles),
            ReviewReply,
            _review,
            _findings,
            problems.wrong_review,
            columns=VISIBILITY["F"],
        ),
        StepRow(
            "G",
            asks_each(_lead),
            AssessmentReply,
            _statement("assessment"),
            _assessed,
            problems.wrong_assessment,
            columns=VISIBILITY["G"],
        ),
        StepRow(
            "H",
            asks_each(_verifier),
            DriftReply,
            lambda _, step, reply: (making.drift_check(step, reply),),
            wrong=problems.wrong_drift,
            columns=VISIBILITY["H"],
            when=_checks_drift,
        ),
        StepRow(
            "S.resolve",
            asks_each(_verifier, "resolve"),
            ResolveReply,
            lambda numbering, step, reply: making.resolutions(numbering.book, step, reply),
            wrong=problems.wrong_resolutions,
            columns=VISIBILITY["S.resolve"],
            when=_resolves,
            planned=False,
        ),
        StepRow(
            "S.review",
            asks_each(_authors, "review"),
            RetrospectiveReply,
            _retrospective,
            wrong=problems.wrong_retrospective,
            columns=VISIBILITY["S.review"],
            when=synthesis_is_due,
            planned=False,
        ),
        StepRow(
            "S.close",
            asks_each(_lead, "close"),
            ClosingReply,
            _statement("summary"),
            _closed,
            problems.wrong_closing,
            columns=VISIBILITY["S.close"],
            when=synthesis_is_due,
            planned=False,
        ),
    ),
    closing_order=("claim", "decision", "concern"),
    follows_from=_follows_from,
)


def _thirteen_rounds(rules: Rules, options: int) -> tuple[PlanRow, ...]:
    del rules, options
    return standard_13()


STRUCTURED: Final[Protocol] = SHEET.protocol(
    "structured",
    "four roles cross-examine a question in rounds, with stress tests, drift checks and a synthesis",
    ROLES,
    plan=_thirteen_rounds,
    fixed_plan=False,
    watched=True,
    has_castings=True,
    version=1,
    brief_version=3,
    owed=missing_checks,
    fits="a decision that is dear to undo and that several people will have to live with",
    calls="142 in minimum-8, 258 in standard-13, at most",
    variants={"positions": ("sealed", "off"), "rejudge": ("0", "1", "2", "3", "4")},
)
