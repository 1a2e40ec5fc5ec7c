"""The decisions in the report: each with what it rests on, down to quoted sentences, and how it stands."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.interchange.markdown import code, inline, listed, quoted, table
from moot.view import marks
from moot.view.decisions import DecisionTold
from moot.view.grounds import Ground, Quote
from moot.view.marks import mark_of
from moot.view.story import Story

INDENT = "  "


def decided(story: Story) -> Iterator[str]:
    """The final decisions in force; the others in force when none is final."""
    yield ""
    yield "## Decisions in force (none is final)" if story.outcome and not story.is_final else "## Decided"
    if not story.outcome:
        yield ""
        yield "Nothing was decided."
    for decision in story.outcome:
        yield ""
        yield from decision_lines(decision)


def decision_lines(decision: DecisionTold) -> Iterator[str]:
    """One decision with everything under it."""
    yield f"### {inline(decision.id)}"
    yield ""
    yield quoted(decision.text)
    yield ""
    standing = "" if decision.standing == "in force" else f"; **{inline(_standing(decision))}**"
    yield f"({listed(decision.facts)}{standing})"
    for word, text in decision.conditions.told():
        yield f"- {word}: {inline(text)}"
    for one in decision.had_expected:
        stance = f"{one.stance} on {one.on}, {one.ref}" if one.stance else one.ref
        reason = f": {inline(one.reason)}" if one.reason else ""
        yield f"- {inline(one.role)} had expected another verdict ({inline(stance)}){reason}"
    if decision.rests_on:
        yield ""
        yield "Rests on:"
        yield ""
    for ground in decision.rests_on:
        yield from ground_lines(ground)


def ground_lines(ground: Ground, depth: int = 0) -> Iterator[str]:
    """A ground, what it rests on, and its quotes, as a nested list."""
    margin = INDENT * depth
    by = f", {ground.by}" if ground.by else ""
    facts = f"{inline(ground_standing(ground))} ({ground.relation}{inline(by)})"
    yield f"{margin}- **{inline(ground.id)}** {facts}: {inline(ground.text)}"
    for quote in ground.quotes:
        yield f"{margin}{INDENT}- {quote_text(quote)}"
    if ground.pooled:
        yield f"{margin}{INDENT}- {inline(ground.pooled_told)}:"
    for quote in ground.pooled:
        yield f"{margin}{INDENT * 2}- {quote_text(quote)}"
    for under in ground.under:
        yield from ground_lines(under, depth + 1)


def ground_standing(ground: Ground) -> str:
    """A status or result with its shape; for other kinds the words as they are."""
    if ground.kind == "claim" and ground.standing in marks.STATUSES:
        return marks.STATUSES[ground.standing].plain
    if ground.kind == "verification":
        return mark_of(marks.RESULTS, ground.standing).plain
    return f"{ground.kind}, {ground.standing}" if ground.standing else ground.kind


def quote_text(quote: Quote) -> str:
    """The quoted words with who wrote them and where; said when they do not stand there."""
    where = " ".join(part for part in (inline(quote.by or ""), f"{code(quote.ref)}") if part)
    broken = " **(not found there)**" if quote.holds is False else ""
    return (f"“{inline(quote.words)}” — {where}" if quote.words else f"see {where}") + broken


def decisions_table(story: Story) -> Iterator[str]:
    """Every decision that is not the outcome, one row each: those on the way, and what was overturned."""
    expected = any(one.had_expected for one in story.other_decisions)
    rows = [
        (
            inline(one.id),
            one.type,
            inline(one.text),
            listed((*one.ends, *(ground.id for ground in one.rests_on))),
            *([listed(held.role for held in one.had_expected)] if expected else []),
            inline(_standing(one)),
        )
        for one in story.other_decisions
    ]
    column = ("had expected another verdict",) if expected else ()
    yield from table(("id", "type", "decision", "cites", *column, "standing"), rows)


def _standing(decision: DecisionTold) -> str:
    at_risk = decision.in_force and decision.fallen
    return f"{marks.AT_RISK.shape} {decision.standing}" if at_risk else decision.standing
