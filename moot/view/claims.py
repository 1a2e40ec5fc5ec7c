"""Claims with their lifecycles, and decisions: each with what it rests on, and whether that still stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from ledger.events import (
    Claim,
    Decision,
)
from ledger.events.decisions import Cite, Relation
from ledger.events.envelope import Bearing, Status
from ledger.plain_text import counted, one_line
from ledger.result import Result, extended
from ledger.state.book import Book
from ledger.state.decided import (
    WORDS,
    Conditions,
    Fallen,
    Standing,
    concern_standing,
    conditions_of,
    fallen_under,
    overridden,
    standing,
    standings,
)
from ledger.state.lifecycle import HistoryEntry
from ledger.state.state import State
from moot.view.grounds import DEPTH_MAX, Ground, Sectioned, decision_standing, rests_on
from moot.view.marks import (
    AT_RISK,
    SHOWN_AS,
    STATUSES,
    Mark,
    claim_mark,
    how_tested,
    last_test,
    move_text,
    status_with_level,
)
from moot.view.objections import Dissenting
from moot.view.outcome import Outcome
from moot.view.text import WIDTH, folded, joined, listed
from rounds.run.outcome import RunQuorum


class StatusMove(Result, frozen=True):
    """One move of a claim; `by` is the verification's id, or that of the claim that superseded it.

    `class` is the class of the evidence, null where the ledger has none, as in an import; `tested` says in words how
    the move came about: `ran ×3`, `quoted`, `read by verifier`.
    """

    from_: Status = msgspec.field(name="from")
    to: Status
    bearing: Bearing | None
    by: str
    seq: int
    class_: str | None = msgspec.field(name="class")
    tested: str


class ClaimLine(Result, frozen=True):
    """A claim and where it stands. `history` holds the moves that count, in their order (FORMAT 2).

    `class` and `tested` are those of its last test.
    """

    id: str
    round: int
    raised_by: str
    text: str
    testable_as: str
    supersedes: str | None
    status: Status
    about: list[str]
    anchor_ref: str | None
    history: list[StatusMove]
    class_: str | None = msgspec.field(name="class")
    tested: str


class Claims(Result, frozen=True):
    """All claims of a run, by round and number."""

    run: str
    claims: list[ClaimLine]


def claims_of(run: str, book: Book) -> Claims:
    """Return the claims of a book."""
    return Claims(run=run, claims=[_claim(book, identity) for identity in book.state.claims])


def _claim(book: Book, identity: str) -> ClaimLine:
    facts = book.state.claims[identity]
    class_, tested = _evidence(book, identity)
    return ClaimLine.from_parts(
        book.by_id[identity],
        facts,
        # Illegal and outweighed moves stay on the ledger but change no status (SD-44).
        history=[
            StatusMove.from_parts(entry, class_=entry.class_ or None, tested=how_tested(book, entry))
            for entry in facts.history
            if entry.counts
        ],
        class_=class_,
        tested=tested,
    )


def _evidence(book: Book, claim: str) -> tuple[str | None, str]:
    """Return the level of a claim's evidence and how it was tested; a superseded claim keeps those of its last test."""
    last = last_test(book, claim)
    return (None, "") if last is None else (last.class_ or None, how_tested(book, last))


class ClaimView(Claim, frozen=True, kw_only=True):
    """A claim with its lifecycle; `tested` says how each move came about, `mark` shows its status."""

    status: Status
    history: tuple[HistoryEntry, ...]
    tested: tuple[str, ...]
    mark: Mark


def tell_claim(book: Book, event: Claim) -> ClaimView:
    """Return a claim with its lifecycle."""
    facts = book.state.claims[event.id]
    return extended(
        ClaimView,
        event,
        status=facts.status,
        history=tuple(facts.history),
        tested=tuple(how_tested(book, entry) for entry in facts.history),
        mark=claim_mark(book, event.id),
    )


def lifecycle(claim: ClaimView) -> str:
    """Return the moves of a claim: `○ pending → ● quoted (V-3-1) → ⇢ superseded (C-5-2)`."""
    steps = [STATUSES["pending"].plain]
    for entry, how in zip(claim.history, claim.tested, strict=True):
        # A re-test with the same result is recorded as a move of its own (SD-44).
        again = " again" if entry.from_ == entry.to else ""
        illegal = ", not allowed" if not entry.legal else ", outweighed" if entry.outweighed else ""
        status = status_with_level(entry.to, entry.class_, how)
        steps.append(f"{status}{again} ({entry.by}{illegal})")
    return " → ".join(steps)


