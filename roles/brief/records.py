"""Records: what earlier steps of a short protocol handed in, as its table picks it; heads and bars as in `quote.py`.

1. Records are ordered by role, repetition, kind and number, never by seq; for every second repetition the roles go the
   other way round.
2. Nothing is shown but the question (where the table has it), what the picks name, and the step's own role and task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, get_args

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
from ledger.events.ids import StepName, number_of, parse_reference, parse_step
from ledger.events.values import Evidence
from roles.brief import quote
from roles.brief.context import BriefContext
from roles.brief.quote import Quoted, optional
from roles.prompt_set import template
from roles.protocol import Column, Pick, Sight, Whose
from roles.templates import Row, Values, bar, names


def picks(context: BriefContext) -> tuple[Pick, ...]:
    """What the table picks; nothing is said about a phase that the round looked at does not have."""
    sight = context.view.get(Column.RECORD)
    return tuple(pick for pick in sight.picks if _was_planned(context, pick)) if sight else ()


def _was_planned(context: BriefContext, pick: Pick) -> bool:
    return any(
        row.round == context.round - pick.back and pick.phase in row.phases for row in context.opened.plan
    )


def quotations(context: BriefContext, sight: Sight) -> tuple[Quoted, ...]:
    """All that the picks show."""
    del sight
    return tuple(each for pick in picks(context) for each in quoted(context, pick))


def heading(context: BriefContext, pick: Pick, *, none: bool) -> str:
    """The heading of a pick's records."""
    path = "blocks/record"
    unset: Values = {flag: [] for flag in names(template(context.prompt_set, path))}
    flags: dict[str, list[Row]] = {whose: [{}] if whose == pick.whose else [] for whose in get_args(Whose)}
    values: Values = {
        "phase": pick.phase,
        "target": target_of(context.step.name) or "",
        "none": [{}] if none else [],
        "earlier": [{"round": context.round - pick.back}] if pick.back else [],
        **flags,
    }
    return context.rendered(path, {**unset, **values})


def picked(context: BriefContext, pick: Pick) -> tuple[Event, ...]:
    """The events that a pick shows, in order: role, repetition, kind, number."""
    found = [event for event in context.book.events if _is_picked(context, pick, event)]
    return tuple(sorted(found, key=lambda event: _place(context, event)))


def quoted(context: BriefContext, pick: Pick) -> tuple[Quoted, ...]:
    """What a pick shows, quoted."""
    return tuple(_quoted(pick, event) for event in picked(context, pick))


def _quoted(pick: Pick, event: Event) -> Quoted:
    if pick.sections and isinstance(event, Statement):
        return sections(event, pick.sections)
    return BY_KIND[event.kind](event)


def lost(context: BriefContext, pick: Pick) -> Iterator[str]:
    """Return the steps that the pick would have shown and that were given up."""
    for step in context.state.given_up:
        name = parse_step(step)
        if name is None or name.phase != pick.phase or name.round != context.round - pick.back:
            continue
        if _would_have_shown(context, pick, name):
            yield step


def _is_picked(context: BriefContext, pick: Pick, event: Event) -> bool:
    if event.round != context.round - pick.back or event.phase != pick.phase:
        return False
    if event.kind not in (pick.kinds or KINDS):
        return False
    name, asked = parse_step(event.step or ""), context.step.name
    is_own = name is not None and _is_own(name, asked)
    match pick.whose:
        case "all":
            return True
        case "own":
            return is_own
        case "others":
            return not is_own
        case "target":
            return event.by == target_of(asked)
        case "aimed":
            aim = context.book.by_id.get(_aim(event))
            return aim is not None and aim.by == asked.role


