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

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Final

from detectors.stopping.questions import deciding_questions
from ledger.events import Event, Verification
from ledger.events.run import PlanRow
from ledger.state.book import Book
from ledger.state.state import ANSWERS, POSITIONS, State
from roles.protocol import Column, Loss, Protocol, RoleDefinition, Rules, Step, StepSize, View
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
from rounds.protocols.citations import repeated
from rounds.protocols.plans import AUTHORS, PLANS
from rounds.protocols.programs import plans_programs
from rounds.protocols.schedule import active_roles, applicable_checks, plan_row, synthesis_is_due
from rounds.protocols.step_table import (
    ALL,
    Numbering,
    StepRow,
    Steps,
    StepTable,
    When,
    Wrong,
    asks_each,
    verifier_alone,
)
from rounds.protocols.structured import making, problems, programs
from rounds.protocols.structured.replies import WITH_PROGRAMS, AnswerNow
from rounds.protocols.structured.visibility import RULE, SPREAD, VISIBILITY, YOURS, option_for, spreads

ROLES: Final = (
    RoleDefinition("action", "What does the system do, step by step?", "charters/action"),
    RoleDefinition("guardian", "What must hold, whatever happens?", "charters/guardian"),
    RoleDefinition("observer", "Can a real operator get through?", "charters/observer"),
    RoleDefinition("critic", "What is the strongest argument against it?", "charters/critic"),
    RoleDefinition("verifier", "What does the evidence show?", "charters/verifier"),
)


# ---------------------------------------------------------------- who is asked


def _lead(state: State, round_: int) -> tuple[str, ...]:
    # A round without a recorded lead, as in imports, is led by the first author of SD-1.
    return (state.rounds[round_].lead or AUTHORS[0],)


def _others(state: State, round_: int) -> tuple[str, ...]:
    return tuple(role for role in active_roles(state, round_) if role != _lead(state, round_)[0])


# ---------------------------------------------------------------- when


def _seals(state: State, round_: int) -> bool:
    # Runs from before the rule have no entry for it, and their roles seal positions.
    sealed = state.opening.rules.get(POSITIONS) not in ("off", ANSWERS)
    return sealed and bool(applicable_checks(state, round_))


def _checks_drift(state: State, round_: int) -> bool:
    return plan_row(state, round_).drift


def _applies(check: int) -> When:
    return lambda state, round_: check in applicable_checks(state, round_)


def asks_for_answers(state: State, round_: int) -> bool:
    """Return whether the round asks for answers: the run does, and the round checks something."""
    # A round without a check brings no verdict, so an answer after it would only repeat the one before.
    wanted = state.opening.rules.get(POSITIONS) == ANSWERS
    return wanted and bool(applicable_checks(state, round_))


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


# ---------------------------------------------------------------- the table


def _with_programs(check: Wrong) -> Wrong:
    return lambda known, reply: (*check(known, reply), *programs.wrong_programs(known, reply))


def _row(
    task: str,
    steps: Steps,
    reply: type[Reply],
    at_once: Callable[[Numbering, Step, Any], tuple[Event, ...]],
    wrong: Wrong,
    loss: str,
    **more: Any,
) -> StepRow:
    """Return a row with what its kind of step sees; `loss` says what is missing without a reply."""
    kind = "D" if task.startswith("D.") else task
    lost = {kind: Loss("unclear" if "check" in kind else "skipped", loss, decides=kind == "S.close")}
    runnable = WITH_PROGRAMS.get(reply)

    # Where programs may come with a reply, its shape depends on the run.
    def shape(state: State) -> type[Reply]:
        return runnable if runnable is not None and plans_programs(state) else reply

    return StepRow(task, steps, shape, at_once, wrong=wrong, loss=lost, columns=VISIBILITY[kind], **more)


def _artifact_row(role: str, reply: type[Reply]) -> StepRow:
    return _row(
        f"D.{role}",
        asks_each(lambda state, round_: (role,) if role in active_roles(state, round_) else ()),
        reply,
        lambda _, step, reply: (making.artifact(step, reply),),
        _with_programs(problems.wrong_artifact),
        "no artifact and no claims from it",
        later=making.claims,
        group="D",
    )


def _check_row(check: int, group: str) -> StepRow:
    return _row(
        f"E.check{check}",
        asks_each(verifier_alone, f"check{check}"),
        CheckReply,
        making.verification,
        _with_programs(problems.wrong_check),
        "the verdict reads UNCLEAR",
        later=programs.planned,
        # SD-35: a check that needs the artifact of an absent role has nothing to look at.
        when=_applies(check),
        stand_in=making.lost_verdict,
        group=group,
    )


