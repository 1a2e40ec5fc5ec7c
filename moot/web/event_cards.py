"""What each role did, as a page shows it: one act an event, whatever the protocol.

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
from moot.terminal import theme
from moot.terminal.theme import Mark, mark_of
from moot.view import words
from moot.view.telling import artifact_facts
from moot.web import tones
from moot.web.tones import NEUTRAL

CHALLENGES = {
    "concede": tones.AGREES,
    "partial": tones.PARTLY,
    "question": tones.ASKS,
}
RESPONSES = {
    "defend": Mark("◆", "defends", "yellow"),
    "concede": Mark("✓", "concedes", "green"),
    "revise": Mark("↻", "revises", "green"),
    "answer": Mark("↩", "answers", "cyan"),
    "fix": Mark("✓", "fixes", "green"),
    "justify": Mark("◆", "justifies", "yellow"),
}
DISPOSED = {
    "accepted": "green",
    "conceded": "green",
    "fixed": "green",
    "addressed": "green",
    "resolved": "green",
    "rejected": "bold red",
    "deflected": "bold red",
    "escalated": "yellow",
}
VOTES = {
    "ACT": Mark("✓", "ACT", "green"),
    "WARN": Mark("◇", "WARN", "yellow"),
    "REFUSE": Mark("✗", "REFUSE", "bold red"),
    "VETO": Mark("■", "VETO", "bold red"),
}
STANDINGS = {
    "UPHELD": "green",
    "SURVIVE": "green",
    "PARTIALLY_UPHELD": "magenta",
    "REFUTED": "bold red",
    "COLLAPSE": "bold red",
}


@dataclass(frozen=True, slots=True)
class Act:
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
        return tones.tone_of(self.mark)


def act_of(book: Book, event: Event) -> Act:
    """The act of an event; `book` knows all ids and the state."""
    word, mark, text, about, *sealed = _said(book, event)
    return Act(
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
            return event.type, NEUTRAL, event.sections[0].text if event.sections else "", event.responds_to
        case Artifact():
            return words.ARTIFACTS.get(event.type, event.type), NEUTRAL, artifact_facts(event), event.cites
        case Claim():
            facts = book.state.claims.get(event.id or "")
            mark = mark_of(theme.STATUSES, facts.status if facts else "pending")
            older = (event.supersedes,) if event.supersedes else ()
            return "claim", mark, event.text, older
        case Assumption():
            return "assumption", NEUTRAL, event.text, ()
        case Argument():
            return f"argument {event.label} ({event.side})", NEUTRAL, event.claim, ()
        case Concern():
            closed = event.id in book.state.resolved
            mark = Mark("✓", "resolved", "green") if closed else Mark("○", "open", "yellow")
            return event.type, mark, event.text, event.between
        case Rating():
            return f"{event.scale} {event.value}", NEUTRAL, event.reason, (event.of,)
        case Position():
            return _position(book, event)
        case Verification():
            name = words.CHECK_NAMES.get(event.check, event.check)
            return name, mark_of(theme.RESULTS, event.result), event.notes, event.claims_affected
        case Challenge():
            mark = CHALLENGES.get(event.type or "", tones.AGAINST)
            return (
                " ".join(filter(None, (event.type or "challenge", event.tag))),
                mark,
                event.text,
                (event.target,),
            )
        case Response():
            return "response", mark_of(RESPONSES, event.outcome), event.text, (event.to,)
        case Flip():
            change = f"{mark_of(theme.RESULTS, event.from_).plain} → {mark_of(theme.RESULTS, event.to).plain}"
            why = "" if event.because else ", no new evidence"
            return "flip", mark_of(theme.RESULTS, event.to), f"{change}{why}", (event.of,)
        case DriftCheck():
            return "drift check", mark_of(theme.DRIFT, event.verdict), event.notes, ()
        case Decision():
            return (
                f"decision ({event.type})",
                _standing(book, event),
                event.text,
                tuple(c.id for c in event.cites),
            )
        case Disposition():
            mark = Mark("◆", event.disposition, DISPOSED.get(event.disposition, "yellow"))
            return "disposition", mark, event.reason, (event.of,)
        case _:
            return _judged(book, event)


def _judged(book: Book, event: Event) -> Said:  # what judges, votes and the controller write
    match event:
        case Score():
            return "score", Mark("Σ", event.total, ""), event.notes or event.rubric, (event.of,)
        case Standing():
            mark = Mark("◆", event.standing, STANDINGS.get(event.standing, "yellow"))
            return "standing", mark, event.reason, (event.of,)
        case Vote():
            facts = f"confidence {event.confidence}, risk {event.risk}: {event.reasoning}"
            return "vote", mark_of(VOTES, event.decision), facts, ()
        case Ruling():
            votes = tuple(f"@{seq}" for seq in event.votes)
            return "ruling", _ruling(book, event), f"by {event.rule} ({event.rules})", votes
        case Screening():
            mark = Mark("▲", event.action, "" if event.action == "ALLOW" else "yellow")
            return f"screening of the {event.of}", mark, f"{event.score} points", ()
        case Validation():
            errors = sum(finding.severity == "error" for finding in event.findings)
            mark = Mark("✓", "ok", "green") if event.ok else Mark("✗", "not ok", "bold red")
            return "validation", mark, f"{errors} errors, {len(event.findings) - errors} warnings", ()
        case Signals():
            held = f"{event.satisfied} of {event.of} signals hold"
            return "look", mark_of(theme.ADVICE, event.advice), held, ()
        case Alarm():
            mark = mark_of(theme.ALARMS, event.verdict) if event.action == "raised" else theme.ALARMS["CLEAR"]
            name = words.FAILURE_MODES.get(event.fm, event.fm)
            return f"{event.fm} {name}", mark, event.because or "", event.evidence
        case Amendment():
            return f"amendment: {event.what}", NEUTRAL, event.reason, ()
        case Fallback():
            said = f"{event.step_failed} was given up ({event.reason}): {event.detail}"
            return "fallback", theme.DEGRADED, said, ()
        case RoundOpened():
            return f"round {event.round}", NEUTRAL, event.focus, ()
        case RunOpened():
            return "opening", NEUTRAL, event.question, ()
        case RunClosed():
            return "closing", NEUTRAL, words.CLOSINGS.get(event.reason, event.reason), event.outcome
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
        return "position", theme.SEALED, f"on {event.on}, opens with its verdict", (), True
    verdict = book.state.checks.get(event.on)
    differs = " ≠ the verdict" if verdict is not None and verdict.result != event.stance else ""
    return f"position{differs}", mark_of(theme.RESULTS, event.stance), event.reason, (event.on,)


def _ruling(book: Book, event: Ruling) -> Mark:
    facts = book.state.rulings.get(f"@{event.seq}")
    if facts is not None and facts.overturned_by is not None:
        return Mark("⇢", f"{event.decision}, overturned by {facts.overturned_by}", "dim")
    return mark_of(VOTES, event.decision)


def _standing(book: Book, event: Decision) -> Mark:
    facts = book.state.decisions.get(event.id or "")
    if facts is not None and facts.overturned_by is not None:
        return Mark("⇢", f"overturned by {facts.overturned_by}", "dim")
    if facts is not None and fallen_under(book.state, event.id or ""):
        return theme.AT_RISK
    return Mark("●", "in force", "green")
