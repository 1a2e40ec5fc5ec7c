"""The decisions in the report: each with what it rests on, down to quoted sentences, with dissent and risk."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.interchange.markdown import code, inline, listed, quoted, table
from moot.render import theme
from moot.render.story import DecisionTold, Ground, Quote, Story
from moot.render.theme import mark_of

INDENT = "  "


def decided(story: Story) -> Iterator[str]:
    """The final decisions; those in force when there is none yet."""
    final = story.final
    shown = final or tuple(one for one in story.decisions if one.in_force and one.type != "gate")
    yield ""
    yield "## Decided" if final else "## Decisions in force (none is final)"
    if not shown:
        yield ""
        yield "Nothing was decided."
    for decision in shown:
        yield ""
        yield from decision_lines(decision)


def decision_lines(decision: DecisionTold) -> Iterator[str]:
    """One decision with everything under it."""
    facts = [decision.type, f"round {decision.round}", f"by {decision.made_by.replace('_', ' ')}"]
    if decision.confidence is not None:
        facts.append(f"confidence {decision.confidence} of 5")
    yield f"### {inline(decision.id)}"
    yield ""
    yield quoted(decision.text)
    yield ""
    yield f"({', '.join(facts)}{_standing(decision)})"
    for condition in decision.conditions:
        yield f"- on condition that {inline(condition)}"
    yield ""
    yield "Rests on:"
    yield ""
    for ground in decision.rests_on:
        yield from ground_lines(ground)
    for one in decision.dissent:
        held = f" holds {one.stance} on {one.on}" if one.stance else " differs"
        reason = f": {inline(one.reason)}" if one.reason else ""
        yield f"- **Dissent** {inline(one.role)}{inline(held)} ({inline(one.ref)}){reason}"


def ground_lines(ground: Ground, depth: int = 0) -> Iterator[str]:
    """A ground, what it rests on, and its quotes, as a nested list."""
    margin = INDENT * depth
    by = f", {ground.by}" if ground.by else ""
    facts = f"{inline(ground_standing(ground))} ({ground.relation}{inline(by)})"
    yield f"{margin}- **{inline(ground.id)}** {facts}: {inline(ground.text)}"
    for quote in ground.quotes:
        yield f"{margin}{INDENT}- {quote_text(quote)}"
    for under in ground.under:
        yield from ground_lines(under, depth + 1)


def ground_standing(ground: Ground) -> str:
    """A status or result with its shape; for other kinds the words as they are."""
    if ground.kind == "claim" and ground.standing in theme.STATUSES:
        return theme.STATUSES[ground.standing].plain
    if ground.kind == "verification":
        return mark_of(theme.RESULTS, ground.standing).plain
    return f"{ground.kind}, {ground.standing}" if ground.standing else ground.kind


def quote_text(quote: Quote) -> str:
    """The quoted words with who wrote them and where; said when they do not stand there."""
    where = " ".join(part for part in (inline(quote.by or ""), f"{code(quote.ref)}") if part)
    broken = " **(not found there)**" if quote.holds is False else ""
    return (f"“{inline(quote.words)}” — {where}" if quote.words else f"see {where}") + broken


def decisions_table(story: Story) -> Iterator[str]:
    """Every decision that is not final, one row each."""
    earlier = [one for one in story.decisions if one.type != "final"]
    rows = [
        (
            inline(one.id),
            one.type,
            inline(one.text),
            listed(ground.id for ground in one.rests_on),
            listed(held.role for held in one.dissent),
            inline(_standing_word(one)),
        )
        for one in earlier
    ]
    yield from table(("id", "type", "decision", "cites", "dissent", "standing"), rows)


def _standing(decision: DecisionTold) -> str:
    word = _standing_word(decision)
    return "" if word == "in force" else f"; **{inline(word)}**"


def _standing_word(decision: DecisionTold) -> str:
    if decision.overturned_by is not None:
        return f"overturned by {decision.overturned_by}"
    if decision.fallen:
        return f"{theme.AT_RISK.plain}: {', '.join(decision.fallen)} fell"
    return "in force"
