"""Events in words: one table for the log, the plain lines of a running deliberation, the pages and the report.

    @41  R3 E     verifier   V-3-1          ✗ BROKEN attack × trace: The retry loses the second line.
    R3 E   verdict    V-3-1 ✗ BROKEN by verifier, attack × trace: The retry loses the second line.

Sealed positions stay closed until the check they are about is on the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

import msgspec

from ledger.events import (
    Agenda,
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
    ExperimentJudged,
    ExperimentPlanned,
    ExperimentRun,
    Fallback,
    Flip,
    Frame,
    Memo,
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
from ledger.plain_text import counted, first_sentence, one_line, shortened
from ledger.state.amending import STOP_PATH
from ledger.state.book import Book
from ledger.state.decided import fallen_under
from ledger.state.saying import clause
from ledger.state.state import State
from moot.view import marks, words
from moot.view.evidence import claim_mark, shown_as, told_move
from moot.view.marks import NEUTRAL, Mark, mark_of
from moot.view.readiness import told_at_a_look

TEXT: Final = 160
"""Maximum characters of a text in a plain line; the ledger has the rest."""
WIDTH: Final = 110
"""Maximum characters of a line of the log."""


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
        return self.event.id or f"@{self.event.seq}"

    @property
    def role(self) -> str:
        """Return the role that acted."""
        return role_behind(self.event)

    @property
    def seq(self) -> int:
        """Return the event's place in the ledger."""
        return self.event.seq

    @property
    def kind(self) -> str:
        """Return the kind of the event."""
        return self.event.kind

    @property
    def phase(self) -> str:
        """Return the phase of the event."""
        return self.event.phase

    @property
    def step(self) -> str | None:
        """Return the step that wrote the event, if a step did."""
        return self.event.step

    @property
    def said(self) -> str:
        """Return particulars and text: `attack × trace: The retry loses the second line`."""
        return ": ".join(part for part in (self.what, self.text) if part)

    @property
    def marked(self) -> str:
        """Return mark, particulars and text in one line."""
        # The neutral mark has no word, and its dot alone would only add noise.
        return " ".join(part for part in (self.mark.plain if self.mark.word else "", self.said) if part)


def role_behind(event: Event) -> str:
    """Return the role that acted: the author, or in an import the role that the event itself names."""
    # An import is written by no role of the cast, so the event itself names the role.
    match event:
        case Artifact():
            return event.role
        case Claim():
            return event.raised_by
        case Position() | Flip() if event.by == "import":
            return role_of(event.id or "")
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
        # Showing a forecast before all are in would let later seats anchor on it.
        case Belief() if now is None or not _is_closed(event.round, now.state):
            return EventWords(event, "sealed", marks.SEALED, "belief", sealed=True)
        case (
            Belief() | Frame() | Agenda() | Memo() | ExperimentPlanned() | ExperimentRun() | ExperimentJudged()
        ):  # fmt: skip
            word, text = clause(event)
            return EventWords(event, word, text=text)
        case _:
            assert_never(event)


def _asserted(
    event: Statement | Artifact | Claim | Assumption | Argument | Concern | Rating, now: Book | None
) -> EventWords:
    match event:
        case Statement():
            text = event.sections[0].text if event.sections else ""
            return EventWords(event, event.type, NEUTRAL, f"{event.words} words", text, event.responds_to)
        case Artifact():
            return EventWords(event, "artifact", NEUTRAL, artifact_facts(event), "", event.cites)
        case Claim():
            is_there = now is not None and event.id in now.state.claims
            mark = claim_mark(now, event.id or "") if now and is_there else marks.STATUSES["pending"]
            older = (event.supersedes,) if event.supersedes else ()
            newer = f"supersedes {event.supersedes}" if event.supersedes else ""
            return EventWords(event, "claim", mark, newer, event.text, older)
        case Assumption():
            return EventWords(event, "assumption", text=event.text)
        case Argument():
            return EventWords(event, "argument", what=f"{event.label} ({event.side})", text=event.claim)
        case Concern():
            mark = NEUTRAL
            if now is not None:
                mark = marks.RESOLVED if event.id in now.state.resolved else marks.OPEN
            parts = [f"between {', '.join(event.between)}"] if event.between else []
            parts += ["for a person"] if event.for_human else []
            return EventWords(event, event.type, mark, ", ".join(parts), event.text, event.between)
        case Rating():
            scale = event.scale.replace("_", " ")
            return EventWords(
                event, "rating", NEUTRAL, f"{event.of} {scale} {event.value}", event.reason, (event.of,)
            )


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
            return EventWords(event, "challenge", mark, what, event.text, (event.target,))
        case Response():
            mark = mark_of(marks.RESPONSES, event.outcome)
            return EventWords(event, "response", mark, f"to {event.to}", event.text, (event.to,))
        case DriftCheck():
            score = f"deviation {event.deviation_score} of 5"
            return EventWords(event, "drift", mark_of(marks.DRIFT, event.verdict), score, event.notes)
        case Disposition():
            tone = marks.DISPOSED.get(event.disposition, "warn")
            mark = Mark("◆", event.disposition, tone)
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


