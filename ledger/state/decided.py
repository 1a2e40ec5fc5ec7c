"""Decisions: which were deliberated, which are in force, and which rest on something that fell.

Protocols, briefs, rules, detectors and every output read these functions, so all of them agree.

1. *Deliberated* is what the seats or the rule of the protocol decided: `round` and `final`. A routing by the gate, a
   person's answer and a person's override are decisions of other kinds, and never count as the run's own.
2. *In force* is what no later decision overturned or superseded. An override takes the place of what it overturned and
   has its rank: the override of a final decision is final. The override of a screening decides nothing about the
   question, and neither does a routing by the gate.
3. *At risk* is a decision that rests on something that fell: a claim that is refuted, partly refuted or superseded, or
   a decision that was overturned, directly or through the decisions that it builds on. A decision by a rule reckons
   with a claim that had fallen before it, so that claim puts it at no risk.
4. *Conditions* have two opposite senses: `falsifiers` would prove a decision wrong, `requirements` must be met before
   it is followed. Every view reads them here and labels each one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from ledger.events import Decision
from ledger.events.envelope import Status
from ledger.result import Result
from ledger.state.lifecycle import FALLEN
from ledger.state.state import DecisionFacts, Rank, State

SUPPORT: Final = frozenset({"based-on", "supported-by", "builds-on"})
"""Relations of a cite that support a decision: when the cited thing falls, so does its basis."""

DeliberatedType = Literal["round", "final"]
Standing = Literal["in_force", "at_risk", "overturned"]
_OF_THE_QUESTION: Final[frozenset[Rank]] = frozenset({"final", "round", "answer"})


class Fallen(Result, frozen=True):
    """Basis of a decision that fell: a claim with its status, or a decision that was overturned.

    `through` are the decisions in between, the citing one first; `before`: it had already fallen when the decision
    was made.
    """

    id: str
    status: Status | Literal["overturned"]
    through: list[str]
    before: bool


def deliberated(state: State, type_: DeliberatedType | None = None) -> list[str]:
    """Return ids of the deliberated decisions, of one type if given, overturned ones too, in order."""
    types = ("round", "final") if type_ is None else (type_,)
    return [identity for identity, facts in state.decisions.items() if facts.type in types]


def has_precedent(state: State, before: int | None = None) -> bool:
    """Return whether check 4 has an earlier decision to compare with (SD-32), before event `before` if given."""
    earlier = (state.decisions[identity] for identity in deliberated(state))
    return any(facts.type != "gate" and (before is None or facts.seq < before) for facts in earlier)


def quoted(state: State, at: int | None = None) -> list[str]:
    """Return ids of the decisions that a brief quotes as in force, right after event `at`, else now."""
    return [
        identity
        for identity, facts in state.decisions.items()
        if (at is None or facts.seq <= at)
        and not _has_ended(state, facts, at)
        and facts.rank in _OF_THE_QUESTION
    ]


def in_force(state: State) -> list[str]:
    """Return ids of the decisions about the question in force, in order; an override replaces what it overturned."""
    return [
        identity
        for identity, facts in state.decisions.items()
        if facts.overturned_by is None and facts.rank in _OF_THE_QUESTION
    ]


def final_in_force(state: State) -> list[str]:
    """Return ids of the final decisions in force, an override in the place of what it overturned.

    Where the reply that decides was lost and nothing else decided, a person's answer to the controller is final.
    """
    finals = [identity for identity in in_force(state) if state.decisions[identity].rank == "final"]
    ordered = sorted(finals, key=lambda identity: state.decisions[overridden(state, identity)].seq)
    return ordered or _handed_over(state)


def is_overruled(state: State) -> bool:
    """Return whether a person overrode the final decision: from then on nothing else decides and nothing is awaited."""
    return any(facts.type == "override" and facts.rank == "final" for facts in state.decisions.values())


def _handed_over(state: State) -> list[str]:
    asked = [
        identity for identity, facts in state.concerns.items() if facts.by == "controller" and facts.for_human
    ]
    if not asked or not state.finished or _of_rounds(state):
        return []
    cited = {identity: state.decisions[overridden(state, identity)].cites for identity in in_force(state)}
    resolved = (
        (name, [cite.id for cite in cites if cite.relation == "resolves"]) for name, cites in cited.items()
    )
    # Several such questions are about a part each, such as one round, and no answer to one of them decides the whole.
    return [identity for identity, questions in resolved if questions == asked][-1:]


def _of_rounds(state: State) -> list[str]:
    return [identity for identity in in_force(state) if state.decisions[identity].rank != "answer"]


def outcome(state: State) -> list[str]:
    """Return ids of the run's outcome: its final decisions in force; while there are none, those of its rounds."""
    return final_in_force(state) or _of_rounds(state)


