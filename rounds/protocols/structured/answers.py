"""E.belief: what every role would answer if the run stopped now, sealed once a round.

Roles are asked before the checks, so that an answer is about the round before and no verdict of this one can move it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from ledger.events import Belief, Event
from ledger.events.ids import event_id
from ledger.state.state import ANSWERS, NEITHER, POSITIONS, STANDS, State
from roles.protocol import Step
from roles.replies import Cited, Part
from rounds.protocols.points import as_points, points_problems
from rounds.protocols.quotable import Quotable
from rounds.protocols.schedule import applicable_checks
from rounds.protocols.step_table import Numbering, by, evidence_of


class PointsOnAnswer(Part, frozen=True, kw_only=True):
    """Points on one answer."""

    option: Annotated[
        str,
        Meta(
            min_length=1, max_length=12, description="O-n or none; stands or none where there are no options"
        ),
    ]
    points: Annotated[int, Meta(ge=0, le=100)]


class AnswerNow(Part, frozen=True, kw_only=True):
    """E.belief: the answer as it stands, in points."""

    belief: Annotated[
        tuple[PointsOnAnswer, ...], Meta(max_length=65, description="options with points; they sum to 100")
    ]
    because: Annotated[
        tuple[Cited, ...],
        Meta(max_length=3, description="what moved it since your last answer; often nothing"),
    ]


def asks_for_answers(state: State, round_: int) -> bool:
    """Return whether the round asks for answers: the run does, and the round checks something."""
    # A round without a check brings no verdict, so an answer after it would only repeat the one before.
    asked = state.opening.rules.get(POSITIONS) == ANSWERS
    return asked and bool(applicable_checks(state, round_))


def answer_keys(state: State) -> tuple[str, ...]:
    """Return the keys that points may be put on."""
    return (*(option.id for option in state.options), NEITHER) if state.options else (STANDS, NEITHER)


def wrong_answer(known: Quotable, reply: AnswerNow) -> Iterator[str]:
    """Yield what is wrong with points or with what they cite."""
    yield from points_problems(reply.belief, answer_keys(known.state), "belief")
    yield from known.evidence_problems(reply.because, "because")


def sealed_answer(_: Numbering, step: Step, reply: AnswerNow) -> tuple[Event, ...]:
    """Return the answer of a role."""
    return (
        Belief(
            **by(step),
            id=event_id("belief", step.name.round, step.role),
            role=step.role,
            points=as_points(reply.belief),
            derived=False,
            because=evidence_of(reply.because),
        ),
    )
