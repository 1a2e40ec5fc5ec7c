"""Events in words: one table for the log, the plain lines of a running deliberation, the pages and the report.

Sealed positions stay closed until the check they are about is on the ledger.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from ledger.events import (
    Alarm,
    Amendment,
    Argument,
    Artifact,
    Assumption,
    Belief,
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
from ledger.plain_text import counted, percent
from ledger.state.amendments import STOP_PATH
from ledger.state.book import Book
from ledger.state.decided import concern_standing, fallen_under
from ledger.state.wording import clause
from moot.view import marks, words
from moot.view.marks import NEUTRAL, Mark, claim_mark, mark_of
from moot.view.stop_checks import look_warnings


class EventWords(msgspec.Struct, frozen=True):
    """An event in words: its mark, particulars, own text, what it is about; `sealed` texts may not be read yet."""

    event: Event
    word: str
    mark: Mark = NEUTRAL
    what: str = ""
    text: str = ""
    about: tuple[str, ...] = ()
    sealed: bool = False

    @property
    def ref(self) -> str:
        """Return the event's id, or `@<seq>`."""
        return self.event.ref

    @property
    def role(self) -> str:
        """Return the role that acted."""
        return acting_role(self.event)

    @property
    def said(self) -> str:
        """Return particulars and text: `attack × trace: The retry loses the second line`."""
        return ": ".join(part for part in (self.what, self.text) if part)

    @property
    def head(self) -> str:
        """Return mark, role and particulars: `✗ BROKEN by verifier, attack × trace`."""
        # The controller only records; naming it on every line would bury the roles.
        is_recorder = self.event.by in ("controller", "import") and self.role == self.event.by
        facts = ", ".join(part for part in ("" if is_recorder else f"by {self.role}", self.what) if part)
        return " ".join(part for part in (self.mark.plain if self.mark.word else "", facts) if part)

    @property
    def marked(self) -> str:
        """Return mark, particulars and text in one line."""
        # The neutral mark has no word, and its dot alone would only add noise.
        return " ".join(part for part in (self.mark.plain if self.mark.word else "", self.said) if part)


def acting_role(event: Event) -> str:
    """Return the role that acted: the author, or in an import the role that the event itself names."""
    # An import is written by no role of the cast, so the event itself names the role.
    match event:
        case Artifact():
            return event.role
        case Claim():
            return event.raised_by
        case Position() | Flip() if event.by == "import":
            return role_of(event.id)
        case _:
            return event.by


def words_of(event: Event, now: Book | None = None) -> EventWords:
    """Return an event in words, as it was written; with a book, marks show what has become of it."""
    match event:
        case Statement() | Artifact() | Claim() | Assumption() | Argument() | Concern() | Rating():
            return _asserted(event, now)
        case Position() | Flip() | Verification() | Challenge() | Response() | DriftCheck() | Disposition():
            return _tested(event, now)
        case Decision() | Ruling() | Vote() | Score() | Standing():
            return _decided(event, now)
        case (
            RunOpened() | RoundOpened() | Validation() | Signals() | Alarm() | Amendment() | Fallback()
            | RunClosed() | Screening()
        ):  # fmt: skip
            return _governed(event)
        # Showing a forecast before all are in would let later seats anchor on it. Not every round ends with a look,
        # so the start of a later round opens the seals too.
        case Belief() if now is None or not (
            now.state.finished
            or now.state.round > event.round
            or any(look.round >= event.round for look in now.state.looks)
        ):
            return EventWords(event, "sealed", marks.SEALED, "forecast", sealed=True)
        case _:
            word, text = clause(event)
            return EventWords(event, word, text=text)


def _asserted(
    event: Statement | Artifact | Claim | Assumption | Argument | Concern | Rating, now: Book | None
) -> EventWords:
    match event:
        case Statement():
            text = event.sections[0].text if event.sections else ""
            return EventWords(
                event, event.type, NEUTRAL, counted(event.words, "word"), text, event.responds_to
            )
        case Artifact():
            return EventWords(event, "artifact", NEUTRAL, artifact_facts(event), "", event.cites)
        case Claim():
            is_there = now is not None and event.id in now.state.claims
            mark = claim_mark(now, event.id) if now and is_there else marks.STATUSES["pending"]
            older = (event.supersedes,) if event.supersedes else ()
            newer = f"supersedes {event.supersedes}" if event.supersedes else ""
            return EventWords(event, "claim", mark, newer, event.text, older)
        case Assumption():
            return EventWords(event, "assumption", text=event.text)
        case Argument():
            return EventWords(event, "argument", what=f"{event.label} ({event.side})", text=event.claim)
        case Concern():
            mark = NEUTRAL
            if now is not None and event.id in now.state.concerns:
                mark = marks.OPEN if concern_standing(now.state, event.id) == "open" else marks.RESOLVED
            relation = "between" if event.type == "tension" else "about"
            parts = [f"{relation} {', '.join(event.between)}"] if event.between else []
            parts += ["for a person"] if event.for_human else []
            return EventWords(event, event.type, mark, ", ".join(parts), event.text, event.between)
        case Rating():
            scale = event.scale.replace("_", " ")
            return EventWords(
                event, "rating", NEUTRAL, f"{event.of} {scale} {event.value}", event.reason, (event.of,)
            )


