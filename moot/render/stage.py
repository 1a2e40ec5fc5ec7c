"""A scene on a terminal: a column a seat where there is room, a line a seat where there is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from moot.render import theme
from moot.render.cast_told import answered_by
from moot.render.plain_text import first_sentence, one_line, shortened
from moot.render.scene import Scene, spent
from moot.render.story import CheckTold, ClaimTold, Label, Made, RoundTold
from moot.render.theme import mark_of

WIDE: Final = 120
"""Columns from which on every seat gets a column of its own."""
LINES: Final = 2
"""Lines of a cell that somebody's words may take."""
LEGEND: Final = (
    "▣ sealed until the verdict   ✓ ROBUST  ✗ BROKEN  ? UNCLEAR  – N/A   ≠ not what the verdict says"
)


class Stage:
    """A scene as something that rich can print; it keeps to the height that it is given."""

    def __init__(self, scene: Scene, height: int | None = None) -> None:
        self._scene = scene
        self._height = height

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        height = self._height or options.height
        inner = options.update(height=None)

        def rendered(part: RenderableType) -> list[list[Segment]]:
            return console.render_lines(part, inner, pad=False)

        needed = [*_top(self._scene), _seats(self._scene, options.max_width), *_bottom(self._scene)]
        lines = [line for part in needed for line in rendered(part)]
        for block in map(rendered, _extras(self._scene)):
            if height is None or len(lines) + len(block) <= height:
                lines += block
        for line in lines if height is None else lines[:height]:
            yield from line
            yield Segment.line()


def labels_text(labels: Iterable[Label]) -> Iterator[Text]:
    """What must be read first, a line each."""
    for label in labels:
        yield Text.assemble((f" {label.kind} ", theme.LABEL), " ", one_line(label.text))


def round_title(told: RoundTold, planned: int) -> Text:
    """`R4 of 8 · STRESS without critic · lead observer`."""
    title = Text(f"R{told.n} of {planned}", theme.HEADER)
    if told.absent:
        title.append(" · ").append(f"STRESS without {told.absent}", "bold yellow")
    if told.lead:
        title.append(" · ").append(f"lead {told.lead}", theme.LEAD)
    return title


def _top(scene: Scene) -> Iterator[RenderableType]:
    yield from labels_text(scene.labels)
    title = Text()
    for label in scene.played:
        title.append(f" {label.kind} ", theme.LABEL).append(" ")
    yield _cut(title.append(one_line(scene.question), "italic"))
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
            line.append(f"{phase}▸{theme.PHASES.get(phase, '')} ", "bold cyan")
        else:
            line.append(f"{phase} ", theme.FAINT)
    return line


def _seats(scene: Scene, width: int) -> RenderableType:
    told = scene.round
    if told is None:
        return Text("")
    return _columns(scene, told, width) if width >= WIDE else _stack(scene, told)


def _columns(scene: Scene, told: RoundTold, width: int) -> Table:
    """Rows are phases, columns are seats."""
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), show_edge=False, header_style="")
    table.add_column("", width=4, no_wrap=True)
    roles = [seat.role for seat in scene.seats]
    room = LINES * (width - 4) // max(1, len(roles)) - LINES * 3
    for role in roles:
        table.add_column(_role_head(role, told), ratio=1, overflow="fold")
    for phase in ("B", "C", "D", "E", "F", "G", "H", "S"):
        cells = [_cell(role, phase, told, room) for role in roles]
        if any(cells):
            table.add_row(Text(phase, theme.FAINT), *(cell or Text("") for cell in cells))
    table.add_row(Text("now", theme.FAINT), *(_now(role, scene) for role in roles))
    return table


def _role_head(role: str, told: RoundTold) -> Text:
    if role == told.absent:
        return Text(f"{role} (absent)", "dim strike")
    if role == told.lead:
        return Text(f"{role} ★ lead", theme.LEAD)
    return Text(role, theme.HEADER)


