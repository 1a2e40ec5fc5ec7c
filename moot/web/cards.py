"""What each role did, as a page shows it: one card an event, whatever the protocol.

A challenge and an agreement differ by shape, by word and by colour. A sealed position stays closed until what it is
about is on the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from ledger.events import (
    Alarm,
    Amendment,
    Argument,
    Artifact,
    Assumption,
    Challenge,
    Claim,
    Concern,
    Decision,
    Disposition,
    DriftCheck,
    Event,
    Fallback,
    Flip,
    Position,
    Rating,
    Response,
    RoundOpened,
    Ruling,
    RunClosed,
    RunOpened,
    Score,
    Screening,
    Signals,
    Standing,
    Statement,
    Validation,
    Verification,
    Vote,
)
from ledger.events.ids import role_of
from ledger.state.book import Book
from ledger.state.decided import fallen_under
from moot.view import marks, words
from moot.view.marks import Mark, mark_of
from moot.view.round import artifact_facts


@dataclass(frozen=True, slots=True)
class EventCard:
    """One event as a card. `ref` is its id or `@<seq>`; `about` are ids or references that it is about."""

    seq: int
    ref: str
    kind: str
    role: str
    phase: str
    step: str | None
    word: str
    mark: Mark
    text: str
    about: tuple[str, ...] = ()
    sealed: bool = False

    @property
    def tone(self) -> str:
        """The class of its mark."""
        return self.mark.tone


def card_of(book: Book, event: Event) -> EventCard:
    """The card of an event; `book` knows all ids and the state."""
    word, mark, text, about, *sealed = _said(book, event)
    return EventCard(
        seq=event.seq,
        ref=event.id or f"@{event.seq}",
        kind=event.kind,
        role=role_behind(event),
        phase=event.phase,
        step=event.step,
        word=word,
        mark=mark,
        text=text,
        about=tuple(about),
        sealed=bool(sealed),
    )


def role_behind(event: Event) -> str:
    """Whose act it is: an import is written by nobody of the cast, and then the event itself names the role."""
    if event.by != "import":
        return event.by
    match event:
        case Artifact():
            return event.role
        case Claim():
            return event.raised_by
        case Position() | Flip():
            return role_of(event.id or "")
        case _:
            return event.by


Said = tuple[str, Mark, str, tuple[str, ...]] | tuple[str, Mark, str, tuple[str, ...], bool]


def _said(book: Book, event: Event) -> Said:  # what roles write
    match event:
        case Statement():
            return (
                event.type,
                marks.NEUTRAL,
                event.sections[0].text if event.sections else "",
                event.responds_to,
            )
        case Artifact():
            return (
                words.ARTIFACTS.get(event.type, event.type),
                marks.NEUTRAL,
                artifact_facts(event),
                event.cites,
            )
        case Claim():
            facts = book.state.claims.get(event.id or "")
            mark = mark_of(marks.STATUSES, facts.status if facts else "pending")
            older = (event.supersedes,) if event.supersedes else ()
            return "claim", mark, event.text, older
        case Assumption():
            return "assumption", marks.NEUTRAL, event.text, ()
        case Argument():
            return f"argument {event.label} ({event.side})", marks.NEUTRAL, event.claim, ()
        case Concern():
            closed = event.id in book.state.resolved
            mark = Mark("✓", "resolved", "good") if closed else Mark("○", "open", "warn")
            return event.type, mark, event.text, event.between
        case Rating():
            return f"{event.scale} {event.value}", marks.NEUTRAL, event.reason, (event.of,)
        case Position():
            return _position(book, event)
        case Verification():
            name = words.CHECK_NAMES.get(event.check, event.check)
            return name, mark_of(marks.RESULTS, event.result), event.notes, event.claims_affected
        case Challenge():
            mark = marks.CHALLENGES.get(event.type or "", marks.AGAINST)
            return (
                " ".join(filter(None, (event.type or "challenge", event.tag))),
                mark,
                event.text,
                (event.target,),
            )
        case Response():
            return "response", mark_of(marks.RESPONSES, event.outcome), event.text, (event.to,)
        case Flip():
            change = f"{mark_of(marks.RESULTS, event.from_).plain} → {mark_of(marks.RESULTS, event.to).plain}"
            why = "" if event.because else ", no new evidence"
            return "flip", mark_of(marks.RESULTS, event.to), f"{change}{why}", (event.of,)
        case DriftCheck():
            return "drift check", mark_of(marks.DRIFT, event.verdict), event.notes, ()
        case Decision():
            return (
                f"decision ({event.type})",
                _standing(book, event),
                event.text,
                tuple(c.id for c in event.cites),
            )
        case Disposition():
            mark = Mark("◆", event.disposition, marks.DISPOSED.get(event.disposition, "warn"))
            return "disposition", mark, event.reason, (event.of,)
        case _:
            return _judged(book, event)


def _judged(book: Book, event: Event) -> Said:  # what judges, votes and the controller write
    match event:
        case Score():
            return "score", Mark("Σ", event.total, "plain"), event.notes or event.rubric, (event.of,)
        case Standing():
            mark = Mark("◆", event.standing, marks.STANDINGS.get(event.standing, "warn"))
            return "standing", mark, event.reason, (event.of,)
        case Vote():
            facts = f"confidence {event.confidence}, risk {event.risk}: {event.reasoning}"
            return "vote", mark_of(marks.VOTES, event.decision), facts, ()
        case Ruling():
            votes = tuple(f"@{seq}" for seq in event.votes)
            return "ruling", _ruling(book, event), f"by {event.rule} ({event.rules})", votes
        case Screening():
            mark = Mark("▲", event.action, "plain" if event.action == "ALLOW" else "warn")
            return f"screening of the {event.of}", mark, f"{event.score} points", ()
        case Validation():
            errors = sum(finding.severity == "error" for finding in event.findings)
            mark = Mark("✓", "ok", "good") if event.ok else Mark("✗", "not ok", "bad")
            return "validation", mark, f"{errors} errors, {len(event.findings) - errors} warnings", ()
        case Signals():
            held = f"{event.satisfied} of {event.of} signals hold"
            return "look", mark_of(marks.ADVICE, event.advice), held, ()
        case Alarm():
            mark = mark_of(marks.ALARMS, event.verdict) if event.action == "raised" else marks.ALARMS["CLEAR"]
            name = words.FAILURE_MODES.get(event.fm, event.fm)
            return f"{event.fm} {name}", mark, event.because or "", event.evidence
        case Amendment():
            return f"amendment: {event.what}", marks.NEUTRAL, event.reason, ()
        case Fallback():
            said = f"{event.step_failed} was given up ({event.reason}): {event.detail}"
            return "fallback", marks.DEGRADED, said, ()
        case RoundOpened():
            return f"round {event.round}", marks.NEUTRAL, event.focus, ()
        case RunOpened():
            return "opening", marks.NEUTRAL, event.question, ()
        case RunClosed():
            return "closing", marks.NEUTRAL, words.CLOSINGS.get(event.reason, event.reason), event.outcome
        case (
            Statement()
            | Artifact()
            | Claim()
            | Assumption()
            | Argument()
            | Concern()
            | Rating()
            | Position()
            | Verification()
            | Challenge()
            | Response()
            | Flip()
            | DriftCheck()
            | Decision()
            | Disposition()
        ):
            raise AssertionError("said above")
        case _:
            assert_never(event)


def _position(book: Book, event: Position) -> Said:
    if event.on not in book.by_id:
        return "position", marks.SEALED, f"on {event.on}, opens with its verdict", (), True
    verdict = book.state.checks.get(event.on)
    differs = " ≠ the verdict" if verdict is not None and verdict.result != event.stance else ""
    return f"position{differs}", mark_of(marks.RESULTS, event.stance), event.reason, (event.on,)


def _ruling(book: Book, event: Ruling) -> Mark:
    facts = book.state.rulings.get(f"@{event.seq}")
    if facts is not None and facts.overturned_by is not None:
        return Mark("⇢", f"{event.decision}, overturned by {facts.overturned_by}", "faint")
    return mark_of(marks.VOTES, event.decision)


def _standing(book: Book, event: Decision) -> Mark:
    facts = book.state.decisions.get(event.id or "")
    if facts is not None and facts.overturned_by is not None:
        return Mark("⇢", f"overturned by {facts.overturned_by}", "faint")
    if facts is not None and fallen_under(book.state, event.id or ""):
        return marks.AT_RISK
    return Mark("●", "in force", "good")
