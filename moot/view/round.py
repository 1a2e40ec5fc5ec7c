"""One round for every view: statements, sealed positions, checks, decisions, and predicted effects of an absence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

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
    RoundOpened,
    Signals,
    Statement,
    Validation,
    Verification,
)
from ledger.events.ids import kind_of, number_of, parse_reference, round_of
from ledger.result import extended
from ledger.state.book import Book, strings
from ledger.state.decided import tested_by
from ledger.state.state import State
from moot.view.claims import ClaimView, DecisionView, tell_claim, tell_decision
from moot.view.events import acting_role, artifact_facts
from moot.view.grounds import DEPTH_MAX, Quote, Sectioned, Sources, quotes_of, sources_of


class Stance(Position, frozen=True, kw_only=True):
    """A sealed position on a check and its fate; `flipped_to` has no value while it holds."""

    role: str
    flipped_to: str | None
    because: tuple[Quote, ...]


class Moved(msgspec.Struct, frozen=True):
    """A claim that a check tested; `bearing` has no value when the test changed nothing."""

    claim: str
    from_: str | None
    to: str | None
    bearing: str | None


class CheckView(Verification, frozen=True, kw_only=True):
    """A verification and what it moved. `stances` are the positions sealed before it, in role order."""

    moved: tuple[Moved, ...]
    quotes: tuple[Quote, ...]
    stances: tuple[Stance, ...]


class Product(msgspec.Struct, frozen=True):
    """A contribution of a role to a round: a statement, an artifact, a set of sealed positions."""

    role: str
    phase: str
    kind: str
    id: str
    text: str


class ConcernView(Concern, frozen=True, kw_only=True):
    """A concern, a tension, a question or a way to be wrong. `resolved_by` names what closed or tested it."""

    resolved_by: str | None


class Observation(msgspec.Struct, frozen=True):
    """A predicted effect of an absence and the observed one; without `agrees` the ledger cannot show it."""

    code: str
    predicted: str
    observed: str
    agrees: bool | None


class RoundView(RoundOpened, frozen=True, kw_only=True):
    """One round. `phase` is the last one that has an event, `planned` the phases of its plan row."""

    n: int
    planned: tuple[str, ...]
    products: tuple[Product, ...]
    sealed: tuple[Stance, ...]
    checks: tuple[CheckView, ...]
    claims: tuple[ClaimView, ...]
    decisions: tuple[DecisionView, ...]
    concerns: tuple[ConcernView, ...]
    drift: DriftCheck | None
    look: Signals | None
    alarms: tuple[Alarm, ...]
    amendments: tuple[Amendment, ...]
    fallbacks: tuple[Fallback, ...]
    validated: tuple[int, int] | None
    signature: tuple[Observation, ...]

    @property
    def cross_checks(self) -> Mapping[int, CheckView]:
        """Return the round's own checks, 1 to 4, without repeated judgements and without those of the synthesis."""
        return {
            # The four checks have the numbers 1 to 4 (SD-27); re-tests and resolutions are no part of them.
            check.check_id: check
            for check in self.checks
            if check.check_id <= 4 and check.repeats is None
        }

    @property
    def applied(self) -> int:
        """Return the number of checks that applied."""
        return sum(check.result != "NOT_APPLICABLE" for check in self.cross_checks.values())

    @property
    def disagreement(self) -> int:
        """Return how many of the applied checks came out BROKEN or UNCLEAR (SD-63)."""
        return sum(check.result in ("BROKEN", "UNCLEAR") for check in self.cross_checks.values())