def judgement_of(book: Book, identity: str) -> str:
    """Return how something was judged, and by how many where several judged it; empty where nobody did."""
    # Several judges share a role, so each counts by its step; what it says last is its judgement. That something was
    # conceded is the word of its author, which a judge only repeats.
    judged = {
        # A long reason is named by its place.
        event.step: f"{event.by}: {words_of(event).mark.word}"
        f"{f', {event.reason if len(event.reason) <= marks.REASON else event.ref}' * isinstance(event, Disposition)}"
        for event in book.events
        if isinstance(event, Disposition | Standing) and event.of == identity
        if getattr(event, "disposition", "") != "conceded"
    }
    counts = Counter(judged.values()).most_common()
    return ", ".join(f"{words} ({n} of {len(judged)})" if len(judged) > 1 else words for words, n in counts)


def artifact_facts(event: Artifact) -> str:
    """Return what an artifact is and holds: `walkthrough, 3 findings, 2 claims proposed`."""
    findings, claims = len(event.findings), len(event.proposed_claims)
    name = words.ARTIFACTS.get(event.type, event.type)
    return f"{name}, {counted(findings, 'finding')}, {counted(claims, 'claim')} proposed"


def _tested(
    event: Position | Flip | Verification | Challenge | Response | DriftCheck | Disposition, now: Book | None
) -> EventWords:
    match event:
        case Position():
            return _position(event, now)
        case Flip():
            change = f"{mark_of(marks.RESULTS, event.from_).plain} → {mark_of(marks.RESULTS, event.to).plain}"
            why = (
                f"because of {', '.join(evidence.ref for evidence in event.because)}" if event.because else ""
            )
            mark = mark_of(marks.RESULTS, event.to) if now else NEUTRAL
            return EventWords(event, "flip", mark, f"{change}, {why or 'no new evidence'}", about=(event.of,))
        case Verification():
            name = words.CHECK_NAMES.get(event.check, event.check)
            mark = mark_of(marks.RESULTS, event.result)
            return EventWords(event, "verdict", mark, name, event.notes, event.claims_affected)
        case Challenge():
            mark = marks.CHALLENGES.get(event.type or "", marks.AGAINST)
            what = ", ".join(part for part in (f"to {event.target}", event.type, event.tag) if part)
            # The attack alone (`it breaks at night`) does not say what is attacked. A critique proposes a change.
            text = f"{event.claim} {'Proposed: ' * (event.phase == 'critique')}{event.text}"
            return EventWords(event, "challenge", mark, what, text, (event.target,))
        case Response():
            mark = mark_of(marks.RESPONSES, event.outcome)
            return EventWords(event, "response", mark, f"to {event.to}", event.text, (event.to,))
        case DriftCheck():
            score = f"deviation {event.deviation_score} of 5"
            return EventWords(event, "drift", mark_of(marks.DRIFT, event.verdict), score, event.notes)
        case Disposition():
            mark = mark_of(marks.DISPOSED, event.disposition)
            return EventWords(event, "disposed", mark, event.of, event.reason, (event.of,))


def _position(event: Position, now: Book | None) -> EventWords:
    """Return a position in words; it stays sealed until its check is on the ledger."""
    if now is None or event.on not in now.by_id:
        return EventWords(event, "sealed", marks.SEALED, f"on {event.on}", sealed=True)
    verdict = now.state.checks.get(event.on)
    # The sign marks dissent, which the position alone does not show once the verdict is known.
    differs = ", ≠ the verdict" if verdict is not None and verdict.result != event.stance else ""
    return EventWords(
        event, "position", mark_of(marks.RESULTS, event.stance), f"on {event.on}{differs}", event.reason,
        (event.on,),
    )  # fmt: skip


