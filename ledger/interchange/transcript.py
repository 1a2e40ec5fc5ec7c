"""Transcript of a run in Markdown: one entry per event.

Texts are in block quotes and are escaped (`markdown.py`), so no words pass for the document's own structure.
"""

from __future__ import annotations

from collections.abc import Iterable

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
from ledger.events.envelope import Evidence
from ledger.interchange.markdown import inline, listed, quoted
from ledger.state.book import Book, sections_of
from ledger.state.decided import WORDS, conditions_of
from ledger.state.wording import clause


def entry(event: Event, book: Book) -> str:
    """Return the Markdown of one event: a line that says what it is, then its words; `book` knows a decision's fate."""
    headline, body = _entry_parts(event, book)
    name = f"**{inline(event.id)}**" if event.id else f"**@{event.seq}**"
    simulated = " (recorded)" if event.call is not None and event.call.simulated else ""
    return "\n\n".join(filter(None, (f"{name} {headline}{simulated}", *body)))


def _entry_parts(event: Event, book: Book) -> tuple[str, list[str]]:
    """Return headline and quoted texts of an event, by the stream it belongs to."""
    match event:
        case Decision():
            return _decision(event, book)
        case Ruling():
            facts = book.state.rulings.get(f"@{event.seq}")
            ended = (
                f", **overturned by {inline(facts.overturned_by)}**" if facts and facts.overturned_by else ""
            )
            return f"ruling: **{inline(event.decision)}** by {inline(event.rule)}{ended}", []
        case RunOpened() | RoundOpened() | Disposition() | Score() | Standing() | Vote():
            return _decided(event)
        case Signals() | Alarm() | Fallback() | Amendment() | RunClosed():
            return _governed(event)
        case (
            Statement() | Artifact() | Claim() | Assumption() | Argument() | Concern() | Rating() | Position()
        ):
            return _asserted(event)
        case Verification() | Challenge() | Response() | Flip() | DriftCheck() | Screening() | Validation():
            return _tested(event)
        case _:
            name, text = clause(event)
            return name, [quoted(text)]


def _asserted(
    event: Statement | Artifact | Claim | Assumption | Argument | Concern | Rating | Position,
) -> tuple[str, list[str]]:
    match event:
        case Statement():
            return f"{event.type} by {inline(event.by)}", [
                _part(section.name, section.text) for section in event.sections
            ]
        case Artifact():
            parts = (
                f"*{inline(name)}*\n\n" + "\n\n".join(map(quoted, texts))
                for name, texts in sections_of(event).items()
            )
            return f"{event.type} by {inline(event.role)}", list(parts)
        case Claim():
            older = f", supersedes {inline(event.supersedes)}" if event.supersedes else ""
            test = f"Testable as:\n\n{quoted(event.testable_as)}"
            return f"claim of {inline(event.raised_by)}{older}", [quoted(event.text), test]
        case Assumption():
            return f"assumption by {inline(event.by)}", [quoted(event.text)]
        case Argument():
            texts = [event.claim, event.reasoning, event.evidence]
            return f"argument {inline(event.label)} for {inline(event.side)}", [
                quoted(text) for text in texts
            ]
        case Concern():
            between = f" between {listed(event.between)}" if event.between else ""
            more = (("Risk:", event.risk), ("Fix:", event.fix))
            texts = [f"{label}\n\n{quoted(text)}" for label, text in more if text]
            return f"{event.type} by {inline(event.by)}{between}", [quoted(event.text), *texts]
        case Rating():
            value, scale = inline(str(event.value)), inline(event.scale)
            return f"{inline(event.by)} rates {inline(event.of)} {value} ({scale})", [quoted(event.reason)]
        case Position():
            sure = f", confidence {event.confidence}" if event.confidence else ""
            return f"position on {inline(event.on)}: {inline(event.stance)}{sure}", [
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
                f"- {inline(move.claim_id)}: {inline(move.from_)} → {inline(move.to)} ({inline(move.bearing)})"
                for move in event.claim_status_changes
            ]
            return f"{inline(event.check)}: **{event.result}**", [
                quoted(event.notes),
                _evidence(event.evidence_refs),
                "\n".join(moves),
            ]
        case Challenge():
            return f"challenge by {inline(event.by)} to {inline(event.target)}", [
                quoted(event.claim),
                quoted(event.text),
            ]
        case Response():
            head = f"response by {inline(event.by)} to {inline(event.to)}: {inline(event.outcome)}"
            return head, [quoted(event.text)]
        case Flip():
            why = listed(evidence.ref for evidence in event.because) or "nothing new"
            moved = f"from {inline(event.from_)} to {inline(event.to)}"
            return f"{inline(event.of)} changes {moved}, citing {why}", []
        case DriftCheck():
            return f"drift: **{event.verdict}**, deviation {event.deviation_score} of 5", [
                quoted(event.notes)
            ]
        case Screening():
            return f"screening of the {inline(event.of)}: {event.action}, {event.score} points", []
        case Validation():
            verdict = "no errors" if event.ok else "errors"
            lines = [
                f"- {inline(finding.code)} ({finding.severity}): {inline(finding.message)}"
                for finding in event.findings
            ]
            return f"validation after {inline(event.after)}: {verdict}", ["\n".join(lines)]