def claims_text(claims: Claims, width: int = WIDTH) -> str:
    """Return what `moot claims` prints: each claim, its test, and its moves."""
    lines: list[str] = []
    for claim in claims.claims:
        stands = status_with_level(claim.status, claim.class_, claim.tested)
        lines.append(f"{claim.id}  {stands}  raised by {claim.raised_by}")
        lines += folded(claim.text, width=width)
        lines += folded(f"testable as: {claim.testable_as}", width=width)
        if claim.supersedes:
            lines.append(f"  supersedes {claim.supersedes}")
        lines += _moves(claim.history)
    # Count by level, not by `ran ×3` and `ran ×5`, or the summary would list every number of runs.
    counts = Counter(
        (claim.status, SHOWN_AS[claim.class_] if claim.class_ else "") for claim in claims.claims
    )
    ordered = sorted(counts, key=lambda key: list(STATUSES).index(key[0]))
    # The first two characters are the shape and its space, which a summary does not need.
    parts = [f"{counts[key]} {status_with_level(*key, key[1])[2:]}" for key in ordered]
    lines.append(f"{counted(len(claims.claims), 'claim')}: {listed(parts)}")
    return joined(lines)


def _moves(history: Sequence[StatusMove]) -> Iterator[str]:
    before = STATUSES["pending"].plain
    for move in history:
        bearing = f" ({move.bearing})" if move.bearing else ""
        after = move_text(move.to, move.class_ or "", move.tested, move.by)
        yield f"    {before} → {after}{bearing} @{move.seq}"
        # Each line starts from the status as it was worded on the line before.
        before = status_with_level(move.to, move.class_, move.tested)


class Citation(Result, frozen=True):
    """What a decision rests on, and how that stands now: a claim's status, a check's result; null where it has none.

    `class` is the class of a claim's evidence, null where the ledger has none; `tested` says how it was tested.
    """

    type: str
    id: str
    relation: Relation
    stands: str | None
    class_: str | None = msgspec.field(name="class")
    tested: str


class DecisionLine(Result, frozen=True):
    """A decision. `at_risk`: something that it rests on does not stand, and `fallen` says what.

    `falsifiers` would show it to be wrong, `requirements` have to be met; `dissent` is who disagrees with it.
    `in_place_of` is the decision that an override stands for, `name` the person who decided.
    """

    id: str
    round: int
    type: str
    text: str
    made_by: str
    name: str | None
    standing: Standing
    overturned_by: str | None
    cites: list[Citation]
    anchor_ref: str | None
    about: list[str]
    confidence: int | None
    dissent: list[Dissenting]
    seq: int
    falsifiers: list[str]
    requirements: list[str]
    in_place_of: str | None
    fallen: list[Fallen]


class Decisions(Result, frozen=True):
    """All decisions of a run, in order; `quorum`: what the run rests on, `outcome`: its outcome."""

    run: str
    quorum: RunQuorum
    outcome: Outcome
    decisions: list[DecisionLine]


def decision_lines(book: Book, *, final: bool = False, in_force: bool = False) -> list[DecisionLine]:
    """Return the decisions of a book: all, those of final rank, those that no later one ended."""
    stands = standings(book.state)
    lines: list[DecisionLine] = []
    for identity, facts in book.state.decisions.items():
        if (final and facts.rank != "final") or (in_force and facts.overturned_by is not None):
            continue
        event = book.by_id[identity]
        # The fold only creates decision facts from decisions, so this guards the type.
        assert isinstance(event, Decision), f"{identity} is no decision"
        lines.append(_decision(identity, event, book, stands[identity]))
    return lines


def _decision(identity: str, event: Decision, book: Book, stands: Standing) -> DecisionLine:
    state = book.state
    return DecisionLine.from_parts(
        conditions_of(event),
        event,
        standing=stands,
        overturned_by=state.decisions[identity].overturned_by,
        cites=[
            Citation.from_parts(cite, stands=_stands(cite, state), class_=class_, tested=tested)
            for cite in event.cites
            for class_, tested in [_evidence(book, cite.id)]
        ],
        in_place_of=_in_place_of(book, identity),
        fallen=fallen_under(state, identity),
    )


def _stands(cite: Cite, state: State) -> str | None:
    """Return the status of what a cite names; None where it has none."""
    if cite.id in state.claims:
        return state.claims[cite.id].status
    if cite.id in state.checks:
        return state.checks[cite.id].result
    if cite.id in state.decisions:
        return standing(state, cite.id)
    # A decision may cite a concern that it resolves or leaves open.
    return concern_standing(state, cite.id) if cite.id in state.concerns else None