def _decided(event: Decision | Ruling | Vote | Score | Standing, now: Book | None) -> EventWords:
    match event:
        case Decision():
            cites = tuple(cite.id for cite in event.cites)
            return EventWords(event, "decision", _stands(event, now), event.type, event.text, cites)
        case Ruling():
            facts = now.state.rulings.get(f"@{event.seq}") if now else None
            mark = mark_of(marks.VOTES, event.decision)
            # A ruling cannot be edited; a later override ends it, and the mark must show that.
            if facts is not None and facts.overturned_by is not None:
                mark = Mark("⇢", f"{event.decision}, overturned by {facts.overturned_by}", "faint")
            votes = tuple(f"@{seq}" for seq in event.votes)
            return EventWords(event, "ruling", mark, f"by {event.rule} ({event.rules})", "", votes)
        case Vote():
            numbers = f"from confidence {event.confidence}, risk {event.risk}"
            # The numbers of a vote that was lost are those of the rule, and nobody gave the reason.
            basis, text = ("as no vote was given", "") if event.fallback else (numbers, event.reasoning)
            return EventWords(event, "vote", mark_of(marks.VOTES, event.decision), f"by rule {basis}", text)
        case Score():
            mark = Mark("Σ", event.total, "plain")
            what = f"{event.of} ({event.rubric})"
            return EventWords(event, "score", mark, what, event.notes or "", (event.of,))
        case Standing():
            mark = mark_of(marks.STANDINGS, event.standing)
            return EventWords(event, "standing", mark, event.of, event.reason, (event.of,))


def _stands(event: Decision, now: Book | None) -> Mark:
    facts = now.state.decisions.get(event.id) if now else None
    if now is None or facts is None:
        return NEUTRAL
    # An overturned decision cannot be at risk, so this check comes first.
    if facts.overturned_by is not None:
        return Mark("⇢", f"overturned by {facts.overturned_by}", "faint")
    return marks.AT_RISK if fallen_under(now.state, event.id) else marks.IN_FORCE


def _governed(
    event: RunOpened
    | RoundOpened
    | Validation
    | Signals
    | Alarm
    | Amendment
    | Fallback
    | RunClosed
    | Screening,
) -> EventWords:
    match event:
        case RunOpened():
            return EventWords(event, "question", text=event.question)
        case RoundOpened():
            parts = [f"round {event.round}"]
            parts += [f"lead {event.lead}"] if event.lead else []
            parts += [f"STRESS without {event.absent}"] if event.absent else []
            return EventWords(event, "round", NEUTRAL, ", ".join(parts), event.focus)
        case Validation():
            errors = sum(finding.severity == "error" for finding in event.findings)
            mark = marks.VALID if event.ok else marks.INVALID
            warnings = counted(len(event.findings) - errors, "warning")
            return EventWords(event, "validation", mark, f"{counted(errors, 'error')}, {warnings}")
        case Signals(profile="crux"):
            percents = ", ".join(
                f"{option} {percent(float(points))}"
                for option, points in sorted(event.pool.items(), key=lambda item: -float(item[1]))
            )
            status = (event.status or "").replace("_", " ")
            return EventWords(event, "signals", NEUTRAL, f"group forecast {percents}", status)
        case Signals():
            held = f"{event.satisfied} of {event.of} hold ({event.profile})"
            return EventWords(
                event, "signals", mark_of(marks.ADVICE, event.advice), held, look_warnings(event)
            )
        case Alarm():
            raised = event.action == "raised"
            mark = mark_of(marks.ALARMS, event.verdict) if raised else marks.CLOSED
            what = words.failure(event.fm)
            return EventWords(event, "alarm", mark, what, event.because or "", event.evidence)
        # A driver records why it stopped as an amendment; readers look for a stop, not for a change.
        case Amendment() if any(change.path == STOP_PATH for change in event.change):
            return EventWords(event, "stop", NEUTRAL, "noted by the driver", event.reason)
        case Amendment():
            return EventWords(event, "amendment", NEUTRAL, event.what, event.reason)
        case Fallback():
            what = f"{event.step_failed} given up ({event.reason}), {event.instead}"
            return EventWords(event, "fallback", marks.DEGRADED, what, event.detail)
        case RunClosed():
            why = words.why_closed(event.reason)
            ending = f"run {event.state}: {why}; {len(event.open)} left open"
            return EventWords(event, "closed", NEUTRAL, ending, "", event.outcome)
        case Screening():
            mark = Mark("▲", event.action, "plain" if event.action == "ALLOW" else "warn")
            return EventWords(event, "screening", mark, f"{event.of}, {counted(event.score, 'point')}")