def _would_have_shown(context: BriefContext, pick: Pick, name: StepName) -> bool:
    """Whether a pick would have shown what a lost step had handed in, as far as its name tells."""
    asked = context.step.name
    match pick.whose:
        case "all":
            return True
        case "own":
            return _is_own(name, asked)
        case "others":
            return not _is_own(name, asked)
        case "target":
            return name.role == target_of(asked)
        case "aimed":  # a step that names no target could have aimed at anybody else
            return name.role != asked.role and target_of(name) in (None, asked.role)


def _is_own(name: StepName, asked: StepName) -> bool:
    return (name.role, name.repeat) == (asked.role, asked.repeat)


def target_of(name: StepName) -> str | None:
    """The role that an act is about: `on_safety` → safety."""
    return name.act.removeprefix("on_") if name.act and name.act.startswith("on_") else None


def _aim(event: Event) -> str:
    named = getattr(event, "target", None) or getattr(event, "to", None) or getattr(event, "of", None)
    return parse_reference(str(named or "")).id


def _place(context: BriefContext, event: Event) -> tuple[int, int, int, int, str]:
    roles = context.protocol.role_ids()
    role = roles.index(event.by) if event.by in roles else len(roles)
    if context.step.name.repeat % 2 == 0:
        role = -role  # every second reading of the same records goes the other way round (XS-19)
    name = parse_step(event.step or "")
    identity = event.id or _aim(event)
    repeat = name.repeat if name else 1
    return (role, repeat, KINDS.index(event.kind), number_of(identity), identity)


# ---------------------------------------------------------------- how each kind is quoted


def _made(event: Event, head: Sequence[str | None], lines: Sequence[str]) -> Quoted:
    first = " · ".join(part for part in head if part)
    return Quoted(event.id or "", "\n".join([first, *lines]), (event.seq,))


def _shown(evidence: Sequence[Evidence]) -> Iterator[str]:
    for entry in evidence:
        yield bar("evidence", entry.ref)
        yield from optional("quote", entry.quote)


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
    lines += optional("question", event.follow_up_question)
    return _made(event, head, [*lines, *_shown(event.evidence)])


def response(event: Response) -> Quoted:
    """What was answered to a challenge."""
    lines = [bar("text", event.text), *_shown(event.evidence), *optional("revised", event.revised)]
    return _made(event, (event.id, f"{event.outcome} by {event.by}, to {event.to}"), lines)


def disposition(event: Disposition) -> Quoted:
    """What became of a challenge."""
    lines = [bar("reason", event.reason), *optional("revision", event.revision)]
    lines += optional("question for a person", event.question)
    return _made(event, (f"{event.of} is {event.disposition}, by {event.by}",), lines)


def concern(event: Concern) -> Quoted:
    """A concern with its rank, risk and fix."""
    head = (
        event.id,
        f"{event.type} by {event.by}",
        f"rank {event.rank}" if event.rank else None,
        f"severity {event.severity}" if event.severity else None,
    )
    lines = [bar("text", event.text), *optional("risk", event.risk), *optional("fix", event.fix)]
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
    lines += optional("fallacies", ", ".join(event.fallacies)) + optional("notes", event.notes)
    return _made(event, (f"{event.of} scored {event.total} by judge {event.judge}",), lines)


def standing(event: Standing) -> Quoted:
    """How something stands at the end."""
    return _made(event, (f"{event.of} is {event.standing}, by {event.by}",), [bar("reason", event.reason)])


def decision(event: Decision) -> Quoted:
    """A decision, with zones and narratives where it has them."""
    base = quote.decision(event)
    lines = [base.text, *(bar("narrative", text) for text in event.narratives)]
    if event.zones is not None:
        lines += [bar("agreed", text) for text in event.zones.agreement]
        lines += [bar("contested", text) for text in event.zones.contested]
    return Quoted(base.name, "\n".join(lines), base.seqs)


BY_KIND: Final[Mapping[str, Callable[[Any], Quoted]]] = {
    "statement": quote.statement,
    "assumption": assumption,
    "argument": argument,
    "position": quote.position,
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

KINDS: Final = tuple(BY_KIND)
