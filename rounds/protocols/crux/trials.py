"""A round of tests of `crux`: plans, sealed forecasts, what the verifier finds, and beliefs that follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from detectors.beliefs.parameters import crux_parameters
from detectors.beliefs.update import unexplained
from ledger.events import Artifact, Belief, Event, Verification
from ledger.events.answers import ConditionalBelief
from ledger.events.artifacts import PlannedTest, PlannedTests
from ledger.events.values import Bearing, Result
from ledger.events.verifications import StatusChange
from ledger.state.anchors import strings
from ledger.state.book import Book
from ledger.state.lifecycle import STATUS_OF_BEARING
from ledger.state.state import VERIFIER, State
from roles.evidence import evidence_class, exhibits
from roles.protocol import Step
from rounds.protocols.crux.answers import numbers_problems
from rounds.protocols.crux.asked import forecasters, planned_by, to_check
from rounds.protocols.crux.programs import ProgramsReply, still_to_run, wrong_programs
from rounds.protocols.crux.replies import CruxCheckReply, CruxVerdict, ForecastReply, PlansReply, UpdateReply
from rounds.protocols.crux.standing import (
    DERIVED,
    ITS_OWN,
    belief,
    end_of,
    latest,
    option_ids,
    points_of,
    tested_in,
)
from rounds.protocols.points import as_points, points_problems
from rounds.protocols.quotable import Quotable, exactly_one
from rounds.protocols.step_table import Numbering, by, evidence_of, statement

_RESULT: Final[dict[Bearing, Result]] = {
    "supports": "ROBUST",
    "contradicts": "BROKEN",
    "partly_contradicts": "BROKEN",
    "inconclusive": "UNCLEAR",
}


# ---------------------------------------------------------------- D: plans


def wrong_plans(known: Quotable, reply: PlansReply | ProgramsReply) -> Iterator[str]:
    """What is wrong with plans: one for each of the role's cruxes."""
    wanted = planned_by(known.state, known.step.name.round, known.step.role)
    yield from exactly_one((plan.claim for plan in reply.plans), wanted, "plans", "crux")
    for n, plan in enumerate(reply.plans):
        if not plan.steps:
            yield f"plans[{n}].steps: at least one step is wanted"
    yield from wrong_programs(known, reply)


def planned(_: Numbering, step: Step, reply: PlansReply | ProgramsReply) -> tuple[Event, ...]:
    """The role's plans, as one artifact."""
    body = PlannedTests(
        plans=tuple(
            PlannedTest(
                claim=plan.claim,
                form=plan.form,
                steps=plan.steps,
                holds_if=plan.holds_if,
                fails_if=plan.fails_if,
            )
            for plan in reply.plans
        )
    )
    as_kept: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(body))
    return (
        Artifact(
            **by(step),
            id=f"A-{step.name.round}-{step.role}",
            role=step.role,
            type="test_plan",
            body=as_kept,
            words=sum(len(text.split()) for text in strings(as_kept)),
        ),
    )


# ---------------------------------------------------------------- E: forecasts


def wrong_forecast(known: Quotable, reply: ForecastReply) -> Iterator[str]:
    """What is wrong with numbers about the cruxes of a round."""
    before = latest(known.state, known.step.role, known.step.name.round)
    cruxes = tested_in(known.state, known.step.name.round)
    own = before.points if before else {}
    yield from numbers_problems(known, reply.given, cruxes, own, option_ids(known.state))


def forecast(numbering: Numbering, step: Step, reply: ForecastReply) -> tuple[Event, ...]:
    """Sealed numbers; the belief that they go with is repeated unchanged."""
    before = latest(numbering.book.state, step.role, step.name.round)
    assert before is not None, "only who has a belief is asked"
    return (
        Belief(
            **by(step),
            id=f"B-{step.name.round}-{step.role}",
            role=step.role,
            points=before.points,
            derived=False,
            given=tuple(
                ConditionalBelief(
                    claim=one.claim,
                    q=one.q,
                    if_true=as_points(one.if_true),
                    if_false=as_points(one.if_false),
                    predicts=one.predicts,
                    fair=one.fair,
                    fair_why=one.fair_why,
                )
                for one in reply.given
            ),
        ),
    )


# ---------------------------------------------------------------- E: what the verifier finds


