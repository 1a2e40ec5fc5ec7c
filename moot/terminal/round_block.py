"""A round that is over, as it stays on the screen: its verdicts in words, what they moved, what was decided."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from ledger.plain_text import first_sentence, one_line
from moot.terminal import theme
from moot.terminal.live_layout import round_title
from moot.view import marks, words
from moot.view.decisions import DecisionTold
from moot.view.marks import mark_of
from moot.view.round import READINGS, CheckTold, RoundTold


def round_block(told: RoundTold, planned: int) -> RenderableType:
    """The summary of a round."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, style=theme.FAINT, width=9)
    table.add_column(ratio=1)
    for word, said in _rows(told):
        table.add_row(word, said)
    title = Rule(round_title(told, planned), align="left", style="dim")
    return Group(title, Padding(table, (0, 0, 0, 1)))


def _rows(told: RoundTold) -> Iterator[tuple[str, Text]]:
    for fallback in told.fallbacks:
        yield "fallback", Text(f"▲ {fallback.step_failed} given up: {one_line(fallback.detail)}", "bold red")
    for check in told.checks:
        if check.check_id <= 4:
            yield f"check {check.check_id}", _check(check)
    for made in told.made:
        if made.kind == "retrospective":
            yield "look back", Text(f"{made.role}: {first_sentence(made.text)}")
    resolved = [check for check in told.checks if check.check_id > 4]
    if resolved:
        yield "resolved", Text(f"{len(resolved)} pending claims")
    if told.claims:
        ids = " ".join(f"{one.id} {mark_of(marks.STATUSES, one.status).shape}" for one in told.claims)
        yield "claims", Text(f"{len(told.claims)} new   {ids}")
    for concern in told.concerns:
        yield concern.type, Text(f"{concern.id} {one_line(concern.text)}")
    for decision in told.decisions:
        cites = ", ".join(ground.id for ground in decision.rests_on)
        line = Text.assemble(
            (decision.id, "bold"), f" {one_line(decision.text)}", (f"  ({cites})", theme.FAINT)
        )
        if not decision.in_force:
            line.append(f"  {decision.standing}", "bold red")
        yield _word(decision), line
    if told.drift is not None:
        mark = mark_of(marks.DRIFT, told.drift.verdict)
        yield "drift", theme.text_of(mark).append(f"  {one_line(told.drift.notes)}", "default")
    for seen in told.signature:
        agrees = READINGS[seen.agrees]
        yield "absence", Text(f"predicted: {seen.predicted}; observed: {seen.observed} ({agrees})")
    yield from _verdicts_of_controller(told)


def _word(decision: DecisionTold) -> str:
    """What stands before a decision; one that was overturned is not decided."""
    if not decision.in_force:
        return "replaced"
    return decision.type if decision.type in ("final", "override", "answer") else "decided"


def _verdicts_of_controller(told: RoundTold) -> Iterator[tuple[str, Text]]:
    if told.findings is not None and any(told.findings):
        errors, warnings = told.findings
        style = "bold red" if errors else theme.FAINT
        yield "rules", Text(f"{errors} errors, {warnings} warnings", style)
    if told.look is not None:
        advice = mark_of(marks.ADVICE, told.look.advice)
        yield "signals", Text(f"{told.look.satisfied} of {told.look.of}  ").append_text(theme.text_of(advice))
    for alarm in told.alarms:
        mark = marks.ALARMS[alarm.verdict] if alarm.action == "raised" else marks.ALARMS["CLEAR"]
        yield (
            "alarm",
            Text(
                f"{mark.plain} {words.failure(alarm.fm)}: {one_line(alarm.because or '')}",
                theme.style_of(mark),
            ),
        )
    for amendment in told.amendments:
        yield "amended", Text(f"{amendment.what}: {one_line(amendment.reason)}")


def _check(check: CheckTold) -> Text:
    mark = mark_of(marks.RESULTS, check.result)
    line = theme.text_of(mark)
    differ = [stance for stance in check.stances if stance.stance != check.result]
    if check.stances:
        line.append(f" ({len(check.stances) - len(differ)} of {len(check.stances)} had said so)", theme.FAINT)
    line.append(f"  {one_line(check.notes)}", "default")
    for moved in check.moved:
        if moved.to is not None:
            after = mark_of(marks.STATUSES, moved.to)
            line.append(f"  {moved.claim} → {after.plain}", theme.style_of(after))
    for stance in differ:
        if stance.flipped_to:
            why = "" if stance.because else ", no new evidence"
            line.append(f"  {stance.role} flips to {stance.flipped_to}{why}", "yellow")
    return line
