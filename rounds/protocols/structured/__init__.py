"""`structured`: four roles and a neutral verifier, rounds of phases A–H, and a closing synthesis S (SD-1 … SD-59).

The lengths of texts are shorter than the published ones, which `[rules] lengths = "published"` asks for.

Laws
 1. A round runs B, C, D, E.belief (by rule E.position), E.checks (1, 2 and 4), E.check3, F, G, H in this order;
    steps of one group run side by side and see nothing of each other.
 2. In a stress round the absent role has no step in A–H, and a check that needs its artifact is not asked for.
 3. Claims proposed in D are minted when D closes, so that E can bear on them; those of F from the next round on.
 4. A position is sealed before any verdict of its check is known, an answer before any of its round; no role is shown
    the answers.
 5. The verifier is no author: it writes checks, drift checks and resolutions, never a claim or a decision.
 6. S follows the last G, or the first look whose stop is obeyed; it raises no new claim.
 7. S waits for a person's answer to every open question that decides (`wait`): marked by the lead, or asked again.
 8. Where a run was opened for experiments, what artifacts bring is run before the checks of the round, what verdicts
    bring before its reviews; no role is asked in between.
 9. A claim is moved by evidence of its own, whose class is computed; and the lead says of every objection that
    it counts against a decision, or how it is met.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final

from detectors.stopping.questions import deciding_questions
from ledger.events import Event
from ledger.events.run import PlanRow
from ledger.state.book import Book
from ledger.state.state import ANSWERS, POSITIONS, State
from roles.protocol import Column, Protocol, RoleDefinition, Rules, Step, View
from roles.replies import (
    ActionArtifact,
    ArtifactReply,
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
from rounds.protocols.plans import AUTHORS, standard_13
from rounds.protocols.quotable import Quotable
from rounds.protocols.schedule import (
    active_roles,
    applicable_checks,
    plan_row,
    synthesis_is_due,
)
from rounds.protocols.step_table import ALL, Numbering, Sheet, StepRow, Steps, asks_each
from rounds.protocols.structured import making, problems, programs, rivals, yields
from rounds.protocols.structured.answers import (
    AnswerNow,
    asks_for_answers,
    sealed_answer,
    wrong_answer,
)
from rounds.protocols.structured.unmade_checks import lost_verdict, missing_checks
from rounds.protocols.structured.visibility import VISIBILITY

ROLES: Final = (
    RoleDefinition("action", "What does the system do, step by step?", "charters/action"),
    RoleDefinition("guardian", "What must hold, whatever happens?", "charters/guardian"),
    RoleDefinition("observer", "Can a real operator get through?", "charters/observer"),
    RoleDefinition("critic", "What is the strongest argument against it?", "charters/critic"),
    RoleDefinition("verifier", "What does the evidence show?", "charters/verifier"),
)


CHECKS: Final = ("E.check1", "E.check2", "E.check3", "E.check4")
_SHAPES: Final[Mapping[str, type[Reply]]] = {
    "B": StatementReply,
    "C": StatementReply,
    "D.action": ActionArtifact,
    "D.guardian": GuardianArtifact,
    "D.observer": ObserverArtifact,
    "D.critic": CriticArtifact,
    "E.position": PositionReply,
    "E.belief": AnswerNow,
    **dict.fromkeys(CHECKS, CheckReply),
    "F": ReviewReply,
    "G": AssessmentReply,
    "H": DriftReply,
    "S.resolve": ResolveReply,
    "S.review": RetrospectiveReply,
    "S.close": ClosingReply,
}
"""Shape of the reply of each kind of step."""

# ---------------------------------------------------------------- who is asked


def _lead(state: State, round_: int) -> tuple[str, ...]:
    # A round without a recorded lead, as in imports, is led by the first author of SD-1.
    return (state.rounds[round_].lead or AUTHORS[0],)


def _others(state: State, round_: int) -> tuple[str, ...]:
    return tuple(role for role in active_roles(state, round_) if role != _lead(state, round_)[0])


def _verifier(state: State, round_: int) -> tuple[str, ...]:
    # The signature is that of all row functions, and the verifier is asked in every round alike.
    del state, round_
    return ("verifier",)


def _authors(state: State, round_: int) -> tuple[str, ...]:
    del state, round_
    return AUTHORS


def _present(role: str) -> Callable[[State, int], tuple[str, ...]]:
    return lambda state, round_: (role,) if role in active_roles(state, round_) else ()


# ---------------------------------------------------------------- when


def _seals(state: State, round_: int) -> bool:
    # Runs from before the rule have no entry for it, and their roles seal positions.
    sealed = state.opening.rules.get(POSITIONS) not in ("off", ANSWERS)
    return sealed and bool(applicable_checks(state, round_))


def _is_made(check: int) -> Callable[[State, int], bool]:
    # SD-35: a check that needs the artifact of an absent role has nothing to look at.
    return lambda state, round_: check in applicable_checks(state, round_)


def _checks_drift(state: State, round_: int) -> bool:
    return plan_row(state, round_).drift


def _resolves(state: State, round_: int) -> bool:
    """Return whether claims are pending, or were until this step resolved them."""
    # Once the step is done nothing is pending, and without the second test its row would
    # vanish from the table.
    pending = any(claim.status == "pending" for claim in state.claims.values())
    return _closes(state, round_) and (pending or state.is_done(f"r{round_}.S.resolve.verifier"))


def needed(state: State) -> tuple[str, ...]:
    """Return the open questions that decide: the synthesis is written with their answers, or without the wait."""
    if not state.waits or not synthesis_is_due(state, state.round):
        return ()
    return tuple(question.id for question in deciding_questions(state))


def _closes(state: State, round_: int) -> bool:
    return synthesis_is_due(state, round_) and not needed(state)


def _follows_from(state: State, round_: int) -> Hashable:
    # This key lists everything that the steps of a round depend on: the table is built anew only when it
    # changes. A value left out here would leave a stale table in use.
    opened, row = state.rounds[round_], plan_row(state, round_)
    sealed, closing = _seals(state, round_), _closes(state, round_)
    checks = applicable_checks(state, round_)
    present = active_roles(state, round_)
    resolved = closing and _resolves(state, round_)
    return (
        round_,
        row.phases,
        row.drift,
        opened.lead,
        present,
        checks,
        sealed,
        asks_for_answers(state, round_),
        closing,
        resolved,
    )


# ---------------------------------------------------------------- what is wrong with a reply


def _wrong_artifact(known: Quotable, reply: ArtifactReply) -> Iterator[str]:
    yield from problems.wrong_artifact(known, reply)
    yield from programs.wrong_programs(known, reply)


def _wrong_check(known: Quotable, reply: CheckReply) -> Iterator[str]:
    yield from problems.wrong_check(known, reply)
    yield from programs.wrong_programs(known, reply)


# ---------------------------------------------------------------- the table


def _shape(kind: type[Reply]) -> type[Reply] | Callable[[State], type[Reply]]:
    """Return the shape of a reply; where programs may come with it, that depends on the run."""
    runnable = programs.WITH_PROGRAMS.get(kind)
    return kind if runnable is None else lambda state: runnable if programs.may_bring(state) else kind


def _sheet() -> Sheet:
    """Return the rows: what each kind of step sees, and the shape of its reply."""

    def row(
        task: str,
        steps: Steps,
        at_once: Callable[[Numbering, Step, Any], tuple[Event, ...]],
        wrong: Callable[[Quotable, Any], Iterator[str]],
        **more: Any,
    ) -> StepRow:
        columns = VISIBILITY["D" if task.startswith("D.") else task]
        return StepRow(task, steps, _shape(_SHAPES[task]), at_once, wrong=wrong, columns=columns, **more)

    def artifact_row(role: str) -> StepRow:
        asked = asks_each(_present(role))
        return row(f"D.{role}", asked, yields.artifact, _wrong_artifact, later=yields.claims, group="D")

    # SD-27: check 3 reads the results of checks 1 and 2, so it has a group of its own after them.
    def check_row(check: int, group: str) -> StepRow:
        return row(
            f"E.check{check}",
            asks_each(_verifier, f"check{check}"),
            lambda numbering, step, reply: (making.verification(numbering.book, step, reply),),
            _wrong_check,
            later=programs.planned,
            when=_is_made(check),
            stand_in=lost_verdict,
            group=group,
        )

    return Sheet(
        (
            row("B", asks_each(_lead), yields.statement("proposal"), problems.wrong_statement),
            row("C", asks_each(_others), yields.statement("supplement"), problems.wrong_statement),
            *(artifact_row(role) for role in AUTHORS),
            row(
                "E.position",
                asks_each(active_roles, "position"),
                lambda _, step, reply: making.positions(step, reply),
                problems.wrong_positions,
                when=_seals,
            ),
            row(
                "E.belief",
                asks_each(active_roles, "belief"),
                sealed_answer,
                wrong_answer,
                when=asks_for_answers,
            ),
            *(check_row(check, "E.checks") for check in (1, 2, 4)),
            check_row(3, "E.check3"),
            row("F", asks_each(active_roles), yields.review, problems.wrong_review, later=yields.findings),
            row(
                "G",
                asks_each(_lead),
                yields.decided("assessment"),
                problems.wrong_assessment,
                later=yields.assessed,
            ),
            row(
                "H",
                asks_each(_verifier),
                lambda _, step, reply: (making.drift_check(step, reply),),
                problems.wrong_drift,
                when=_checks_drift,
            ),
            row(
                "S.resolve",
                asks_each(_verifier, "resolve"),
                lambda numbering, step, reply: making.resolutions(numbering.book, step, reply),
                problems.wrong_resolutions,
                when=_resolves,
                planned=False,
            ),
            row(
                "S.review",
                asks_each(_authors, "review"),
                yields.retrospective,
                problems.wrong_retrospective,
                when=_closes,
                planned=False,
            ),
            row(
                "S.close",
                asks_each(_lead, "close"),
                yields.decided("summary"),
                problems.wrong_closing,
                later=yields.closed,
                when=_closes,
                planned=False,
            ),
        ),
        # Ids are given in this order when a group closes, so they do not depend on which reply arrived last.
        closing_order=("claim", "decision", "concern", "experiment_planned"),
        follows_from=_follows_from,
    )


def _thirteen_rounds(rules: Rules, options: int) -> tuple[PlanRow, ...]:
    del rules, options
    return standard_13()


_SHEET: Final = _sheet()


def _view(state: State, step: Step) -> View:
    """Return a step's row, with the extra column only where there is something to show in it."""
    view = _SHEET.view(state, step)
    raises = step.task.startswith("D.") and rivals.spreads(state)
    return {**view, Column.TOLD: ALL} if raises or programs.is_told(state, step) else view