def wrong_verdicts(known: Quotable, reply: CruxCheckReply) -> Iterator[str]:
    """What is wrong with verdicts: one for each crux that is judged, with evidence that stands where it says."""
    wanted = to_check(known.state, known.step.name.round)
    yield from exactly_one((one.claim for one in reply.verdicts), wanted, "verdicts", "crux")
    for n, one in enumerate(reply.verdicts):
        if not one.evidence:
            yield f"verdicts[{n}].evidence: name at least one place that you judged by"
        yield from known.evidence_problems(one.evidence, f"verdicts[{n}].evidence")


def judged(numbering: Numbering, step: Step, reply: CruxCheckReply) -> tuple[Event, ...]:
    """One verification for each crux, in the order of the round."""
    order = to_check(numbering.book.state, step.name.round)
    verdicts = sorted(reply.verdicts, key=lambda one: order.index(one.claim))
    return tuple(_verification(numbering.book, step, one, n) for n, one in enumerate(verdicts, 5))


def _verification(book: Book, step: Step, one: CruxVerdict, n: int) -> Verification:
    evidence, raised_by = evidence_of(one.evidence), book.state.claims[one.claim].raised_by
    change = StatusChange(
        claim_id=one.claim,
        from_=book.state.claims[one.claim].status,
        to=STATUS_OF_BEARING[one.bearing],
        bearing=one.bearing,
        class_=evidence_class(exhibits(book, one.claim, evidence), raised_by, one.bearing),
        evidence=evidence,
    )
    return Verification(
        **by(step),
        id=f"V-{step.name.round}-{n}",
        check="claim_retest",
        check_id=5,
        result=_RESULT[one.bearing],
        evidence_refs=evidence,
        notes=one.notes,
        claims_affected=(one.claim,),
        claim_status_changes=(change,),
    )


# ---------------------------------------------------------------- beliefs that follow


def derived_beliefs(state: State, round_: int) -> tuple[Event, ...]:
    """The belief of every role that results move, by its own sealed numbers; nothing when they are written.

    The controller writes them as soon as the verdicts are in, so that everybody who is asked afterwards sees them.
    """
    if round_ < 2 or not _results_are_in(state, round_):
        return ()
    end, options = end_of(state, round_), option_ids(state)
    found: list[Event] = []
    for role in end.moved:
        if belief(state, round_, role, DERIVED) is None:
            points = zip(options, end.moved[role], strict=True)
            found.append(
                Belief(
                    id=f"B-{round_}-{role}~{DERIVED}",
                    round=round_,
                    phase="E",
                    by="controller",
                    role=role,
                    points={option: int(value) for option, value in points if value},
                    derived=True,
                )
            )
    return tuple(found)


def _results_are_in(state: State, round_: int) -> bool:
    """Whether there is a result, and none is waited for: of the verifier's, or of what was run."""
    judged = any(facts.round == round_ and facts.judged for facts in state.experiments.values())
    step = f"r{round_}.E.{VERIFIER}"
    if still_to_run(state, round_) or not (judged or step in state.answered):
        return False
    forecasts = all(state.is_done(f"r{round_}.E.{role}") for role in forecasters(state, round_))
    return forecasts and (state.is_done(step) or not to_check(state, round_))


# ---------------------------------------------------------------- F: own beliefs


def wrong_update(known: Quotable, reply: UpdateReply) -> Iterator[str]:
    """What is wrong with a belief after results."""
    yield from points_problems(reply.belief, option_ids(known.state), "belief")
    yield from known.evidence_problems(reply.because, "because")


def updated(numbering: Numbering, step: Step, reply: UpdateReply) -> tuple[Event, ...]:
    """What moved the role, and its belief; far from the derived one without new evidence, it is unexplained."""
    state, round_ = numbering.book.state, step.name.round
    options = option_ids(state)
    mechanical = belief(state, round_, step.role, DERIVED)
    cited = {ref for facts in state.beliefs.values() if facts.role == step.role for ref in facts.refs}
    own = as_points(reply.belief)
    strays = mechanical is not None and unexplained(
        points_of(own, options),
        points_of(mechanical.points, options),
        new_evidence=any(one.ref not in cited for one in reply.because),
        parameters=crux_parameters(),
    )
    return (
        *statement(step, "review", {"moved": reply.moved_by}),
        Belief(
            **by(step),
            id=f"B-{round_}-{step.role}~{ITS_OWN}",
            role=step.role,
            points=own,
            derived=False,
            because=evidence_of(reply.because),
            unexplained=strays if mechanical is not None else None,
        ),
    )
