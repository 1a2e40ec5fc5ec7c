"""One entry of a transcript for each kind of event: a line that says what it is, then the words in it."""

from __future__ import annotations

from collections.abc import Iterable

from ledger.anchors import sections_of
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
from ledger.interchange.prose import inline, quoted


def entry(event: Event) -> str:
    """One event: a line that says what it is, then the words in it."""
    headline, body = _told(event)
    name = f"**{event.id}**" if event.id else f"**@{event.seq}**"
    simulated = " (recorded)" if event.call is not None and event.call.simulated else ""
    return "\n\n".join(filter(None, (f"{name} {headline}{simulated}", *body)))


def _told(event: Event) -> tuple[str, list[str]]:
    """Headline and quoted texts of an event, by the stream it belongs to."""
    match event:
        case (
            RunOpened()
            | RoundOpened()
            | Decision()
            | Disposition()
            | Score()
            | Standing()
            | Vote()
            | Ruling()
        ):
            return _decided(event)
        case Signals() | Alarm() | Fallback() | Amendment() | RunClosed():
            return _governed(event)
        case (
            Statement() | Artifact() | Claim() | Assumption() | Argument() | Concern() | Rating() | Position()
        ):
            return _asserted(event)
        case _:
            return _tested(event)


def _asserted(
    event: Statement | Artifact | Claim | Assumption | Argument | Concern | Rating | Position,
) -> tuple[str, list[str]]:
    match event:
        case Statement():
            return f"{event.type} by {event.by}", [_part(one.name, one.text) for one in event.sections]
        case Artifact():
            parts = (
                f"*{name}*\n\n" + "\n\n".join(map(quoted, texts))
                for name, texts in sections_of(event).items()
            )
            return f"{event.type} by {event.role}", list(parts)
        case Claim():
            older = f", supersedes {event.supersedes}" if event.supersedes else ""
            test = f"Testable as:\n\n{quoted(event.testable_as)}"
            return f"claim of {event.raised_by}{older}", [quoted(event.text), test]
        case Assumption():
            return f"assumption by {event.by}", [quoted(event.text)]
        case Argument():
            texts = [event.claim, event.reasoning, event.evidence]
            return f"argument {inline(event.label)} for {inline(event.side)}", [
                quoted(text) for text in texts
            ]
        case Concern():
            between = f" between {_listed(event.between)}" if event.between else ""
            more = (("Risk:", event.risk), ("Fix:", event.fix))
            texts = [f"{label}\n\n{quoted(text)}" for label, text in more if text]
            return f"{event.type} by {event.by}{between}", [quoted(event.text), *texts]
        case Rating():
            return f"{event.by} rates {event.of} {event.value} ({event.scale})", [quoted(event.reason)]
        case Position():
            sure = f", confidence {event.confidence}" if event.confidence else ""
            return f"position on {event.on}: {event.stance}{sure}", [
                quoted(event.reason)
            ] if event.reason else []


def _part(name: str, text: str) -> str:
    return f"*{inline(name)}*\n\n{quoted(text)}"


def _tested(
    event: Verification | Challenge | Response | Flip | DriftCheck | Screening | Validation,
) -> tuple[str, list[str]]:
    match event:
        case Verification():
            moves = [
                f"- {one.claim_id}: {one.from_} → {one.to} ({one.bearing})"
                for one in event.claim_status_changes
            ]
            refs = [
                f"- {inline(one.ref)}" + (f": “{inline(one.quote)}”" if one.quote else "")
                for one in event.evidence_refs
            ]
            return f"{event.check}: **{event.result}**", [
                quoted(event.notes),
                "\n".join(refs),
                "\n".join(moves),
            ]
        case Challenge():
            return f"challenge by {event.by} to {inline(event.target)}", [
                quoted(event.claim),
                quoted(event.text),
            ]
        case Response():
            return f"response by {event.by} to {event.to}: {event.outcome}", [quoted(event.text)]
        case Flip():
            why = _listed(one.ref for one in event.because) or "nothing new"
            return f"{event.of} changes from {event.from_} to {event.to}, citing {why}", []
        case DriftCheck():
            return f"drift: **{event.verdict}**, deviation {event.deviation_score} of 5", [
                quoted(event.notes)
            ]
        case Screening():
            return f"screening of the {event.of}: {event.action}, {event.score} points", []
        case Validation():
            verdict = "no errors" if event.ok else "errors"
            lines = [f"- {one.code} ({one.severity}): {inline(one.message)}" for one in event.findings]
            return f"validation after {event.after}: {verdict}", ["\n".join(lines)]


def _decided(
    event: RunOpened | RoundOpened | Decision | Disposition | Score | Standing | Vote | Ruling,
) -> tuple[str, list[str]]:
    match event:
        case RunOpened() | RoundOpened():
            return event.kind, []
        case Decision():
            rests = _listed(f"{cite.relation} {cite.id}" for cite in event.cites) or "nothing"
            dissent = f" Dissent: {_listed(one.role for one in event.dissent)}." if event.dissent else ""
            return f"decision ({event.type}) by {event.made_by}; rests on: {rests}.{dissent}", [
                quoted(event.text)
            ]
        case Disposition():
            more = (("Revision:", event.revision), ("Question for a person:", event.question))
            texts = [f"{label}\n\n{quoted(text)}" for label, text in more if text]
            return f"{event.of}: {event.disposition}", [quoted(event.reason), *texts]
        case Score():
            return f"score of {event.of}: {event.total} ({event.rubric})", []
        case Standing():
            return f"standing of {event.of}: {event.standing}", [quoted(event.reason)]
        case Vote():
            numbers = f"confidence {event.confidence}, risk {event.risk}"
            return f"vote of {event.by}: **{event.decision}**, {numbers}", [quoted(event.reasoning)]
        case Ruling():
            return f"ruling: **{event.decision}** by {event.rule}", []


def _governed(event: Signals | Alarm | Fallback | Amendment | RunClosed) -> tuple[str, list[str]]:
    match event:
        case Signals():
            held = _listed(one.id for one in event.signals if one.satisfied) or "none"
            return (
                f"signals ({event.profile}): {event.satisfied} of {event.of} hold ({held}); {event.advice}",
                [],
            )
        case Alarm():
            return f"alarm {event.fm} {event.action} ({event.verdict})", [
                quoted(event.because)
            ] if event.because else []
        case Fallback():
            return f"{event.role} did not answer ({event.reason}); instead: {event.instead}", [
                quoted(event.detail)
            ]
        case Amendment():
            return f"amendment of the {event.what}", [quoted(event.reason)]
        case RunClosed():
            return f"{event.state}: {event.reason}", []


def _listed(words: Iterable[str]) -> str:
    return ", ".join(inline(word) for word in words)
