"""Quote records: replies of earlier steps, as the table of a short protocol picks them, in the format of `quote`.

1. Records are ordered by role, repetition, kind and number, never by seq. Every second repetition reverses the order of
   the roles.
2. A brief shows only the question (if the table has it), the picked records, and the step's own role and task.
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
from roles.brief import quote
from roles.brief.context import BriefContext
from roles.brief.quote import Quotations, Quoted, evidence, graded, optional, quotation
from roles.prompt_set import Row, Values, bar, names, template
from roles.protocol import Column, Pick, Sight, Whose


def picks(context: BriefContext) -> tuple[Pick, ...]:
    """Return the picks of the table, without those for a phase that the round in question does not have."""
    sight = context.view.get(Column.RECORD)
    planned = {(row.round, phase) for row in context.opened.plan for phase in row.phases}
    picks = sight.picks if sight else ()
    return tuple(pick for pick in picks if (context.round - pick.back, pick.phase) in planned)


def quotations(context: BriefContext, _sight: Sight) -> Quotations:
    """Return the quotations of all picks."""
    return tuple(quotation for pick in picks(context) for quotation in quoted(context, pick))


def heading(context: BriefContext, pick: Pick, *, none: bool) -> str:
    """Return the heading of a pick's records; `none`: there are no records."""
    path = "blocks/record"
    # A template may test any flag, and one without a value is an error, so all of them start empty.
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
    """Return the events of a pick, ordered by role, repetition, kind and number."""
    events = [event for event in context.book.events if _is_picked(context, pick, event)]
    return tuple(sorted(events, key=lambda event: _place(context, event)))


def quoted(context: BriefContext, pick: Pick) -> Quotations:
    """Return the quotations of a pick."""
    return tuple(_quoted(pick, event) for event in picked(context, pick))


def _quoted(pick: Pick, event: Event) -> Quoted:
    # Sections are shown without a head, so that a judge does not see who wrote them.
    if pick.sections and isinstance(event, Statement):
        return sections(event, pick.sections)
    return BY_KIND[event.kind](event)


def lost(context: BriefContext, pick: Pick) -> Iterator[str]:
    """Yield the ids of given-up steps whose records the pick would have shown."""
    # Sorted, because the order in which steps are lost must not change a brief.
    for step in sorted(context.state.given_up):
        name = parse_step(step)
        if name is None or name.phase != pick.phase or name.round != context.round - pick.back:
            continue
        if _would_have_shown(context, pick, name):
            yield step


def _is_picked(context: BriefContext, pick: Pick, event: Event) -> bool:
    if (event.round, event.phase) != (context.round - pick.back, pick.phase):
        return False
    if event.kind not in (pick.kinds or KINDS):
        return False
    name, reader = parse_step(event.step or ""), context.step.name
    if pick.whose == "aimed":
        aim = context.book.by_id.get(_aim(event))
        return aim is not None and aim.by == reader.role
    return _is_whose(pick.whose, event.by, name is not None and _is_own(name, reader), reader)


def _would_have_shown(context: BriefContext, pick: Pick, name: StepName) -> bool:
    """Return whether a pick would have shown the records of a lost step, judged by the name of the step."""
    reader = context.step.name
    if pick.whose == "aimed":
        # A step without a target in its name could have aimed at any other role.
        return name.role != reader.role and target_of(name) in (None, reader.role)
    return _is_whose(pick.whose, name.role, _is_own(name, reader), reader)


def _is_whose(whose: Whose, author: str, is_own: bool, reader: StepName) -> bool:
    """Return whether a pick of `whose` records shows those of this author to the step that is asked."""
    return {"own": is_own, "others": not is_own, "target": author == target_of(reader)}.get(whose, True)


def _is_own(name: StepName, reader: StepName) -> bool:
    return (name.role, name.repeat) == (reader.role, reader.repeat)


def target_of(name: StepName) -> str | None:
    """Return the role that the act of a step is about: `on_safety` → `safety`; None when it names none."""
    return name.act.removeprefix("on_") if name.act and name.act.startswith("on_") else None


def _aim(event: Event) -> str:
    named = getattr(event, "target", None) or getattr(event, "to", None) or getattr(event, "of", None)
    return parse_reference(str(named or "")).id


