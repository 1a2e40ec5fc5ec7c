"""A scene on a terminal: a column a seat where there is room, a line a seat where there is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ledger.plain_text import one_line, shortened
from moot.terminal import theme
from moot.terminal.seats_shown import columns, stack, verdict_text
from moot.terminal.theme import labels_text
from moot.view import marks, words
from moot.view.marks import mark_of
from moot.view.readiness import told_at_a_look
from moot.view.round import RoundTold
from moot.view.scene import Scene, spent
from moot.view.seats import answered_by

WIDE: Final = 120
"""Columns from which on every seat gets a column of its own."""
QUESTION_LINES: Final = 2
LEGEND: Final = "▣ sealed  ✓ ROBUST  ✗ BROKEN  ? UNCLEAR  – N/A  ≠ differs from the verdict"


Lines = list[list[Segment]]


class Stage:
    """A scene as something that rich can print; it keeps to the height that it is given."""

    def __init__(self, scene: Scene, height: int | None = None, at_most: int | None = None) -> None:
        self._scene, self._height, self._at_most = scene, height, at_most

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = self._height or options.height
        inner = options.update(height=None)

        def rendered(*parts: RenderableType) -> Lines:
            return [line for part in parts for line in console.render_lines(part, inner, pad=False)]

        lines = self._fitted(rendered, options.max_width, height)
        for block in map(rendered, _extras(self._scene)):
            if height is None or len(lines) + len(block) <= height:
                lines += block
        for line in lines if height is None else lines[:height]:
            yield from line
            yield Segment.line()

    def _fitted(self, rendered: Callable[..., Lines], width: int, height: int | None) -> Lines:
        """Head, seats and foot; on a low terminal the seats are told in fewer lines, and cut last."""
        head, foot = rendered(*_top(self._scene, width)), rendered(*_bottom(self._scene, self._at_most))
        if self._scene.round is None:
            return [*head, *foot]
        room = None if height is None else max(0, height - len(head) - len(foot))
        seats = rendered(columns(self._scene, width)) if width >= WIDE else rendered(stack(self._scene))
        if width >= WIDE and room is not None and len(seats) > room:
            seats = rendered(stack(self._scene))
        return [*head, *seats[:room], *foot]


def round_title(told: RoundTold, planned: int) -> Text:
    """`R4 of 8 · STRESS without critic · lead observer`."""
    title = Text(f"R{told.n} of {planned}", theme.HEADER)
    if told.absent:
        title.append(" · ").append(f"STRESS without {told.absent}", "bold yellow")
    if told.lead:
        title.append(" · ").append(f"lead {told.lead}", theme.LEAD)
    return title


def _top(scene: Scene, width: int) -> Iterator[RenderableType]:
    yield from labels_text(scene.labels)
    title = Text()
    for label in scene.played:
        title.append(f" {label.kind} ", theme.LABEL).append(" ")
    yield title.append(shortened(scene.question, QUESTION_LINES * width - len(title.plain) - 2), "italic")
    yield _cut(Text(one_line(answered_by(scene.seats)), theme.FAINT))
    if scene.round is not None:
        yield _phases(scene, scene.round)


def _phases(scene: Scene, told: RoundTold) -> Text:
    """The phases of the round: done, the one that somebody works on, those to come."""
    line = round_title(told, scene.rounds_planned).append("   ")
    begun = {told.phase, *(one.step.phase for one in scene.thinking)}
    order = [*told.planned, *(["S"] if "S" in begun and "S" not in told.planned else [])]
    reached = max((order.index(phase) for phase in begun if phase in order), default=0)
    for place, phase in enumerate(order):
        if place < reached:
            line.append(f"{phase}✓ ", theme.FAINT)
        elif place == reached:
            line.append(f"{phase}▸{words.PHASES.get(phase, '')} ", "bold cyan")
        else:
            line.append(f"{phase} ", theme.FAINT)
    return line


def checks_line(told: RoundTold) -> Text:
    """The verdicts of a round, those to come as dots."""
    line = Text()
    found = told.cross_checks
    for number in (1, 2, 3, 4):
        check = found.get(number)
        line.append_text(verdict_text(check) if check else Text(f"{number} ·", theme.FAINT)).append("   ")
    line.rstrip()
    return line


def signals_line(scene: Scene) -> Text:
    """The last look at the stop signals."""
    look = scene.look
    if look is None:
        return Text("no look at the stop signals yet", theme.FAINT)
    line = Text(f"{look.satisfied} of {look.of} ", "bold").append_text(
        theme.text_of(mark_of(marks.ADVICE, look.advice))
    )
    line.append("   ")
    for one in look.signals:
        mark = marks.HOLDS if one.satisfied else marks.FAILS
        line.append(f"{mark.shape}{one.id} ", theme.style_of(mark))
    line.append(f"  R{look.round}", theme.FAINT)
    if look.stop and look.round < scene.not_before:
        line.append(f", obeyed from R{scene.not_before} on", theme.FAINT)
    if said := told_at_a_look(look):
        line.append(f"  {said}", theme.style_of(marks.FAILS))
    return line


def claims_line(scene: Scene) -> Text:
    """All claims of the run, counted by status."""
    total = sum(scene.claims.values())
    line = Text(f"{total} in all, {scene.claims_open} open   ")
    for status, mark in marks.STATUSES.items():
        if scene.claims.get(status):
            line.append(f"{mark.shape} {scene.claims[status]} {mark.word}  ", theme.style_of(mark))
    line.rstrip()
    return line


def _bottom(scene: Scene, at_most: int | None) -> Iterator[RenderableType]:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True, style=theme.FAINT)
    grid.add_column()
    if scene.round is not None and (scene.round.checks or scene.round.sealed):
        grid.add_row("checks", checks_line(scene.round))
    grid.add_row("claims", claims_line(scene))
    grid.add_row("stop", signals_line(scene))
    if scene.rules:
        grid.add_row("rules", Text(scene.rules, theme.style_of(marks.FAILS) if scene.held_up else ""))
    if scene.held_up:
        grid.add_row("held up", Text(scene.held_up, theme.style_of(marks.FAILS)))
    quorum = f"{scene.quorum.actual} of {scene.quorum.declared} steps answered"
    quorum += f", of at most {at_most} in all" if at_most is not None else ""
    style = "" if scene.quorum.actual == scene.quorum.declared else theme.style_of(marks.DEGRADED)
    grid.add_row("spent", Text(spent(scene.spend)).append("   ").append(quorum, style))
    yield grid


def _extras(scene: Scene) -> Iterator[RenderableType]:
    """What is shown as far as there is room: this round's decisions and claims in words."""
    told = scene.round
    if told is None:
        return
    yield Text("")
    for decision in told.decisions:
        yield Text.assemble(
            ("decided " if decision.in_force else "overturned ", theme.FAINT),
            (decision.id, "bold"),
            " ",
            shortened(decision.text, 200),
        )
    for claim in reversed(told.claims):
        mark = mark_of(marks.STATUSES, claim.status)
        said = f" {claim.raised_by}: {one_line(claim.text)}"
        yield _cut(
            Text.assemble(("claim   ", theme.FAINT), (f"{claim.id} {mark.plain}", theme.style_of(mark)), said)
        )

    yield _cut(Text(LEGEND, theme.FAINT))


def _cut(text: Text) -> Text:
    """A text that takes one line, whatever the width."""
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
