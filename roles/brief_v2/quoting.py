"""How the records of the short protocols stand in a brief; heads and bars as in `roles/quoting.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from ledger.events import (
    Argument,
    Assumption,
    Challenge,
    Concern,
    Decision,
    Disposition,
    Event,
    Rating,
    Response,
    Score,
    Standing,
    Statement,
    Vote,
)
from ledger.values import Evidence
from roles import quoting
from roles.quoting import Quoted, bar


def _made(event: Event, head: Sequence[str | None], lines: Sequence[str]) -> Quoted:
    first = " · ".join(part for part in head if part)
    return Quoted(event.id or "", "\n".join([first, *lines]), (event.seq,))


def _said(label: str, text: str | None) -> list[str]:
    return [bar(label, text)] if text else []


def _shown(evidence: Sequence[Evidence]) -> Iterator[str]:
    for entry in evidence:
        yield bar("evidence", entry.ref)
        yield from _said("quote", entry.quote)


def sections(event: Statement, names: Sequence[str]) -> Quoted:
    """Some sections of a statement, each under its anchor, without a word on who wrote it."""
    lines: list[str] = []
    for section in event.sections:
        if section.name in names:
            lines += [f"#{section.name}", bar("", section.text)]
    return _made(event, (event.id,), lines)


def argument(event: Argument) -> Quoted:
    """Claim, reasoning and evidence."""
    lines = [bar("claim", event.claim), bar("reasoning", event.reasoning), bar("evidence", event.evidence)]
    return _made(
        event, (event.id, f"argument {event.label} for {event.side}"), [*lines, *_shown(event.quotes)]
    )


def assumption(event: Assumption) -> Quoted:
    """A choice that a plan makes."""
    return _made(event, (event.id, f"assumption by {event.by}"), [bar("text", event.text)])


def challenge(event: Challenge) -> Quoted:
    """An attack with its target."""
    head = (
        event.id,
        f"{event.type or 'challenge'} by {event.by} of {event.target}",
        event.tag,
        f"rank {event.rank}" if event.rank else None,
        f"severity {event.severity}" if event.severity else None,
    )
    lines = [bar("claim", event.claim), bar("text", event.text)]
    lines += _said("question", event.follow_up_question)
    return _made(event, head, [*lines, *_shown(event.evidence)])


def response(event: Response) -> Quoted:
    """What was answered to a challenge."""
    lines = [bar("text", event.text), *_shown(event.evidence), *_said("revised", event.revised)]
    return _made(event, (event.id, f"{event.outcome} by {event.by}, to {event.to}"), lines)


def disposition(event: Disposition) -> Quoted:
    """What became of a challenge."""
    lines = [bar("reason", event.reason), *_said("revision", event.revision)]
    lines += _said("question for a person", event.question)
    return _made(event, (f"{event.of} is {event.disposition}, by {event.by}",), lines)


def concern(event: Concern) -> Quoted:
    """A concern with its rank, risk and fix."""
    head = (
        event.id,
        f"{event.type} by {event.by}",
        f"rank {event.rank}" if event.rank else None,
        f"severity {event.severity}" if event.severity else None,
    )
    lines = [bar("text", event.text), *_said("risk", event.risk), *_said("fix", event.fix)]
    if event.between:
        lines.append(bar("between", ", ".join(event.between)))
    return _made(event, head, [*lines, *_shown(event.evidence)])


def rating(event: Rating) -> Quoted:
    """A value on a scale."""
    what = f"{event.of}: {event.value} on {event.scale}, by {event.by}"
    return _made(event, (what, event.criterion), [bar("reason", event.reason)])


def vote(event: Vote) -> Quoted:
    """A ballot with its numbers."""
    what = f"{event.decision} by {event.by}, confidence {event.confidence}, risk {event.risk}"
    return _made(event, (event.id, what), [bar("reasoning", event.reasoning)])


def score(event: Score) -> Quoted:
    """Scores of one argument or option, part by part."""
    parts = ", ".join(f"{name} {value}" for name, value in event.parts.items())
    lines = [bar("parts", parts)] if parts else []
    lines += _said("fallacies", ", ".join(event.fallacies)) + _said("notes", event.notes)
    return _made(event, (f"{event.of} scored {event.total} by judge {event.judge}",), lines)


def standing(event: Standing) -> Quoted:
    """How something stands at the end."""
    return _made(event, (f"{event.of} is {event.standing}, by {event.by}",), [bar("reason", event.reason)])


def decision(event: Decision) -> Quoted:
    """A decision, with zones and narratives where it has them."""
    base = quoting.decision(event)
    lines = [base.text, *(bar("narrative", text) for text in event.narratives)]
    if event.zones is not None:
        lines += [bar("agreed", text) for text in event.zones.agreement]
        lines += [bar("contested", text) for text in event.zones.contested]
    return Quoted(base.name, "\n".join(lines), base.seqs)


BY_KIND: Final[Mapping[str, Callable[[Any], Quoted]]] = {
    "statement": quoting.statement,
    "assumption": assumption,
    "argument": argument,
    "position": quoting.position,
    "concern": concern,
    "challenge": challenge,
    "response": response,
    "disposition": disposition,
    "rating": rating,
    "vote": vote,
    "score": score,
    "standing": standing,
    "decision": decision,
}
"""Kind → how it is quoted; in this order the records of one seat are shown. Other kinds are never quoted."""
