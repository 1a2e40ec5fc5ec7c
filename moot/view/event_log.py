"""A run as plain lines, for a pipe, a file or `--no-live`: one line for every event that matters, easy to grep.

    R3 E  verdict    V-3-1 ✗ BROKEN attack × trace, by verifier: The retry loses the second line.
    R3 E  claim      C-3-2 ○ pending → ● confirmed by V-3-1

Sealed positions stay closed until their verdict is on the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

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
from ledger.plain_text import first_sentence, one_line, shortened
from ledger.state.book import Book
from moot.view import marks, words
from moot.view.marks import mark_of
from moot.view.round import artifact_facts
from rounds.protocols import is_watched

Said = tuple[str, str]
"""The word of a line, by which it is grepped, and what it says."""

TEXT: Final = 160
"""Characters of a text in a line; the ledger has the rest."""


def event_lines(book: Book, event: Event) -> Iterator[str]:
    """The lines of one event; `book` holds at least everything up to it."""
    where = f"R{event.round} {event.phase}"
    for word, said in _said(book, event):
        yield f"{where:<6} {word:<10} {one_line(said)}".rstrip()


def _said(book: Book, event: Event) -> Iterator[Said]:
    match event:
        case RunOpened():
            yield from _opening(event)
        case RoundOpened():
            yield from _round(book, event)
        case Statement():
            text = first_sentence(event.sections[0].text) if event.sections else ""
            yield event.type, f"{event.id} by {event.by}, {event.words} words: {shortened(text, TEXT)}"
        case Artifact():
            yield "artifact", f"{event.id} {artifact_facts(event)}"
        case Claim():
            newer = f", supersedes {event.supersedes}" if event.supersedes else ""
            yield (
                "claim",
                f"{event.id} {marks.STATUSES['pending'].plain} by {event.raised_by}{newer}: {_text(event.text)}",
            )
        case Position():
            yield from _sealed(book, event)
        case Verification():
            yield from _verdict(book, event)
        case Flip():
            refs = ", ".join(one.ref for one in event.because)
            why = f"because of {refs}" if refs else "no new evidence"
            change = f"{mark_of(marks.RESULTS, event.from_).plain} → {mark_of(marks.RESULTS, event.to).plain}"
            yield "flip", f"{event.id} {event.by} {change}, {why}"
        case Decision():
            yield from _decision(event)
        case _:
            yield from _said_else(event)


def _said_else(event: Event) -> Iterator[Said]:  # what the controller, a person or another protocol adds
    match event:
        case Concern():
            between = f" between {', '.join(event.between)}" if event.between else ""
            human = " (for a person)" if event.for_human else ""
            yield event.type, f"{event.id} by {event.by}{between}{human}: {_text(event.text)}"
        case DriftCheck():
            mark = mark_of(marks.DRIFT, event.verdict)
            yield (
                "drift",
                f"{event.id} {mark.plain}, deviation {event.deviation_score} of 5: {_text(event.notes)}",
            )
        case Validation():
            yield from _validation(event)
        case Signals():
            held = " ".join(f"{'✓' if one.satisfied else '✗'}{one.id}" for one in event.signals)
            advice = mark_of(marks.ADVICE, event.advice).plain
            yield "signals", f"{event.satisfied} of {event.of} hold {held} ({event.profile}) {advice}"
        case Alarm():
            name = words.FAILURE_MODES.get(event.fm, "")
            state = marks.ALARMS[event.verdict].plain if event.action == "raised" else "✓ closed"
            seen = f" (see {', '.join(event.evidence)})" if event.evidence else ""
            yield "alarm", f"{event.fm} {state} {name}: {_text(event.because or '')}{seen}"
        case Amendment():
            yield "amendment", f"{event.what}: {_text(event.reason)}"
        case Fallback():
            yield (
                "fallback",
                f"▲ {event.step_failed} given up ({event.reason}), {event.instead}: {_text(event.detail)}",
            )
        case RunClosed():
            why = words.CLOSINGS.get(event.reason, event.reason)
            yield "closed", f"run {event.state}: {why}; {len(event.open)} left open"
        case Rating():
            yield "rating", f"{event.of} {event.scale} {event.value}: {_text(event.reason)}"
        case Challenge() | Response() | Assumption():
            yield event.kind, f"{event.id} by {event.by}: {_text(event.text)}"
        case Argument():
            yield "argument", f"{event.label} ({event.side}): {_text(event.claim)}"
        case Disposition():
            yield "disposed", f"{event.of} {event.disposition}: {_text(event.reason)}"
        case Score():
            yield "score", f"{event.of} {event.total} ({event.rubric})"
        case Standing():
            yield "standing", f"{event.of} {event.standing}: {_text(event.reason)}"
        case Vote():
            yield "vote", f"{event.by} {event.decision}, confidence {event.confidence}, risk {event.risk}"
        case Ruling():
            yield "ruling", f"{event.decision} by {event.rule}"
        case Screening():
            yield "screening", f"{event.of} {event.action}, {event.score} points"
        case (
            RunOpened()
            | RoundOpened()
            | Statement()
            | Artifact()
            | Claim()
            | Position()
            | Verification()
            | Flip()
            | Decision()
        ):
            pass  # said above
        case _:
            assert_never(event)


def _opening(event: RunOpened) -> Iterator[Said]:
    for waiver in event.waived:
        yield "WAIVED", f"{waiver.what}: {waiver.why}"
    yield "question", _text(event.question)
    for goal in event.goals:
        yield "goal", f"{goal.id} {_text(goal.text)}"
    for option in event.options:
        yield "option", f"{option.id} {_text(option.text)}"
    for document in event.context:
        yield "context", f"{document.id} {document.name}, {document.bytes} bytes"
    for member in event.cast:
        yield "seat", f"{member.role} is {member.title}, answered by {member.seat}"
    stress = ", ".join(f"R{row.round} without {row.absent}" for row in event.plan if row.absent) or "none"
    drift = ", ".join(f"R{row.round}" for row in event.plan if row.drift) or "none"
    rounds = f"{len(event.plan)} round{'s' * (len(event.plan) != 1)}"
    if not is_watched(event):
        yield "plan", f"{rounds} of {event.protocol}"
        return
    yield "plan", f"{rounds}; stress {stress}; drift checks {drift}"
    stop = event.stop
    yield (
        "stop",
        f"a look every {stop.check_every} rounds ({stop.profile}), obeyed from round {stop.not_before} on",
    )


def _round(book: Book, event: RoundOpened) -> Iterator[Said]:
    planned = len(book.state.opened.plan) if book.state.opened else 0
    absent = f", STRESS without {event.absent}" if event.absent else ""
    checks = ", ".join(str(check) for check in event.applicable)
    led = f", lead {event.lead}{absent}, checks {checks or 'none'}" if event.lead else ""
    yield "round", f"round {event.round} of {planned}{led}"
    for entry in event.predicted_signature or ():
        yield "predicted", f"{entry.text} ({entry.code})"


def _verdict(book: Book, event: Verification) -> Iterator[Said]:
    name = words.CHECK_NAMES.get(event.check, event.check)
    mark = mark_of(marks.RESULTS, event.result)
    yield "verdict", f"{event.id} {mark.plain} {name}, by {event.by}: {_text(event.notes)}"
    held = [one for one in book.of(Position, event.round) if one.on == event.id]
    if held:
        yield "opened", f"{event.id}: {', '.join(_opened(one, event.result) for one in held)}"
    for change in event.claim_status_changes:
        before, after = marks.STATUSES[change.from_].plain, marks.STATUSES[change.to].plain
        yield "claim", f"{change.claim_id} {before} → {after} by {event.id}"


def _sealed(book: Book, event: Position) -> Iterator[Said]:
    """One line for all positions of a reply, at the first of them."""
    if event.via is None:
        checks = [one.on for one in book.of(Position, event.round) if event.seq in (one.seq, one.via)]
        yield "sealed", f"{marks.SEALED.shape * len(checks)} {event.by} on {', '.join(checks)}"


def _opened(position: Position, result: str) -> str:
    differs = "" if position.stance == result else " ≠"
    return f"{position.by} {mark_of(marks.RESULTS, position.stance).plain}{differs}"


def _decision(event: Decision) -> Iterator[Said]:
    cites = ", ".join(f"{cite.relation} {cite.id}" for cite in event.cites)
    yield "decision", f"{event.id} {event.type}: {_text(event.text)} ({cites})"
    for one in event.dissent:
        yield "expected", f"{one.role} had expected another verdict than {event.id} cites ({one.ref})"


def _validation(event: Validation) -> Iterator[Said]:
    errors = [finding for finding in event.findings if finding.severity == "error"]
    warnings = len(event.findings) - len(errors)
    yield "validation", f"{'✓ ok' if event.ok else '✗ NOT OK'}, {len(errors)} errors, {warnings} warnings"
    for finding in errors:
        yield "finding", f"✗ {finding.code} {_text(finding.message)}"


def _text(text: str) -> str:
    return shortened(text, TEXT)