def _is_closed(number: int, state: State) -> bool:
    """Return whether sealed texts of a round may be read."""
    # Not every round ends with a look, so the start of a later round opens the seals too.
    return state.finished or state.round > number or any(look.round >= number for look in state.looks)


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
            numbers = f"confidence {event.confidence}, risk {event.risk}"
            return EventWords(event, "vote", mark_of(marks.VOTES, event.decision), numbers, event.reasoning)
        case Score():
            mark = Mark("Σ", event.total, "plain")
            what = f"{event.of} ({event.rubric})"
            return EventWords(event, "score", mark, what, event.notes or "", (event.of,))
        case Standing():
            mark = Mark("◆", event.standing, marks.STANDINGS.get(event.standing, "warn"))
            return EventWords(event, "standing", mark, event.of, event.reason, (event.of,))


def _stands(event: Decision, now: Book | None) -> Mark:
    facts = now.state.decisions.get(event.id or "") if now else None
    if now is None or facts is None:
        return NEUTRAL
    # An overturned decision cannot be at risk, so this check comes first.
    if facts.overturned_by is not None:
        return Mark("⇢", f"overturned by {facts.overturned_by}", "faint")
    return marks.AT_RISK if fallen_under(now.state, event.id or "") else marks.IN_FORCE


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
            return EventWords(
                event, "validation", mark, f"{errors} errors, {len(event.findings) - errors} warnings"
            )
        case Signals():
            held = f"{event.satisfied} of {event.of} hold ({event.profile})"
            return EventWords(
                event, "signals", mark_of(marks.ADVICE, event.advice), held, told_at_a_look(event)
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
            return EventWords(event, "screening", mark, f"{event.of}, {event.score} points")


def event_line(event: Event) -> str:
    """Return one line of the log: `@41  R3 E  verifier  V-3-1  ✗ BROKEN attack × trace: …`."""
    where = f"R{event.round} {event.phase}"
    wording = words_of(event)
    text = f"@{event.seq:<4} {where:<9} {event.by:<10} {event.id or event.kind:<14} {wording.marked}"
    # Texts of seats may hold line feeds, and a log line must stay one line for grep.
    flat = " ".join(text.split("\n"))
    return flat if len(flat) <= WIDTH else f"{flat[: WIDTH - 1]}…"


def event_lines(book: Book, event: Event) -> Iterator[str]:
    """Yield plain lines for a pipe, a file or `--no-live`, easy to grep.

    `book` holds at least everything up to the event.
    """
    where = f"R{event.round} {event.phase}"
    for word, text in _lines(book, event):
        # This output may go to a terminal, so control characters of seats are removed.
        yield f"{where:<6} {word:<10} {one_line(text)}".rstrip()


def _lines(book: Book, event: Event) -> Iterator[tuple[str, str]]:
    match event:
        case RunOpened():
            yield from _opening(event)
        case RoundOpened():
            yield from _round(book, event)
        case Position():
            if event.via is None:  # one line for all positions of a reply, at the first of them
                checks = [
                    position.on
                    for position in book.of(Position, event.round)
                    if event.seq in (position.seq, position.via)
                ]
                yield "sealed", f"{marks.SEALED.shape * len(checks)} {event.by} on {', '.join(checks)}"
        case Verification():
            yield _line(event)
            yield from _moved(book, event)
        case Decision():
            word, text = _line(event)
            cites = ", ".join(f"{cite.relation} {cite.id}" for cite in event.cites)
            yield word, f"{text} ({cites})"
            yield from (
                ("dissent", f"{dissenter.role}: {dissenter.text} ({dissenter.ref})")
                for dissenter in event.dissent
            )
        case Validation():
            yield _line(event)
            for finding in event.findings:
                # Warnings are counted in the line above; listing them would bury the errors.
                if finding.severity == "error":
                    yield "finding", f"✗ {finding.code} {shortened(finding.message, TEXT)}"
        case Signals():
            held = " ".join(f"{'✓' if signal.satisfied else '✗'}{signal.id}" for signal in event.signals)
            word, text = _line(event)
            yield word, f"{text} {held}"
        case Alarm():
            seen = f" (see {', '.join(event.evidence)})" if event.evidence else ""
            word, text = _line(event)
            yield word, f"{text}{seen}"
        case _:
            yield _line(event)


def _line(event: Event) -> tuple[str, str]:
    """Return the word by which a line is grepped, and its text."""
    wording = words_of(event)
    # Statements run to hundreds of words, while other events are short by their schema.
    text = first_sentence(wording.text) if isinstance(event, Statement) else wording.text
    facts = ", ".join(part for part in (_by(wording), wording.what) if part)
    mark = wording.mark.plain if wording.mark.word else ""
    head = " ".join(part for part in (event.id, mark, facts) if part)
    return wording.word, ": ".join(part for part in (head, shortened(text, TEXT)) if part)


def _by(wording: EventWords) -> str:
    """Return `by ROLE`; empty for the controller."""
    return (
        # The controller only records; naming it on every line would bury the roles.
        ""
        if wording.event.by in ("controller", "import") and wording.role == wording.event.by
        else f"by {wording.role}"
    )


def _opening(event: RunOpened) -> Iterator[tuple[str, str]]:
    for waiver in event.waived:
        yield "WAIVED", f"{waiver.what}: {waiver.why}"
    yield "question", shortened(event.question, TEXT)
    for goal in event.goals:
        yield "goal", f"{goal.id} {shortened(goal.text, TEXT)}"
    for option in event.options:
        yield "option", f"{option.id} {shortened(option.text, TEXT)}"
    for document in event.context:
        yield "context", f"{document.id} {document.name}, {document.bytes} bytes"
    for member in event.cast:
        yield "seat", f"{member.role} is {member.title}, answered by {member.seat}"
    rounds = counted(len(event.plan), "round")
    from rounds.protocols import is_watched  # the log never asks

    if not is_watched(event):
        yield "plan", f"{rounds} of {event.protocol}"
        return
    stress = ", ".join(f"R{row.round} without {row.absent}" for row in event.plan if row.absent) or "none"
    drift = ", ".join(f"R{row.round}" for row in event.plan if row.drift) or "none"
    # Only watched protocols have stress rounds, drift checks and looks.
    yield "plan", f"{rounds}; stress {stress}; drift checks {drift}"
    every = f"a look every {event.stop.check_every} rounds ({event.stop.profile})"
    yield "stop", f"{every}, obeyed from round {event.stop.not_before} on"


def _round(book: Book, event: RoundOpened) -> Iterator[tuple[str, str]]:
    opened = book.state.opened
    planned, protocol = (len(opened.plan), opened.protocol) if opened else (0, "")
    absent = f", STRESS without {event.absent}" if event.absent else ""
    checks = ", ".join(map(str, event.applicable)) or "none"
    led = f", lead {event.lead}{absent}, checks {checks}" if event.lead else ""
    yield "round", f"{words.round_in(protocol, event.round, planned)}{led}"
    for entry in event.predicted_signature or ():
        yield "predicted", f"{entry.text} ({entry.code})"


def _moved(book: Book, event: Verification) -> Iterator[tuple[str, str]]:
    """Yield the positions that a verdict opens and the claims that it moves."""
    # Positions were sealed before the verdict, so they open together with it.
    held = [position for position in book.of(Position, event.round) if position.on == event.id]
    if held:
        opened = (
            f"{position.by} {mark_of(marks.RESULTS, position.stance).plain}{' ≠' * (position.stance != event.result)}"
            for position in held
        )
        yield "opened", f"{event.id}: {', '.join(opened)}"
    for change in event.claim_status_changes:
        how = shown_as(change.class_) if change.class_ else f"read by {event.by}"
        after = told_move(change.to, change.class_ or "", how, event.id or "")
        yield "claim", f"{change.claim_id} {marks.STATUSES[change.from_].plain} → {after}"