def _tells(book: Book, step: Step, column: Column) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield which option the role's claim is about, and what programs there are or may be."""
    if column is not Column.TOLD:
        return
    if step.task.startswith("D.") and rivals.spreads(book.state):
        option = rivals.option_for(book.state, step.name.round, step.role)
        if option is not None:
            yield "your claim", rivals.YOURS.format(option=option), ()
    if programs.is_told(book.state, step):
        yield from programs.program_blocks(book, step)


STRUCTURED: Final[Protocol] = _SHEET.protocol(
    "structured",
    "four roles cross-examine a question in rounds, with stress tests, drift checks and a synthesis",
    ROLES,
    plan=_thirteen_rounds,
    fixed_plan=False,
    watched=True,
    raises_claims=True,
    has_castings=True,
    owed=missing_checks,
    needed=needed,
    view=_view,
    tells=_tells,
    brought=programs.brought,
    runs_first=programs.runs_first,
    fits="a decision that is dear to undo and that several people will have to live with",
    calls="84 in short-5, 142 in minimum-8, 258 in standard-13, at most",
    variants={
        "positions": (ANSWERS, "sealed", "off"),
        rivals.RULE: (rivals.SPREAD, "free"),
        "lengths": ("short", "published"),
        "wait": ("on", "off"),
        "validate": ("phase", "round"),
    },
)