def tell_round(book: Book, round_: int, sources: Sources | None = None, depth: int = DEPTH_MAX) -> RoundView:
    """Return a round that has been opened; its decisions go `depth` decisions down."""
    state, opened = book.state, book.state.rounds[round_]
    sources_ = sources or sources_of(book)
    # From here on searches see one round, which keeps a long run linear.
    book = sources_.round_of(book, round_)
    events, plan = book.events, state.opening.plan
    tests = sorted(book.of(Verification), key=lambda test: number_of(test.id))
    judged = {test.id for test in tests}
    return extended(
        RoundView,
        opened,
        n=round_,
        planned=plan[opened.plan_row].phases if opened.plan_row < len(plan) else (),
        phase=events[-1].phase if events else "A",
        products=tuple(_contributions(events)),
        sealed=tuple(
            _stance(book, position, sources_.sections)
            for position in book.of(Position)
            # Positions on checks that have a verdict are shown with it, opened.
            if position.on not in judged
        ),
        checks=tuple(tell_check(book, test, sources_.sections) for test in tests),
        claims=tuple(tell_claim(book, claim) for claim in book.of(Claim)),
        decisions=tuple(
            tell_decision(book, decision, sources_.sections, depth) for decision in book.of(Decision)
        ),
        concerns=tell_concerns(book, sources_.closers),
        drift=next(reversed(book.of(DriftCheck)), None),
        look=next(reversed(book.of(Signals)), None),
        alarms=book.of(Alarm),
        amendments=book.of(Amendment),
        fallbacks=book.of(Fallback),
        validated=_findings(book),
        signature=observations(book, opened),
    )


def _findings(book: Book) -> tuple[int, int] | None:
    """Return errors and warnings of the round's last validation; None before there is one."""
    last = next(reversed(book.of(Validation)), None)
    if last is None:
        return None
    errors = sum(finding.severity == "error" for finding in last.findings)
    return errors, len(last.findings) - errors


def _contributions(events: Sequence[Event]) -> Iterator[Product]:
    sealed: dict[str, list[str]] = {}
    for event in events:
        match event:
            case Statement():
                yield Product(event.by, event.phase, event.type, event.id, event.sections[0].text)
            case Artifact():
                yield Product(event.role, event.phase, "artifact", event.id, artifact_facts(event))
            # Sealed texts stay closed here; only the number of the check is public.
            case Position():
                sealed.setdefault(acting_role(event), []).append(str(event.check_id or event.on))
            case _:
                pass
    for role, checks in sealed.items():
        yield Product(role, "E", "positions", "", ", ".join(checks))


def tell_check(book: Book, event: Verification, sections: Sectioned) -> CheckView:
    """Return a verification with the positions that were sealed before it; `book` holds its round."""
    changed = {change.claim_id: change for change in event.claim_status_changes}
    # A check may look at a claim without changing its status, which is a result too.
    unmoved = [Moved(claim, None, None, None) for claim in event.claims_affected if claim not in changed]
    return extended(
        CheckView,
        event,
        moved=(
            *(Moved(change.claim_id, change.from_, change.to, change.bearing) for change in changed.values()),
            *unmoved,
        ),
        quotes=quotes_of(book, event.evidence_refs, sections),
        stances=tuple(
            _stance(book, position, sections)
            for position in book.of(Position, event.round)
            if position.on == event.id
        ),
    )


def _stance(book: Book, event: Position, sections: Sectioned) -> Stance:
    flip = next((flip for flip in book.of(Flip, event.round) if flip.of == event.id), None)
    return extended(
        Stance,
        event,
        role=acting_role(event),
        flipped_to=flip.to if flip else None,
        because=quotes_of(book, flip.because, sections) if flip else (),
    )


def tell_concerns(book: Book, closers: Mapping[str, str]) -> tuple[ConcernView, ...]:
    """Return the concerns of a book with what closed them (`Sources.closers`) or tests them."""
    return tuple(
        extended(ConcernView, event, resolved_by=closers.get(event.id) or tested_by(book.state, event.id))
        for event in book.of(Concern)
    )


READINGS: Final[Mapping[bool | None, str]] = {
    True: "as predicted",
    False: "not as predicted",
    None: "cannot be read from the ledger",
}


