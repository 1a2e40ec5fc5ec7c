"""`moot decisions --json`: every decision with what it rests on, and whether that still stands."""

from __future__ import annotations

from ledger.events import Decision
from ledger.events.conditions import conditions_of
from ledger.events.decisions import Cite, Relation
from ledger.state.book import Book
from ledger.state.decided import Standing, fallen_under, overridden, standing, standings
from ledger.state.state import State
from moot.view.output.base import Output
from moot.view.output.outcome import Outcome, outcome_told


class Citation(Output, frozen=True):
    """What a decision rests on, and how that stands now: a claim's status, a check's result; null where it has none."""

    type: str
    id: str
    relation: Relation
    stands: str | None


class Dissenter(Output, frozen=True):
    """A role that had expected another verdict than a cited one; `ref` is its last sealed position or flip."""

    role: str
    ref: str


class FallenGround(Output, frozen=True):
    """What a decision rests on and what does not stand: a claim with its status, or a decision that was overturned.

    `through` are the decisions in between; `before`: it did not stand when the decision was made either.
    """

    id: str
    status: str
    through: list[str]
    before: bool


class DecisionLine(Output, frozen=True):
    """A decision. `at_risk`: something that it rests on does not stand, and `fallen` says what.

    `falsifiers` would show it to be wrong, `requirements` have to be met; `conditions` is the recorded field, which
    holds the one or the other by protocol. `had_expected` are roles that had expected another verdict than a cited one;
    `dissent` is the recorded field of the same, and says nothing about who disagrees with the decision. `in_place_of`
    is the decision that an override stands for.
    """

    id: str
    round: int
    type: str
    text: str
    made_by: str
    standing: Standing
    overturned_by: str | None
    cites: list[Citation]
    anchor_ref: str | None
    about: list[str]
    confidence: int | None
    conditions: list[str]
    dissent: list[Dissenter]
    seq: int
    falsifiers: list[str]
    requirements: list[str]
    had_expected: list[Dissenter]
    in_place_of: str | None
    fallen: list[FallenGround]


class Decisions(Output, frozen=True):
    """All decisions of a run, in order; `outcome`: what the run rests on."""

    run: str
    outcome: Outcome
    decisions: list[DecisionLine]


def decisions_of(run: str, book: Book) -> Decisions:
    """The decisions of a book."""
    stands = standings(book.state)
    lines: list[DecisionLine] = []
    for identity in book.state.decisions:
        event = book.by_id[identity]
        assert isinstance(event, Decision), f"{identity} is no decision"
        lines.append(_line(identity, event, book.state, stands[identity]))
    return Decisions(run=run, outcome=outcome_told(book.state), decisions=lines)


def _line(identity: str, event: Decision, state: State, stands: Standing) -> DecisionLine:
    conditions = conditions_of(event, state.opened)
    had_expected = [Dissenter(role=one.role, ref=one.ref) for one in event.dissent]
    first = overridden(state, identity)
    return DecisionLine(
        id=identity,
        round=event.round,
        type=event.type,
        text=event.text,
        made_by=event.made_by,
        standing=stands,
        overturned_by=state.decisions[identity].overturned_by,
        cites=[
            Citation(type=cite.type, id=cite.id, relation=cite.relation, stands=_stands(cite, state))
            for cite in event.cites
        ],
        anchor_ref=event.anchor_ref,
        about=list(event.about),
        confidence=event.confidence,
        conditions=list(event.conditions),
        dissent=had_expected,
        seq=event.seq,
        falsifiers=list(conditions.falsifiers),
        requirements=list(conditions.requirements),
        had_expected=had_expected,
        in_place_of=None if first == identity else first,
        fallen=[
            FallenGround(id=one.id, status=one.status, through=list(one.through), before=one.before)
            for one in fallen_under(state, identity)
        ],
    )


def _stands(cite: Cite, state: State) -> str | None:
    if cite.id in state.claims:
        return state.claims[cite.id].status
    if cite.id in state.checks:
        return state.checks[cite.id].result
    if cite.id in state.decisions:
        return standing(state, cite.id)
    if cite.id in state.concerns:
        return "resolved" if cite.id in state.resolved else "open"
    return None
