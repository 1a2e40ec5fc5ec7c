"""From a book to its story: one function for the whole run, one for a single round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ledger.events import (
    Alarm,
    Amendment,
    Artifact,
    Claim,
    Concern,
    Decision,
    DriftCheck,
    Event,
    Fallback,
    Flip,
    Position,
    RunOpened,
    Signals,
    Statement,
    Validation,
    Verification,
)
from ledger.events.conditions import conditions_of
from ledger.events.ids import number_of, role_of
from ledger.state.book import Book
from ledger.state.decided import fallen_under, final_in_force, outcome, overridden
from moot.view.cast_told import seats_told
from moot.view.evidence_tree import Sectioned, decision_standing, quotes_of, rests_on
from moot.view.labels import labels_told
from moot.view.signature import observations
from moot.view.sources import Sources, sources_of
from moot.view.story import (
    CheckTold,
    ClaimTold,
    ConcernTold,
    DecisionTold,
    Made,
    Moved,
    OtherVerdict,
    Review,
    RoundTold,
    Stance,
    Story,
)
from moot.view.words import ARTIFACTS

ENDING: Final = frozenset({"overturns", "supersedes"})
"""Relations of a cite by which a decision ends another one, and does not rest on it."""
_MODES: Final = tuple(f"fm-{n}" for n in range(1, 9))


class Untold(ValueError):
    """The book is empty: there is no story yet."""


def tell(book: Book) -> Story:
    """The whole story. Raises `Untold` for a book without an opening."""
    state, opened = book.state, book.state.opened
    if opened is None:
        raise Untold("a run begins with its opening")
    sources = sources_of(book)
    rounds = tuple(tell_round(book, n, sources) for n in sorted(state.rounds))
    in_rounds = {decision.seq: decision for one in rounds for decision in one.decisions}
    decisions = tuple(
        in_rounds.get(event.seq) or tell_decision(book, event, sources.sections)
        for event in book.of(Decision)
    )
    told = {decision.id: decision for decision in decisions}
    return Story(
        question=opened.question,
        domain=opened.domain,
        protocol=f"{opened.protocol} {opened.protocol_version}",
        origin=opened.origin.type,
        goals=opened.goals,
        options=opened.options,
        context=opened.context,
        plan=opened.plan,
        predict=opened.predict,
        stop=opened.stop,
        moot=opened.moot,
        labels=labels_told(book),
        seats=seats_told(book),
        rounds=rounds,
        claims=tuple(tell_claim(book, event) for event in book.of(Claim)),
        decisions=decisions,
        outcome=tuple(told[identity] for identity in outcome(state)),
        is_final=bool(final_in_force(state)),
        concerns=tell_concerns(book.of(Concern), sources.closers),
        reviews=tuple(_reviews(book)),
        notes=tuple(one for one in state.amendments if one.by == "human"),
        closing=state.closing,
        spend=state.spend,
        quorum=state.quorum,
        began=book.events[0].at,
        last=book.events[-1].at,
    )


def tell_round(book: Book, round_: int, sources: Sources | None = None) -> RoundTold:
    """One round that has been opened."""
    state, opened = book.state, book.state.rounds[round_]
    found = sources or sources_of(book)
    book = found.round_of(book, round_)
    events = book.events
    tests = [event for event in events if isinstance(event, Verification)]
    checks = tuple(
        tell_check(book, event, found.sections)
        for event in sorted(tests, key=lambda one: number_of(one.id or ""))
    )
    judged = {check.id for check in checks}
    looks = [event for event in events if isinstance(event, Signals)]
    drifts = [event for event in events if isinstance(event, DriftCheck)]
    return RoundTold(
        n=round_,
        lead=opened.lead,
        absent=opened.absent,
        focus=opened.focus,
        planned=_planned(state.opened, opened.plan_row),
        phase=events[-1].phase if events else "A",
        applicable=opened.applicable,
        made=tuple(_made(events)),
        sealed=tuple(
            _stance(book, event, found.sections)
            for event in events
            if isinstance(event, Position) and event.on not in judged
        ),
        checks=checks,
        claims=tuple(tell_claim(book, event) for event in events if isinstance(event, Claim)),
        decisions=tuple(
            tell_decision(book, event, found.sections) for event in events if isinstance(event, Decision)
        ),
        concerns=tell_concerns(book.of(Concern), found.closers),
        drift=drifts[-1] if drifts else None,
        look=looks[-1] if looks else None,
        alarms=tuple(event for event in events if isinstance(event, Alarm)),
        amendments=tuple(event for event in events if isinstance(event, Amendment)),
        fallbacks=tuple(event for event in events if isinstance(event, Fallback)),
        findings=_findings(events),
        signature=observations(book, opened),
    )


def _planned(opened: RunOpened | None, row: int) -> tuple[str, ...]:
    return opened.plan[row].phases if opened is not None and row < len(opened.plan) else ()


def _findings(events: Sequence[Event]) -> tuple[int, int] | None:
    """Errors and warnings of the round's last validation; None before there is one."""
    last = next((event for event in reversed(events) if isinstance(event, Validation)), None)
    if last is None:
        return None
    errors = sum(finding.severity == "error" for finding in last.findings)
    return errors, len(last.findings) - errors