class DecisionView(Decision, frozen=True, kw_only=True):
    """A decision; `fallen` are grounds that no longer hold, which puts it AT RISK.

    `in_place_of` is the decision that it overrides, the first of a chain. `standing` is its standing in words.
    `ends` are decisions and rulings that it overturns or supersedes, which are not grounds of it.
    """

    conditions: Conditions
    in_place_of: str | None
    overturned_by: str | None
    fallen: tuple[str, ...]
    standing: str
    ends: tuple[str, ...]
    rests_on: tuple[Ground, ...]

    @property
    def in_force(self) -> bool:
        """Return whether no later decision ended it."""
        return self.overturned_by is None

    @property
    def standing_marked(self) -> str:
        """Return the standing in words, with a mark where the decision is at risk."""
        return f"{AT_RISK.shape} {self.standing}" if self.in_force and self.fallen else self.standing

    @property
    def named(self) -> tuple[str, ...]:
        """Return the ids of what it ends, then of what it rests on."""
        return (*self.ends, *(ground.id for ground in self.rests_on))

    @property
    def facts(self) -> tuple[str, ...]:
        """Return short facts: type, what it ends, round, who made it, how sure."""
        place = f"{self.type} in place of {self.in_place_of}" if self.in_place_of else self.type
        ended = (f"ends {', '.join(self.ends)}",) if self.ends and not self.in_place_of else ()
        sure = () if self.confidence is None else (f"confidence {self.confidence} of 5",)
        return (
            place,
            *ended,
            f"round {self.round}",
            f"by {self.name or self.made_by.replace('_', ' ')}",
            *sure,
        )


ENDING: Final = frozenset({"overturns", "supersedes"})
"""Relations of a cite by which a decision ends another one instead of resting on it."""


def tell_decision(book: Book, event: Decision, sections: Sectioned, depth: int = DEPTH_MAX) -> DecisionView:
    """Return a decision with everything that it rests on, `depth` decisions down."""
    identity = event.id
    return extended(
        DecisionView,
        event,
        conditions=conditions_of(event, book.state),
        in_place_of=_in_place_of(book, identity),
        overturned_by=book.state.decisions[identity].overturned_by,
        fallen=tuple(ground.id for ground in fallen_under(book.state, identity)),
        standing=decision_standing(book.state, identity),
        ends=tuple(cite.id for cite in event.cites if cite.relation in ENDING),
        rests_on=tuple(
            # What a decision ends is no support for it, so it is listed under `ends` alone.
            ground
            for ground in rests_on(book, event, depth, sections)
            if ground.relation not in ENDING
        ),
    )


def _in_place_of(book: Book, identity: str) -> str | None:
    # Overrides can be overridden; a reader wants the original decision, not the link before.
    first = overridden(book.state, identity)
    return None if first == identity else first


STANDING_MARKS = {"in_force": "in force", "at_risk": "AT RISK", "overturned": "overturned"}


def _cited(cite: Citation, marks: Mapping[str, str]) -> str:
    stands = cite.stands or ""
    # Without an evidence level, as in an import, the plain status word has to do.
    return status_with_level(stands, cite.class_, cite.tested) if cite.class_ else marks.get(stands, stands)


def decisions_text(decisions: Decisions, caveats: Sequence[str], width: int = WIDTH) -> str:
    """Return what `moot decisions` prints: caveats, then each decision with what it cites."""
    marks = {**{name: mark.plain for name, mark in STATUSES.items()}, **STANDING_MARKS}
    lines = list(caveats)
    for decision in decisions.decisions:
        place = f" in place of {decision.in_place_of}" if decision.in_place_of else ""
        stands = (
            f"overturned by {decision.overturned_by}"
            if decision.overturned_by
            else STANDING_MARKS[decision.standing]
        )
        lines.append(
            f"{decision.id}  {decision.type}{place}, {stands}   ({decision.name or decision.made_by})"
        )
        lines += folded(decision.text, width=width)
        # A decision that was overturned is not at risk any more, whatever fell below it.
        for ground in decision.fallen if decision.standing == "at_risk" else ():
            through = f", through {listed(ground.through)}" if ground.through else ""
            before = ", before this was decided" if ground.before else ""
            lines.append(f"    at risk: {ground.id} {marks[ground.status]}{through}{before}")
        for cite in decision.cites:
            stands = f" {_cited(cite, marks)}" if cite.stands else ""
            lines.append(f"    {cite.relation} {cite.id}{stands}")
        # What the outcome lists as a step is advice, and no condition.
        is_advice = {*map(one_line, decision.requirements)} <= {
            point.text for point in decisions.outcome.do_now
        }
        word = "recommended" if is_advice else WORDS["requirements"]
        lines += [f"    {WORDS['falsifiers']}: {text}" for text in decision.falsifiers]
        lines += [f"    {word}: {text}" for text in decision.requirements]
    lines.append(counted(len(decisions.decisions), "decision"))
    # The verdict's full evidence is too long to print here, so point to the last one.
    if cited := [
        cite.id for decision in decisions.decisions for cite in decision.cites if cite.type == "verification"
    ]:
        lines.append(f"what a verdict saw and quotes: moot log {decisions.run} {cited[-1]}")
    return joined(lines)