_STEPS: Final = StepTable(
    (
        _row(
            "B",
            asks_each(_lead),
            StatementReply,
            making.text("proposal"),
            problems.wrong_statement,
            "the round has no proposal",
        ),
        _row(
            "C",
            asks_each(_others),
            StatementReply,
            making.text("supplement"),
            problems.wrong_statement,
            "the proposal stands without this supplement",
        ),
        _artifact_row("action", ActionArtifact),
        _artifact_row("guardian", GuardianArtifact),
        _artifact_row("observer", ObserverArtifact),
        _artifact_row("critic", CriticArtifact),
        _row(
            "E.position",
            asks_each(active_roles, "position"),
            PositionReply,
            making.positions,
            problems.wrong_positions,
            "this role has no sealed stance in the round",
            when=_seals,
        ),
        _row(
            "E.belief",
            asks_each(active_roles, "belief"),
            AnswerNow,
            making.sealed_answer,
            problems.wrong_answer,
            "nothing shows what this role would answer in the round",
            when=asks_for_answers,
        ),
        *(_check_row(check, "E.checks") for check in (1, 2, 4)),
        # SD-27: check 3 reads the results of checks 1 and 2, so it has a group of its own after them.
        _check_row(3, "E.check3"),
        _row(
            "F",
            asks_each(active_roles),
            ReviewReply,
            making.review,
            problems.wrong_review,
            "this role reviewed nothing in the round",
            later=making.findings,
        ),
        _row(
            "G",
            asks_each(_lead),
            AssessmentReply,
            making.decided("assessment"),
            problems.wrong_assessment,
            "the round decides nothing",
            later=making.assessed,
        ),
        _row(
            "H",
            asks_each(verifier_alone),
            DriftReply,
            making.drift_check,
            problems.wrong_drift,
            "drift is not checked in the round",
            when=_checks_drift,
        ),
        _row(
            "S.resolve",
            asks_each(verifier_alone, "resolve"),
            ResolveReply,
            making.resolutions,
            problems.wrong_resolutions,
            "the synthesis resolves no pending claim",
            when=_resolves,
            planned=False,
        ),
        _row(
            "S.review",
            asks_each(lambda _state, _round: AUTHORS, "review"),
            RetrospectiveReply,
            making.retrospective,
            lambda _, reply: repeated((note.mode for note in reply.failure_modes), "failure_modes"),
            "this role has no retrospective",
            when=_closes,
            planned=False,
        ),
        _row(
            "S.close",
            asks_each(_lead, "close"),
            ClosingReply,
            making.decided("summary"),
            problems.wrong_closing,
            "the synthesis decides nothing; what the rounds decided is not final",
            later=making.closed,
            when=_closes,
            planned=False,
        ),
    ),
    # Ids are given in this order when a group closes, so they do not depend on which reply arrived last.
    closing_order=("claim", "decision", "concern", "experiment_planned"),
    follows_from=_follows_from,
)


def _view(state: State, step: Step) -> View:
    """Return a step's row, with the extra column only where there is something to show in it."""
    view = _STEPS.view(state, step)
    raises = step.task.startswith("D.") and spreads(state)
    return {**view, Column.TOLD: ALL} if raises or programs.shows_programs(state, step) else view


def _tells(book: Book, step: Step, column: Column) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield which option the role's claim is about, and what programs there are or may be."""
    if column is not Column.TOLD:
        return
    if step.task.startswith("D.") and spreads(book.state):
        option = option_for(book.state, step.name.round, step.role)
        if option is not None:
            yield "your claim", YOURS.format(option=option), ()
    if programs.shows_programs(book.state, step):
        yield from programs.program_blocks(book, step)


def _plan(_rules: Rules, _options: int) -> tuple[PlanRow, ...]:
    return PLANS["standard-13"]


SIZES: Final[Mapping[str, StepSize]] = {
    "B": StepSize(46_000, 850),
    "C": StepSize(48_000, 420),
    "D": StepSize(56_000, 800),
    "E.position": StepSize(55_000, 170),
    "E.belief": StepSize(55_000, 60, measured=False),
    "E.check": StepSize(58_000, 270),
    "F": StepSize(79_000, 560),
    "G": StepSize(93_000, 1_450),
    "H": StepSize(18_000, 350, documents=False),
    "S.resolve": StepSize(190_000, 6_460),
    "S.review": StepSize(144_000, 560),
    "S.close": StepSize(250_000, 1_740),
}
"""Size of each kind of step."""


def _sides(book: Book) -> Counter[str]:
    """Return how many checks broke what they tested, and how many were unclear."""
    verdicts = [event for event in book.events if isinstance(event, Verification) and event.check_id < 5]
    return Counter(
        "critic" if event.result == "BROKEN" else "undecided"
        for event in verdicts
        if event.result in ("BROKEN", "UNCLEAR")
    )


STRUCTURED: Final[Protocol] = _STEPS.protocol(
    "structured",
    "four roles cross-examine a question in rounds, with stress tests, drift checks and a synthesis",
    ROLES,
    plan=_plan,
    fixed_plan=False,
    watched=True,
    raises_claims=True,
    has_castings=True,
    owed=making.missing_checks,
    needed=needed,
    view=_view,
    tells=_tells,
    brought=programs.brought,
    runs_first=programs.runs_first,
    sizes=SIZES,
    sizes_from="measured on storage-minimum-8, a run of moot 0.1",
    fits="a decision that is costly to undo and that several people have to live with",
    calls="84 in short-5, 142 in minimum-8, 258 in standard-13, at most",
    sides=_sides,
    variants={
        "positions": (ANSWERS, "sealed", "off"),
        RULE: (SPREAD, "free"),
        "lengths": ("short", "published"),
        "wait": ("on", "off"),
        "validate": ("phase", "round"),
    },
)