def _made(events: Sequence[Event]) -> Iterator[Made]:
    sealed: dict[str, list[str]] = {}
    for event in events:
        match event:
            case Statement():
                yield Made(event.by, event.phase, event.type, event.id or "", event.sections[0].text)
            case Artifact():
                yield Made(event.role, event.phase, "artifact", event.id or "", artifact_facts(event))
            case Position():
                sealed.setdefault(_holder(event), []).append(str(event.check_id or event.on))
            case _:
                pass
    for role, checks in sealed.items():
        yield Made(role, "E", "positions", "", ", ".join(checks))


def artifact_facts(event: Artifact) -> str:
    """What an artifact is and holds: `walkthrough, 3 findings, 2 claims proposed`."""
    findings, claims = len(event.findings), len(event.proposed_claims)
    return f"{ARTIFACTS.get(event.type, event.type)}, {_count(findings, 'finding')}, {_count(claims, 'claim')} proposed"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _holder(event: Position | Flip) -> str:
    """An import is written by nobody of the cast; the id names the role."""
    return role_of(event.id or "") if event.by == "import" else event.by


def tell_claim(book: Book, event: Claim) -> ClaimTold:
    """A claim with its lifecycle."""
    identity = event.id or ""
    facts = book.state.claims[identity]
    return ClaimTold(
        id=identity,
        seq=event.seq,
        round=event.round,
        raised_by=event.raised_by,
        text=event.text,
        testable_as=event.testable_as,
        status=facts.status,
        history=tuple(facts.history),
        anchor=event.anchor_ref,
        supersedes=event.supersedes,
        source=event.raised_at_artifact,
    )


def tell_check(book: Book, event: Verification, sections: Sectioned) -> CheckTold:
    """A verification with the positions that were sealed before it; `book` holds its round."""
    changed = {change.claim_id: change for change in event.claim_status_changes}
    unmoved = [Moved(claim, None, None, None) for claim in event.claims_affected if claim not in changed]
    return CheckTold(
        id=event.id or "",
        seq=event.seq,
        round=event.round,
        check=event.check,
        check_id=event.check_id,
        result=event.result,
        by=event.by,
        notes=event.notes,
        moved=(*(Moved(one.claim_id, one.from_, one.to, one.bearing) for one in changed.values()), *unmoved),
        quotes=quotes_of(book, event.evidence_refs, sections),
        stances=tuple(
            _stance(book, one, sections) for one in book.of(Position, event.round) if one.on == event.id
        ),
        repeats=event.repeats,
    )


def _stance(book: Book, event: Position, sections: Sectioned) -> Stance:
    flip = next((one for one in book.of(Flip, event.round) if one.of == event.id), None)
    return Stance(
        role=_holder(event),
        check_id=event.check_id,
        stance=event.stance,
        confidence=event.confidence,
        reason=event.reason,
        flipped_to=flip.to if flip else None,
        because=quotes_of(book, flip.because, sections) if flip else (),
    )


def tell_decision(book: Book, event: Decision, sections: Sectioned) -> DecisionTold:
    """A decision with everything that it rests on."""
    identity = event.id or ""
    return DecisionTold(
        id=identity,
        seq=event.seq,
        round=event.round,
        type=event.type,
        made_by=event.made_by,
        text=event.text,
        confidence=event.confidence,
        conditions=conditions_of(event, book.state.opened),
        in_place_of=_in_place_of(book, identity),
        overturned_by=book.state.decisions[identity].overturned_by,
        fallen=tuple(one.id for one in fallen_under(book.state, identity)),
        standing=decision_standing(book.state, identity),
        ends=tuple(cite.id for cite in event.cites if cite.relation in ENDING),
        rests_on=tuple(
            ground for ground in rests_on(book, event, sections=sections) if ground.relation not in ENDING
        ),
        had_expected=tuple(_other_verdict(book, one.role, one.ref) for one in event.dissent),
    )


def _in_place_of(book: Book, identity: str) -> str | None:
    first = overridden(book.state, identity)
    return None if first == identity else first


def _other_verdict(book: Book, role: str, ref: str) -> OtherVerdict:
    held = book.by_id.get(ref)
    match held:
        case Position():
            return OtherVerdict(role, ref, held.on, held.stance, held.reason)
        case Flip():
            position = book.by_id.get(held.of)
            on = position.on if isinstance(position, Position) else ""
            return OtherVerdict(role, ref, on, held.to, "")
        case _:
            return OtherVerdict(role, ref, "", "", "")


def tell_concerns(concerns: Iterable[Concern], closers: Mapping[str, str]) -> tuple[ConcernTold, ...]:
    """Concerns with what closed them (`Sources.closers`)."""
    return tuple(
        ConcernTold(
            id=event.id or "",
            round=event.round,
            type=event.type,
            by=event.by,
            between=event.between,
            severity=event.severity,
            for_human=event.for_human,
            text=event.text,
            resolved_by=closers.get(event.id or ""),
        )
        for event in concerns
    )


def _reviews(book: Book) -> Iterator[Review]:
    """The retrospectives; a section `fm-1` begins with `seen: yes`."""
    for event in book.of(Statement):
        if event.type == "retrospective":
            sections = {section.name: section.text for section in event.sections}
            modes = {name.upper(): _seen(sections[name]) for name in _MODES if name in sections}
            yield Review(event.by, sections.get("summary", ""), modes)


def _seen(text: str) -> tuple[str, str]:
    first, _, why = text.partition("\n")
    return first.removeprefix("seen:").strip(), why