def _stack(scene: Scene, told: RoundTold) -> Table:
    """One line a seat: what it did in this phase, and what it does now."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    table.add_column(no_wrap=True, justify="right")
    for seat in scene.seats:
        done = Text("   ").join(
            Text.assemble((f"{phase} ", theme.FAINT), cell)
            for phase in ("B", "C", "D", "E", "F", "G", "H", "S")
            if (cell := _cell(seat.role, phase, told))
        )
        table.add_row(_role_head(seat.role, told), done, _now(seat.role, scene))
    return table


def _now(role: str, scene: Scene) -> Text:
    busy = [one for one in scene.thinking if one.step.role == role]
    if not busy:
        return Text("")
    text = Text()
    for one in busy[:3]:
        text.append("\n" if text else "").append(f"{theme.THINKING.shape} {one.said}", theme.THINKING.style)
    if len(busy) > 3:
        text.append(f" +{len(busy) - 3}", theme.FAINT)
    return text


def _cell(role: str, phase: str, told: RoundTold, room: int = 0) -> Text:
    """What a role did in a phase; empty when nothing. Without room for words a tick stands for them."""
    parts = [
        _made(made, room)
        for made in told.made
        if made.role == role and made.phase == phase and made.kind != "positions"
    ]
    match phase:
        case "D" | "F":
            parts += [
                _claim_mark(one) for one in told.claims if one.raised_by == role and _phase_of(one) == phase
            ]
            if phase == "F":
                parts += list(_flips(role, told))
        case "E":
            parts += list(_stances(role, told))
            parts += [_verdict(check) for check in told.checks if check.by == role and check.check_id <= 4]
        case "G" | "S":
            decided = [one for one in told.decisions if (one.type == "final") == (phase == "S")]
            parts += [Text(one.id, "bold") for one in decided if _decider(role, told)]
            if phase == "S":
                resolved = [check for check in told.checks if check.by == role and check.check_id == 5]
                parts += [Text(f"{len(resolved)} claims resolved")] if resolved else []
        case "H":
            if told.drift is not None and told.drift.by == role:
                parts.append(mark_of(theme.DRIFT, told.drift.verdict).text)
        case _:
            pass
    return Text(" ").join(parts)


def _decider(role: str, told: RoundTold) -> bool:
    return role == told.lead


def _phase_of(claim: ClaimTold) -> str:
    """Claims of D are raised at an artifact, those of F in a review."""
    return "F" if claim.source is not None and claim.source.startswith("S-") else "D"


def _made(made: Made, room: int) -> Text:
    if not room:
        return Text("✓", "green")
    said = made.text if made.kind == "artifact" else first_sentence(made.text)
    return Text(shortened(said, room))


def _claim_mark(claim: ClaimTold) -> Text:
    mark = mark_of(theme.STATUSES, claim.status)
    return Text(f"{claim.id} {mark.shape}", mark.style)


def _stances(role: str, told: RoundTold) -> Iterator[Text]:
    """Closed boxes until the verdict is there; then the stance, with ≠ when the verdict is another."""
    for stance in told.sealed:
        if stance.role == role:
            yield Text(f"{stance.check_id or ''}{theme.SEALED.shape}", theme.SEALED.style)
    for check in told.checks:
        for stance in check.stances:
            if stance.role == role:
                mark = mark_of(theme.RESULTS, stance.stance)
                differs = "" if stance.stance == check.result else "≠"
                yield Text(f"{check.check_id}{mark.shape}{differs}", mark.style)


def _flips(role: str, told: RoundTold) -> Iterator[Text]:
    for check in told.checks:
        for stance in check.stances:
            if stance.role == role and stance.flipped_to:
                before, after = (
                    mark_of(theme.RESULTS, stance.stance),
                    mark_of(theme.RESULTS, stance.flipped_to),
                )
                why = "" if stance.because else " no new evidence"
                yield Text(f"flip {check.check_id}{before.shape}→{after.shape}{why}", after.style)


def _verdict(check: CheckTold) -> Text:
    mark = mark_of(theme.RESULTS, check.result)
    return Text(f"{check.check_id} {mark.plain}", mark.style)


def checks_line(told: RoundTold) -> Text:
    """The verdicts of a round, those to come as dots."""
    line = Text()
    found = {check.check_id: check for check in told.checks if check.check_id <= 4}
    for number in (1, 2, 3, 4):
        check = found.get(number)
        line.append_text(_verdict(check) if check else Text(f"{number} ·", theme.FAINT)).append("   ")
    line.rstrip()
    return line


def signals_line(scene: Scene) -> Text:
    """The last look at the stop signals."""
    look = scene.look
    if look is None:
        return Text("no look at the stop signals yet", theme.FAINT)
    line = Text(f"{look.satisfied} of {look.of} ", "bold").append_text(
        mark_of(theme.ADVICE, look.advice).text
    )
    line.append("   ")
    for one in look.signals:
        mark = theme.HOLDS if one.satisfied else theme.FAILS
        line.append(f"{mark.shape}{one.id} ", mark.style)
    line.append(f"  R{look.round}", theme.FAINT)
    if look.stop and look.round < scene.not_before:
        line.append(f", obeyed from R{scene.not_before} on", theme.FAINT)
    return line


def claims_line(scene: Scene) -> Text:
    """All claims of the run, counted by status."""
    total = sum(scene.claims.values())
    line = Text(f"{total} in all, {scene.claims_open} open   ")
    for status, mark in theme.STATUSES.items():
        if scene.claims.get(status):
            line.append(f"{mark.shape} {scene.claims[status]} {mark.word}  ", mark.style)
    line.rstrip()
    return line


def _bottom(scene: Scene) -> Iterator[RenderableType]:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True, style=theme.FAINT)
    grid.add_column()
    if scene.round is not None and (scene.round.checks or scene.round.sealed):
        grid.add_row("checks", checks_line(scene.round))
    grid.add_row("claims", claims_line(scene))
    grid.add_row("stop", signals_line(scene))
    quorum = f"{scene.quorum.actual} of {scene.quorum.declared} steps answered"
    style = "" if scene.quorum.actual == scene.quorum.declared else theme.DEGRADED.style
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
            ("decided ", theme.FAINT), (decision.id, "bold"), " ", shortened(decision.text, 200)
        )
    for claim in reversed(told.claims):
        mark = mark_of(theme.STATUSES, claim.status)
        said = f" {claim.raised_by}: {one_line(claim.text)}"
        yield _cut(Text.assemble(("claim   ", theme.FAINT), (f"{claim.id} {mark.plain}", mark.style), said))

    yield _cut(Text(LEGEND, theme.FAINT))


def _cut(text: Text) -> Text:
    """A text that takes one line, whatever the width."""
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
