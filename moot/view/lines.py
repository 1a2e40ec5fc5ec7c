"""One line an event: what `moot log`, `moot replay` and a run without a live view print."""

from __future__ import annotations

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

WIDTH = 110


def event_line(event: Event) -> str:
    """`@41  r3.E.check1  V-3-1 BROKEN …`, cut to one line."""
    where = f"R{event.round} {event.phase}"
    text = f"@{event.seq:<4} {where:<9} {event.by:<10} {event.id or event.kind:<14} {said(event)}"
    flat = " ".join(text.split("\n"))
    return flat if len(flat) <= WIDTH else f"{flat[: WIDTH - 1]}…"


def said(event: Event) -> str:
    """What an event says, in a clause."""
    match event:
        case Claim():
            return event.text
        case Verification():
            moved = ", ".join(f"{change.claim_id} {change.to}" for change in event.claim_status_changes)
            return f"{event.result}{f'  {moved}' if moved else ''}  {event.notes}"
        case Decision():
            return f"{event.type}: {event.text}"
        case RunOpened():
            return f"run opened: {event.question}"
        case RoundOpened():
            lead = f", lead {event.lead}" if event.lead else ""
            return f"round {event.round} opens{lead}" + (f", without {event.absent}" if event.absent else "")
        case Artifact():
            return f"{event.type.replace('_', ' ')}, {event.words} words"
        case Statement():
            return f"{event.type}: {event.sections[0].text if event.sections else ''}"
        case Position():
            return f"{event.stance}: {event.reason}"
        case Flip():
            return f"{event.of} from {event.from_} to {event.to}, {len(event.because)} new evidence"
        case Concern() | Challenge() | Response() | Assumption():
            return f"{_kind_of(event)}: {event.text}"
        case Argument():
            return f"{event.label}: {event.claim}"
        case Rating():
            return f"{event.of} {event.scale} {event.value}"
        case DriftCheck():
            return f"{event.verdict}, deviation {event.deviation_score}/5: {event.notes}"
        case Screening():
            return f"{event.of}: {event.action}, {event.score} points"
        case Validation():
            errors = sum(finding.severity == "error" for finding in event.findings)
            found = f"{errors} errors, {len(event.findings) - errors} warnings"
            return f"validation after {event.after}: {'ok' if event.ok else 'not ok'}, {found}"
        case Signals():
            stop = "stop" if event.stop else "go on"
            return f"signals {event.satisfied} of {event.of}: {stop} ({event.advice.replace('_', ' ')})"
        case Alarm():
            return f"{event.fm} {event.action}: {event.because or event.verdict}"
        case Amendment():
            return f"{event.what}: {event.reason}"
        case Fallback():
            return f"{event.step_failed} given up ({event.reason}): {event.detail}"
        case RunClosed():
            return f"run {event.state}: {event.reason.replace('_', ' ')}"
        case Disposition():
            return f"{event.of} {event.disposition}: {event.reason}"
        case Score():
            return f"{event.of} {event.total} by {event.rubric}"
        case Standing():
            return f"{event.of} {event.standing}: {event.reason}"
        case Vote():
            return f"{event.decision}, confidence {event.confidence}, risk {event.risk}"
        case Ruling():
            return f"{event.decision} by {event.rule}"
        case _:
            assert_never(event)


def _kind_of(event: Concern | Challenge | Response | Assumption) -> str:
    return event.type if isinstance(event, Concern) else event.kind
