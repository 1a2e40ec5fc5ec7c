"""A scene on a terminal: the seats of the round, one column per seat where there is room, else one line per seat."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, get_args

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ledger.events.claims import StatementType
from ledger.events.ids import kind_of
from ledger.plain_text import first_sentence, one_line, shortened
from moot.terminal import theme
from moot.terminal.theme import labels_text
from moot.view import marks, words
from moot.view.marks import mark_of
from moot.view.round import CheckView, RoundView
from moot.view.seats import answered_by
from moot.view.stop_checks import look_warnings
from moot.view.story import Scene, spent

WIDE: Final = 120
"""Width of the terminal from which on every seat gets a column of its own."""
QUESTION_LINES: Final = 2
LEGEND: Final = "▣ sealed  ✓ ROBUST  ✗ BROKEN  ? UNCLEAR  – N/A  ≠ differs from the verdict"

PHASES: Final = ("B", "C", "D", "E", "F", "G", "H", "S")
WORDS: Final = frozenset({"artifact", *get_args(StatementType)})
"""Kinds of products that are shown as words; positions are shown as boxes."""
LINES: Final = 2
"""Most lines of a cell that a role's words may take."""

Lines = list[list[Segment]]


class Stage:
    """A scene as a rich renderable of at most the given height."""

    def __init__(self, scene: Scene, height: int, at_most: int | None = None) -> None:
        self._scene, self._height, self._at_most = scene, height, at_most

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        # Parts are measured at their full height first: only then is it known what has to be cut.
        inner = options.update(height=None)

        def rendered(*parts: RenderableType) -> Lines:
            return [line for part in parts for line in console.render_lines(part, inner, pad=False)]

        lines = self._fitted(rendered, options.max_width)
        # Extras are added whole or not at all: half a decision is worse than none.
        for block in map(rendered, _extras(self._scene)):
            if len(lines) + len(block) <= self._height:
                lines += block
        for line in lines[: self._height]:
            yield from line
            yield Segment.line()

    def _fitted(self, rendered: Callable[..., Lines], width: int) -> Lines:
        """Return head, seats and foot; on a low terminal the seats take fewer lines, and are cut last."""
        head, foot = rendered(*_top(self._scene, width)), rendered(*_bottom(self._scene, self._at_most))
        if self._scene.round is None:
            return [*head, *foot]
        # Head and foot carry verdict, cost and questions, so the seats in between are cut first.
        room = max(0, self._height - len(head) - len(foot))
        summary, seats = self._scene.round, Lines()
        if width >= WIDE:
            seats = rendered(_columns(self._scene, summary, width))
        # Columns take more lines than a stack; a low, wide terminal gets the stack.
        if width < WIDE or len(seats) > room:
            seats = rendered(_stack(self._scene, summary))
        return [*head, *seats[:room], *foot]


def round_title(summary: RoundView, planned: int) -> Text:
    """Return a title such as `R4 of 8 · STRESS without critic · lead observer`."""
    title = Text(f"R{summary.n} of {planned}", theme.HEADER)
    # A stress round is marked in the title, because its verdicts mean something else.
    if summary.absent:
        title.append(" · ").append(f"STRESS without {summary.absent}", "bold yellow")
    if summary.lead:
        title.append(" · ").append(f"lead {summary.lead}", theme.LEAD)
    return title


def _top(scene: Scene, width: int) -> Iterator[RenderableType]:
    yield from labels_text(scene.labels)
    title = Text()
    for label in scene.played:
        title.append(f" {label.kind} ", theme.LABEL).append(" ")
    # The labels stand in the same two lines, so their length is taken off.
    yield title.append(shortened(scene.question, QUESTION_LINES * width - len(title.plain) - 2), "italic")
    yield _cut(Text(one_line(answered_by(scene.seats)), theme.FAINT))
    if scene.round is not None:
        yield _phases(scene, scene.round)


def _phases(scene: Scene, summary: RoundView) -> Text:
    """Return the phases of the round: done, in progress, to come."""
    line = round_title(summary, scene.rounds_planned).append("   ")
    # A phase that has open steps but no events yet counts as begun.
    begun = {summary.phase, *(entry.step.phase for entry in scene.thinking)}
    # The synthesis is in no round's plan, and follows the last one.
    order = [*summary.planned, *(["S"] if "S" in begun and "S" not in summary.planned else [])]
    reached = max((order.index(phase) for phase in begun if phase in order), default=0)
    for place, phase in enumerate(order):
        if place < reached:
            line.append(f"{phase}✓ ", theme.FAINT)
        elif place == reached:
            line.append(f"{phase}▸{words.PHASES.get(phase, '')} ", "bold cyan")
        else:
            line.append(f"{phase} ", theme.FAINT)
    return line


