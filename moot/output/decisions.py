"""`moot decisions --json`: every decision with what it rests on, and whether that still stands."""

from __future__ import annotations

from ledger.book import Book
from ledger.decided import Standing, standing, standings
from ledger.events import Decision
from ledger.events.decisions import Cite, Relation
from ledger.state import State
from moot.output.base import Output
from moot.output.outcome import Outcome, outcome_told


class Citation(Output, frozen=True):
    """What a decision rests on, and how that stands now: a claim's status, a check's result; null where it has none."""

    type: str
    id: str
    relation: Relation
    stands: str | None


class Dissenter(Output, frozen=True):
    """A role whose last stance differs from a cited verdict; `ref` is its position or flip."""

    role: str
    ref: str


class DecisionLine(Output, frozen=True):
    """A decision. `at_risk`: a claim that it cites has fallen since."""

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
        dissent=[Dissenter(role=one.role, ref=one.ref) for one in event.dissent],
        seq=event.seq,
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