def observations(book: Book, opened: RoundOpened) -> tuple[Observation, ...]:
    """Return each predicted effect of a stress round with the observed one; empty before its validation."""
    predicted = opened.predicted_signature
    # Before the validation the round may still add what was predicted to be missing.
    if not predicted or opened.round not in book.state.validated:
        return ()
    return tuple(
        Observation(entry.code, entry.text, *_observed(book, entry.code, opened)) for entry in predicted
    )


def _observed(book: Book, code: str, opened: RoundOpened) -> tuple[str, bool | None]:
    match code:
        case "no_broken":
            return _broken(book.state, opened.round)
        case "fewer_claims":
            return _claims(book.state, opened.round)
        case "no_cross_round_trace":
            return _references(book, opened.round, to_kind="decision", what="earlier decisions")
        case "no_invariant":
            return _references(
                book, opened.round, to_kind="artifact", what="an earlier invariant", section="invariant"
            )
        case "no_goal_verdict":
            return _references(
                book, opened.round, to_kind="artifact", what="an earlier walkthrough", of="observer"
            )
        case _:
            return "", None


def _broken(state: State, round_: int) -> tuple[str, bool | None]:
    checks = [
        (identity, check.result)
        for identity, check in state.checks.items()
        # Synthesis resolves claims with checks of its own, which say nothing about the absence.
        if check.round == round_ and check.phase == "E" and check.result != "NOT_APPLICABLE"
    ]
    broken = [identity for identity, result in checks if result == "BROKEN"]
    if not checks:
        return "no check was made", None
    names = f" ({', '.join(broken)})" if broken else ""
    return f"{len(broken)} of {len(checks)} checks BROKEN{names}", not broken


def _claims(state: State, round_: int) -> tuple[str, bool | None]:
    """Compare the claims of a stress round with the nearest normal rounds before and after it."""
    raised = _raised(state, round_)
    normal = [n for n, row in state.rounds.items() if row.absent is None and row.applicable]
    # The number of claims changes over a run, so compare with neighbors instead of the overall mean.
    around = [*[n for n in normal if n < round_][-1:], *[n for n in normal if n > round_][:1]]
    if not around:
        return f"{raised} claims, and no normal round to hold them against", None
    beside = ", ".join(f"R{n} {_raised(state, n)}" for n in around)
    mean = sum(_raised(state, n) for n in around) / len(around)
    return f"{raised} claims; around it {beside}", raised < mean


def _raised(state: State, round_: int) -> int:
    return sum(claim.round == round_ for claim in state.claims.values())


def _references(
    book: Book, round_: int, *, to_kind: str, what: str, section: str = "", of: str = ""
) -> tuple[str, bool | None]:
    """Return how often artifacts and checks of a round refer to work of the absent role's kind."""
    references = sorted(
        {
            ref
            for ref in _refs(book, round_)
            if kind_of(ref) == to_kind
            # References within the round are no memory of earlier work.
            and (round_of(parse_reference(ref).id) or 0) < round_
            and (parse_reference(ref).section or "").startswith(section)
            and parse_reference(ref).id.endswith(of)
        }
    )
    if not references:
        return f"no reference to {what}", True
    sample = ", ".join(references[:3]) + (" …" if len(references) > 3 else "")
    return f"{len(references)} references to {what} ({sample})", False


def _refs(book: Book, round_: int) -> Iterator[str]:
    for artifact in book.of(Artifact, round_):
        yield from artifact.cites
        # Body texts are prose; a reference is a short token without spaces.
        tokens = (text for text in strings(artifact.body) if len(text) < 80 and " " not in text)
        yield from (text for text in tokens if round_of(parse_reference(text).id) is not None)
    for check in book.of(Verification, round_):
        # Only cross-checks have evidence that the prediction is about (SD-76).
        if check.phase == "E":
            yield from (evidence.ref for evidence in check.evidence_refs)