def checks_line(summary: RoundView) -> Text:
    """Return the verdicts of a round, with dots for those to come."""
    line = Text()
    verdicts = summary.cross_checks
    for number in (1, 2, 3, 4):
        check = verdicts.get(number)
        line.append_text(verdict_text(check) if check else Text(f"{number} ·", theme.FAINT)).append("   ")
    line.rstrip()
    return line


def signals_line(scene: Scene) -> Text:
    """Return the last look at the stop signals."""
    look = scene.look
    if look is None:
        return Text("no look at the stop signals yet", theme.FAINT)
    line = Text(f"{look.satisfied} of {look.of} ", "bold").append_text(
        theme.text_of(mark_of(marks.ADVICE, look.advice))
    )
    line.append("   ")
    for signal in look.signals:
        mark = marks.HOLDS if signal.satisfied else marks.FAILS
        line.append(f"{mark.shape}{signal.id} ", theme.style_of(mark))
    line.append(f"  R{look.round}", theme.FAINT)
    # A run does not obey an early stop, which would surprise a reader of "stop" here.
    if look.stop and look.round < scene.not_before:
        line.append(f", obeyed from R{scene.not_before} on", theme.FAINT)
    if note := look_warnings(look):
        line.append(f"  {note}", theme.style_of(marks.FAILS))
    return line


def claims_line(scene: Scene) -> Text:
    """Return the number of claims in the run, by status."""
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
    quorum = scene.quorum.text
    quorum += f", of at most {at_most} in all" if at_most is not None else ""
    style = "" if scene.quorum.actual == scene.quorum.declared else theme.style_of(marks.DEGRADED)
    grid.add_row("spent", Text(spent(scene.spend)).append("   ").append(quorum, style))
    yield grid


def _extras(scene: Scene) -> Iterator[RenderableType]:
    """Yield what is shown as far as there is room: this round's decisions and claims in words."""
    summary = scene.round
    if summary is None:
        return
    yield Text("")
    for decision in summary.decisions:
        yield Text.assemble(
            ("decided " if decision.in_force else "overturned ", theme.FAINT),
            (decision.id, "bold"),
            " ",
            shortened(decision.text, 200),
        )
    # Newest first, because the oldest ones are cut when there is no room.
    for claim in reversed(summary.claims):
        mark = mark_of(marks.STATUSES, claim.status)
        text = f" {claim.raised_by}: {one_line(claim.text)}"
        yield _cut(
            Text.assemble(("claim   ", theme.FAINT), (f"{claim.id} {mark.plain}", theme.style_of(mark)), text)
        )

    yield _cut(Text(LEGEND, theme.FAINT))


def _cut(text: Text) -> Text:
    """Return a text that takes one line, whatever the width."""
    text.no_wrap, text.overflow = True, "ellipsis"
    return text


def _columns(scene: Scene, summary: RoundView, width: int) -> Table:
    """Return a table with a row per phase and a column per seat."""
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), show_edge=False, header_style="")
    table.add_column("", width=4, no_wrap=True)
    roles = [seat.role for seat in scene.seats]
    # The phase column takes 4 characters, and wrapping at words loses a few in every line.
    room = LINES * (width - 4) // max(1, len(roles)) - LINES * 3
    for role in roles:
        table.add_column(_role_head(role, summary), ratio=1, overflow="fold")
    for phase in PHASES:
        cells = [_cell(role, phase, summary, room) for role in roles]
        # A phase without any event would only be an empty row.
        if any(cells):
            table.add_row(Text(phase, theme.FAINT), *(cell or Text("") for cell in cells))
    table.add_row(Text("now", theme.FAINT), *(_now(role, scene) for role in roles))
    return table


def _role_head(role: str, summary: RoundView) -> Text:
    if role == summary.absent:
        return Text(f"{role} (absent)", "dim strike")
    if role == summary.lead:
        return Text(f"{role} ★ lead", theme.LEAD)
    return Text(role, theme.HEADER)