def overridden(state: State, identity: str) -> str:
    """Return the decision that an override replaces, through overrides of overrides; any other decision itself."""
    seen = {identity}
    while (facts := state.decisions[identity]).type == "override" and facts.replaces:
        identity = facts.replaces[0]
        # A hand-written ledger may hold overrides that replace each other in a circle.
        if identity in seen:
            break
        seen.add(identity)
    return identity


def replacement(state: State, identity: str) -> str:
    """Return the decision that replaced another: itself while in force, else the last that ended it."""
    seen = {identity}
    # Decisions of a damaged order may end each other, so visited ones stop the walk.
    while (later := state.decisions[identity].overturned_by) and later not in seen:
        identity = later
        seen.add(identity)
    return identity


def fallen_under(state: State, identity: str, at: int | None = None) -> tuple[Fallen, ...]:
    """Return what a decision rests on that has fallen, nearest first: why it is AT RISK, now or right after `at`."""
    decided_at = state.decisions[identity].seq
    fallen: dict[str, Fallen] = {}
    ways: dict[str, str | None] = {identity: None}
    nearest = [identity]
    for citing in nearest:  # grows while it is read
        for cite in state.decisions[citing].cites:
            if cite.relation not in SUPPORT or cite.id in ways or cite.id in fallen:
                continue
            claim, decision = state.claims.get(cite.id), state.decisions.get(cite.id)
            if claim is not None:
                status = claim.status if at is None else claim.status_before(at + 1)
                before = claim.status_before(decided_at) in FALLEN
                # A rule that decides after a test computes with its result: `crux` may answer because a claim fell.
                if status in FALLEN and not (before and state.decisions[identity].by_rule):
                    fallen[cite.id] = Fallen(cite.id, status, _way(ways, citing), before)
            elif decision is not None and decision.is_overturned and _has_ended(state, decision, at):
                before = _has_ended(state, decision, decided_at)
                fallen[cite.id] = Fallen(cite.id, "overturned", _way(ways, citing), before)
            elif decision is not None:
                ways[cite.id] = citing
                nearest.append(cite.id)
    return tuple(fallen.values())


def _way(ways: dict[str, str | None], citing: str) -> list[str]:
    """Return the decisions between the starting one and what `citing` cites."""
    path: list[str] = []
    step: str | None = citing
    while step is not None and ways[step] is not None:
        path.append(step)
        step = ways[step]
    return path[::-1]


def standing(state: State, identity: str) -> Standing:
    """Return whether a decision is in force, at risk or overturned."""
    if state.decisions[identity].overturned_by is not None:
        return "overturned"
    return "at_risk" if fallen_under(state, identity) else "in_force"


_RESULTS: Final[Mapping[Status, str]] = {"tested_confirmed": "holds", "tested_refuted": "fails"}


def tested_by(state: State, concern: str) -> str | None:
    """Return the claim that a way to be wrong names, once a test of the claim holds or fails."""
    facts = state.concerns[concern]
    named = facts.between if facts.type == "defeater" else ()
    # A ledger of a stranger may name anything here.
    claims = (claim for claim in named if claim in state.claims)
    return next((claim for claim in claims if state.claims[claim].status in _RESULTS), None)


def concern_standing(state: State, concern: str) -> str:
    """Return `resolved`, `open`, or the test that answers a way to be wrong: `tested by C-1-1: fails`."""
    if concern in state.resolved:
        return "resolved"
    claim = tested_by(state, concern)
    return "open" if claim is None else f"tested by {claim}: {_RESULTS[state.claims[claim].status]}"


def standings(state: State) -> dict[str, Standing]:
    """Return the standing of every decision."""
    return {identity: standing(state, identity) for identity in state.decisions}


def _has_ended(state: State, facts: DecisionFacts, at: int | None) -> bool:
    later = state.decisions.get(facts.overturned_by or "")
    return later is not None and (at is None or later.seq <= at)


WORDS: Final[Mapping[Literal["falsifiers", "requirements"], str]] = {
    "falsifiers": "would show it wrong",
    "requirements": "required",
}
"""Words that introduce a condition."""


class Conditions(NamedTuple):
    """Texts of a decision's falsifiers and requirements."""

    falsifiers: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    word: str = WORDS["requirements"]

    def introduced(self) -> tuple[tuple[str, str], ...]:
        """Return each condition with the words that introduce it."""
        return (
            *((WORDS["falsifiers"], text) for text in self.falsifiers),
            *((self.word, text) for text in self.requirements),
        )


def conditions_of(event: Decision, state: State | None = None) -> Conditions:
    """Return the conditions of a decision, with the word for what it asks for in the run's protocol."""
    # The judge of a panel has to recommend something, and the ledger has one field for both.
    word = WORDS["requirements"] if state is None or state.opening.protocol != "panel" else "recommended"
    return Conditions(event.falsifiers, tuple(requirement.text for requirement in event.requirements), word)
