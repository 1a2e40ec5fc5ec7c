"""How a run ended, on a terminal: why it stopped, and each decision with what it rests on down to a quoted sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from ledger.plain_text import one_line
from moot.terminal import theme
from moot.terminal.theme import labels_text
from moot.view import marks
from moot.view.banners import Label
from moot.view.decisions import DecisionTold
from moot.view.grounds import Ground, Quote
from moot.view.marks import mark_of
from moot.view.report_decisions import ground_standing
from moot.view.stopping import why_it_stopped
from moot.view.story import Story

QUOTES: Final = 2
"""Quotes of one check: enough to see on what it rests; the report has all."""


def ending(story: Story, labels: tuple[Label, ...] = ()) -> RenderableType:
    """The end of a run, labels first."""
    parts: list[RenderableType] = [
        *labels_text((*labels, *story.labels)),
        Text(why_it_stopped(story), theme.HEADER),
    ]
    if not story.is_final:
        parts.append(Text("No decision is final; in force are:" if story.outcome else "Nothing was decided."))
    for decision in story.outcome:
        parts += [Text(""), *_decision(decision)]
    for decision in story.other_decisions:
        if decision.overturned_by and decision.type == "final":
            gone = f"{decision.id}  {decision.standing}: {one_line(decision.text)}"
            parts += [Text(""), Text(gone, theme.FAINT)]
    return Group(*parts)


def _decision(decision: DecisionTold) -> Iterator[RenderableType]:
    facts = ", ".join(decision.facts)
    head = Text.assemble((decision.id, "bold green"), (f"  {facts}", theme.FAINT))
    if decision.fallen:
        head.append(
            f"  {marks.AT_RISK.plain}: {', '.join(decision.fallen)} fell", theme.style_of(marks.AT_RISK)
        )
    yield head
    yield Padding(Text(one_line(decision.text), theme.HEADER), (0, 0, 0, 2))
    for word, text in decision.conditions.told():
        yield Padding(Text(f"{word}: {one_line(text)}"), (0, 0, 0, 2))
    for one in decision.had_expected:
        stance = f" ({one.stance} on {one.on})" if one.stance else ""
        said = f"{one.role} had expected another verdict{stance}: {one_line(one.reason)}"
        yield Padding(Text(said, "yellow"), (0, 0, 0, 2))
    tree = Tree(Text("rests on", theme.FAINT), guide_style="dim")
    for ground in decision.rests_on:
        _grow(tree, ground)
    if tree.children:
        yield Padding(tree, (0, 0, 0, 2))


def _grow(tree: Tree, ground: Ground) -> None:
    style = theme.style_of(mark_of({**marks.STATUSES, **marks.RESULTS}, ground.standing))
    head = Text.assemble((one_line(ground.id), "bold"), " ", (ground_standing(ground), style))
    by = f", {ground.by}" if ground.by else ""
    head.append(f" ({ground.relation.replace('_', ' ')}{by}): ", theme.FAINT).append(one_line(ground.text))
    branch = tree.add(head)
    _quotes(branch, ground.quotes)
    if ground.pooled:
        _quotes(branch.add(Text(f"{ground.pooled_told}:", theme.FAINT)), ground.pooled)
    for under in ground.under:
        _grow(branch, under)


def _quotes(branch: Tree, quotes: tuple[Quote, ...]) -> None:
    for quote in quotes[:QUOTES]:
        branch.add(_quote(quote))
    if len(quotes) > QUOTES:
        branch.add(Text(f"and {len(quotes) - QUOTES} more: moot report", theme.FAINT))


def _quote(quote: Quote) -> Text:
    by = f" {one_line(quote.by)}" if quote.by else ""
    broken = " (not found there)" if quote.holds is False else ""
    where = f"{by}, {one_line(quote.ref)}{broken}"
    if quote.words is None:
        return Text(f"see{where}", theme.FAINT)
    return Text.assemble((f"“{one_line(quote.words)}”", "italic"), (f" —{where}", theme.FAINT))