def _stack(scene: Scene, summary: RoundView) -> Table:
    """Return one line per seat: what it did in this round, and what it does now."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(no_wrap=True, justify="right")
    for seat in scene.seats:
        done = Text("   ").join(
            Text.assemble((f"{phase} ", theme.FAINT), cell)
            for phase in PHASES
            if (cell := _cell(seat.role, phase, summary))
        )
        table.add_row(_role_head(seat.role, summary), done, _now(seat.role, scene))
    return table


def _now(role: str, scene: Scene) -> Text:
    busy = [entry for entry in scene.thinking if entry.step.role == role]
    # A seat may have many steps open at once; three lines are what a column has room for.
    lines = [f"{marks.THINKING.shape} {entry.act}" for entry in busy[:3]]
    text = Text("\n").join(Text(line, theme.style_of(marks.THINKING)) for line in lines)
    return text.append(f" +{len(busy) - 3}" if len(busy) > 3 else "", theme.FAINT)


def _cell(role: str, phase: str, summary: RoundView, room: int = 0) -> Text:
    """Return what a role did in a phase; empty when nothing. Without room for words a tick replaces them."""
    parts = [
        # An artifact's text is a title already; of a statement the first sentence is its position.
        Text(shortened(product.text if product.kind == "artifact" else first_sentence(product.text), room))
        if room
        else Text("✓", "green")
        for product in summary.products
        if product.role == role and product.phase == phase and product.kind in WORDS
    ]
    short = Text(" ").join(_marks(role, phase, summary, room))
    return Text("\n" if room else " ").join([*parts, *([short] if short else [])])


def _marks(role: str, phase: str, summary: RoundView, room: int) -> Iterator[Text]:
    """Yield claims, stances, verdicts, flips and decisions: short enough to be shown everywhere."""
    checks = [check for check in summary.checks if check.by == role]
    match phase:
        case "D" | "F":
            for claim in summary.claims:
                # A claim belongs to phase F when it was raised in a review, else to D.
                at_review = (
                    claim.raised_at_artifact is not None and kind_of(claim.raised_at_artifact) == "statement"
                )
                if claim.raised_by == role and at_review == (phase == "F"):
                    mark = mark_of(marks.STATUSES, claim.status)
                    yield Text(f"{mark.shape}{claim.id}", theme.style_of(mark))
            if phase == "F":
                yield from _flips(role, summary)
        case "E":
            yield from _stances(role, summary)
            judged = [verdict_text(check) for check in checks if check.check_id <= 4]
            if judged:
                yield Text("\n" if room else "   ").join(judged)
        case "G" | "S":
            # Rounds decide in phase G; final decisions are written in the synthesis, phase S. The lead writes both.
            wanted = ("final" if phase == "S" else "round") if role == summary.lead else None
            yield from (
                Text(decision.id, "bold") for decision in summary.decisions if decision.type == wanted
            )
            resolved = sum(check.check_id == 5 for check in checks)
            if phase == "S" and resolved:
                yield Text(f"{resolved} claims resolved")
        case "H":
            if summary.drift is not None and summary.drift.by == role:
                yield theme.text_of(mark_of(marks.DRIFT, summary.drift.verdict))
        case _:
            pass


def _stances(role: str, summary: RoundView) -> Iterator[Text]:
    """Yield closed boxes until the verdict is there; then the stance, with ≠ where the verdict differs."""
    # Only the box is drawn: a stance on a screen before its verdict could reach another seat.
    for stance in summary.sealed:
        if stance.role == role:
            yield Text(f"{stance.check_id or ''}{marks.SEALED.shape}", theme.style_of(marks.SEALED))
    for check in summary.checks:
        for stance in check.stances:
            if stance.role == role:
                mark = mark_of(marks.RESULTS, stance.stance)
                differs = "" if stance.stance == check.result else "≠"
                yield Text(f"{check.check_id}{mark.shape}{differs}", theme.style_of(mark))


def _flips(role: str, summary: RoundView) -> Iterator[Text]:
    for check in summary.checks:
        for stance in check.stances:
            if stance.role == role and stance.flipped_to:
                before = mark_of(marks.RESULTS, stance.stance).shape
                after = mark_of(marks.RESULTS, stance.flipped_to)
                why = "" if stance.because else " no new evidence"
                yield Text(f"flip {check.check_id}{before}→{after.shape}{why}", theme.style_of(after))


def verdict_text(check: CheckView) -> Text:
    """Return a verdict such as `1 ✗ BROKEN`."""
    mark = mark_of(marks.RESULTS, check.result)
    return Text(f"{check.check_id} {mark.plain}", theme.style_of(mark))