def _evidence(evidence: Iterable[Evidence]) -> str:
    return "\n".join(
        f"- {inline(item.ref)}" + (f": “{inline(item.quote)}”" if item.quote else "") for item in evidence
    )


def _decision(event: Decision, book: Book) -> tuple[str, list[str]]:
    """Return a decision with its falsifiers, requirements and dissent."""
    facts = book.state.decisions.get(event.id)
    ended = f", **overturned by {inline(facts.overturned_by)}**" if facts and facts.overturned_by else ""
    rests = listed(f"{cite.relation} {cite.id}" for cite in event.cites) or "nothing"
    conditions = conditions_of(event)
    parts = [quoted(event.text)]
    for words, texts in zip(WORDS.values(), conditions, strict=True):
        if texts:
            parts.append(
                "\n".join([f"{words[0].upper()}{words[1:]}:", "", *(f"- {inline(text)}" for text in texts)])
            )
    parts += [f"Against it, {inline(dissent.role)}:\n\n{quoted(dissent.text)}" for dissent in event.dissent]
    return f"decision ({event.type}) by {event.made_by}{ended}; rests on: {rests}.", parts


def _decided(
    event: RunOpened | RoundOpened | Disposition | Score | Standing | Vote,
) -> tuple[str, list[str]]:
    match event:
        case RunOpened() | RoundOpened():
            return event.kind, []
        case Disposition():
            more = (("Revision:", event.revision), ("Question for a person:", event.question))
            texts = [f"{label}\n\n{quoted(text)}" for label, text in more if text]
            return f"{inline(event.of)}: {event.disposition}", [quoted(event.reason), *texts]
        case Score():
            return f"score of {inline(event.of)}: {event.total} ({inline(event.rubric)})", []
        case Standing():
            return f"standing of {inline(event.of)}: {inline(event.standing)}", [quoted(event.reason)]
        case Vote():
            numbers = f"confidence {event.confidence}, risk {event.risk}"
            return f"vote of {inline(event.by)}: **{inline(event.decision)}**, {numbers}", [
                quoted(event.reasoning)
            ]


def _governed(event: Signals | Alarm | Fallback | Amendment | RunClosed) -> tuple[str, list[str]]:
    match event:
        case Signals():
            held = listed(signal.id for signal in event.signals if signal.satisfied) or "none"
            return (
                f"signals ({event.profile}): {event.satisfied} of {event.of} hold ({held}); {event.advice}",
                [],
            )
        case Alarm():
            return f"alarm {event.fm} {event.action} ({event.verdict})", [
                quoted(event.because)
            ] if event.because else []
        case Fallback():
            head = f"{inline(event.role)} did not answer ({inline(event.reason)})"
            return f"{head}; instead: {inline(event.instead)}", [quoted(event.detail)]
        case Amendment():
            return f"amendment of the {inline(event.what)}", [quoted(event.reason)]
        case RunClosed():
            return f"{event.state}: {inline(event.reason)}", []
