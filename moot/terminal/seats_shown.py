"""Actions of the seats in this round: one column per seat, or one line per seat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from rich.table import Table
from rich.text import Text

from ledger.events.claims import StatementType
from ledger.events.ids import kind_of
from ledger.plain_text import first_sentence, shortened
from moot.terminal import theme
from moot.view import marks
from moot.view.claims import ClaimTold
from moot.view.marks import mark_of
from moot.view.round import CheckTold, Product, RoundTold
from moot.view.scene import Scene

PHASES: Final = ("B", "C", "D", "E", "F", "G", "H", "S")
WORDS: Final = frozenset({"artifact", *get_args(StatementType)})
"""Kinds of products that are shown as words; positions are shown as boxes."""
LINES: Final = 2
"""Most lines of a cell that a role's words may take."""


def _round(scene: Scene) -> RoundTold:
    assert scene.round is not None, "seats act in rounds"
    return scene.round


def columns(scene: Scene, width: int) -> Table:
    """Return a table with a row per phase and a column per seat."""
    summary = _round(scene)
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


def _role_head(role: str, summary: RoundTold) -> Text:
    if role == summary.absent:
        return Text(f"{role} (absent)", "dim strike")
    if role == summary.lead:
        return Text(f"{role} ★ lead", theme.LEAD)
    return Text(role, theme.HEADER)


def stack(scene: Scene) -> Table:
    """Return one line per seat: what it did in this round, and what it does now."""
    summary = _round(scene)
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
    if not busy:
        return Text("")
    text = Text()
    # A seat may have many steps open at once; three lines are what a column has room for.
    for entry in busy[:3]:
        text.append("\n" if text else "").append(
            f"{marks.THINKING.shape} {entry.act}", theme.style_of(marks.THINKING)
        )
    if len(busy) > 3:
        text.append(f" +{len(busy) - 3}", theme.FAINT)
    return text


def _cell(role: str, phase: str, summary: RoundTold, room: int = 0) -> Text:
    """Return what a role did in a phase; empty when nothing. Without room for words a tick replaces them."""
    words = [
        _made(product, room)
        for product in summary.products
        if product.role == role and product.phase == phase and product.kind in WORDS
    ]
    marks = Text(" ").join(_marks(role, phase, summary, room))
    return Text("\n" if room else " ").join([*words, *([marks] if marks else [])])


def _marks(role: str, phase: str, summary: RoundTold, room: int) -> list[Text]:
    """Return claims, stances, verdicts, flips and decisions: short enough to be shown everywhere."""
    parts: list[Text] = []
    match phase:
        case "D" | "F":
            parts += [
                _claim_mark(claim)
                for claim in summary.claims
                if claim.raised_by == role and _phase_of(claim) == phase
            ]
            if phase == "F":
                parts += list(_flips(role, summary))
        case "E":
            parts += list(_stances(role, summary))
            judged = [
                verdict_text(check) for check in summary.checks if check.by == role and check.check_id <= 4
            ]
            parts += [Text("\n" if room else "   ").join(judged)] if judged else []
        case "G" | "S":
            wanted = "final" if phase == "S" else "round"
            # Rounds decide in phase G; final decisions are written in the synthesis, phase S.
            decided = [decision for decision in summary.decisions if decision.type == wanted]
            parts += [Text(decision.id, "bold") for decision in decided if _decider(role, summary)]
            if phase == "S":
                resolved = [check for check in summary.checks if check.by == role and check.check_id == 5]
                parts += [Text(f"{len(resolved)} claims resolved")] if resolved else []
        case "H":
            if summary.drift is not None and summary.drift.by == role:
                parts.append(theme.text_of(mark_of(marks.DRIFT, summary.drift.verdict)))
        case _:
            pass
    return parts


def _decider(role: str, summary: RoundTold) -> bool:
    return role == summary.lead


def _phase_of(claim: ClaimTold) -> str:
    """Return the phase of a claim: D when it was raised at an artifact, F when in a review."""
    return "F" if claim.source is not None and kind_of(claim.source) == "statement" else "D"


def _made(product: Product, room: int) -> Text:
    if not room:
        return Text("✓", "green")
    # An artifact's text is a title already; of a statement the first sentence is its position.
    text = product.text if product.kind == "artifact" else first_sentence(product.text)
    return Text(shortened(text, room))


def _claim_mark(claim: ClaimTold) -> Text:
    mark = mark_of(marks.STATUSES, claim.status)
    return Text(f"{mark.shape}{claim.id}", theme.style_of(mark))


def _stances(role: str, summary: RoundTold) -> Iterator[Text]:
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


def _flips(role: str, summary: RoundTold) -> Iterator[Text]:
    for check in summary.checks:
        for stance in check.stances:
            if stance.role == role and stance.flipped_to:
                before, after = (
                    mark_of(marks.RESULTS, stance.stance),
                    mark_of(marks.RESULTS, stance.flipped_to),
                )
                why = "" if stance.because else " no new evidence"
                yield Text(f"flip {check.check_id}{before.shape}→{after.shape}{why}", theme.style_of(after))


def verdict_text(check: CheckTold) -> Text:
    """Return a verdict such as `1 ✗ BROKEN`."""
    mark = mark_of(marks.RESULTS, check.result)
    return Text(f"{check.check_id} {mark.plain}", theme.style_of(mark))