def _place(context: BriefContext, event: Event) -> tuple[int, int, int, int, str]:
    roles = context.protocol.role_ids()
    role = roles.index(event.by) if event.by in roles else len(roles)
    if context.step.name.repeat % 2 == 0:
        # A judge may favor the first record, so every second reading of the same records reverses the roles (XS-19).
        role = -role
    name = parse_step(event.step or "")
    identity = event.id or _aim(event)
    repeat = name.repeat if name else 1
    return (role, repeat, KINDS.index(event.kind), number_of(identity), identity)


# ---------------------------------------------------------------- how each kind is quoted


def sections(event: Statement, names: Sequence[str]) -> Quoted:
    """Quote sections of a statement, each under its anchor, without its author."""
    chosen = (section for section in event.sections if section.name in names)
    lines = (line for section in chosen for line in (f"#{section.name}", bar("", section.text)))
    return quotation(event, (event.id,), *lines)


def argument(event: Argument) -> Quoted:
    """Quote an argument: claim, reasoning and evidence."""
    lines = [bar("claim", event.claim), bar("reasoning", event.reasoning), bar("evidence", event.evidence)]
    head = f"argument {event.label} for {event.side}"
    return quotation(event, (event.id, head), *lines, *evidence(event.quotes))


def assumption(event: Assumption) -> Quoted:
    """Quote an assumption of a plan."""
    return quotation(event, (event.id, f"assumption by {event.by}"), bar("text", event.text))


def challenge(event: Challenge) -> Quoted:
    """Quote a challenge with its target."""
    head = (
        event.id,
        f"{event.type or 'challenge'} by {event.by} of {event.target}",
        event.tag,
        graded("rank", event.rank),
        graded("severity", event.severity),
    )
    lines = [bar("claim", event.claim), bar("text", event.text)]
    lines += optional("question", event.follow_up_question)
    return quotation(event, head, *lines, *evidence(event.evidence))


def response(event: Response) -> Quoted:
    """Quote a response to a challenge."""
    lines = (bar("text", event.text), *evidence(event.evidence), *optional("revised", event.revised))
    return quotation(event, (event.id, f"{event.outcome} by {event.by}, to {event.to}"), *lines)


def disposition(event: Disposition) -> Quoted:
    """Quote the disposition of a challenge."""
    lines = [bar("reason", event.reason), *optional("revision", event.revision)]
    lines += optional("question for a person", event.question)
    return quotation(event, (f"{event.of} is {event.disposition}, by {event.by}",), *lines)


def concern(event: Concern) -> Quoted:
    """Quote a concern with its rank, risk and fix."""
    head = (
        event.id,
        f"{event.type} by {event.by}",
        graded("rank", event.rank),
        graded("severity", event.severity),
    )
    lines = [bar("text", event.text), *optional("risk", event.risk), *optional("fix", event.fix)]
    lines += optional("between", ", ".join(event.between))
    return quotation(event, head, *lines, *evidence(event.evidence))


def rating(event: Rating) -> Quoted:
    """Quote a rating on a scale."""
    what = f"{event.of}: {event.value} on {event.scale}, by {event.by}"
    return quotation(event, (what, event.criterion), bar("reason", event.reason))


def vote(event: Vote) -> Quoted:
    """Quote a vote with confidence and risk."""
    what = f"{event.decision} by {event.by}, confidence {event.confidence}, risk {event.risk}"
    return quotation(event, (event.id, what), bar("reasoning", event.reasoning))


def score(event: Score) -> Quoted:
    """Quote the score of an argument or an option, part by part."""
    parts = ", ".join(f"{name} {value}" for name, value in event.parts.items())
    lines = [*optional("parts", parts), *optional("fallacies", ", ".join(event.fallacies))]
    lines += optional("notes", event.notes)
    return quotation(event, (f"{event.of} scored {event.total} by judge {event.judge}",), *lines)


def standing(event: Standing) -> Quoted:
    """Quote the final standing of an event."""
    head = f"{event.of} is {event.standing}, by {event.by}"
    return quotation(event, (head,), bar("reason", event.reason))


def decision(event: Decision) -> Quoted:
    """Quote a decision, with its zones and narratives if there are any."""
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
"""Kind → quoting function, in the order in which the records of one seat are shown. Other kinds are never quoted."""

KINDS: Final = tuple(BY_KIND)
