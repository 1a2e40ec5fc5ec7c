"""A finished round, as it stays on the screen: its verdicts in words, the claims they moved, the decisions."""

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


def round_block(summary: RoundTold, planned: int) -> RenderableType:
    """Return the summary of a round."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, style=theme.FAINT, width=9)
    table.add_column(ratio=1)
    for word, text in _rows(summary):
        table.add_row(word, text)
    title = Rule(round_title(summary, planned), align="left", style="dim")
    return Group(title, Padding(table, (0, 0, 0, 1)))


def _rows(summary: RoundTold) -> Iterator[tuple[str, Text]]:
    for fallback in summary.fallbacks:
        yield "fallback", Text(f"▲ {fallback.step_failed} given up: {one_line(fallback.detail)}", "bold red")
    for check in summary.checks:
        if check.check_id <= 4:
            yield f"check {check.check_id}", _check(check)
    for product in summary.products:
        if product.kind == "retrospective":
            yield "look back", Text(f"{product.role}: {first_sentence(product.text)}")
    # Checks above 4 settle single claims: there may be dozens, so they are only counted.
    resolved = [check for check in summary.checks if check.check_id > 4]
    if resolved:
        yield "resolved", Text(f"{len(resolved)} pending claims")
    if summary.claims:
        ids = " ".join(
            f"{claim.id} {mark_of(marks.STATUSES, claim.status).shape}" for claim in summary.claims
        )
        yield "claims", Text(f"{len(summary.claims)} new   {ids}")
    for concern in summary.concerns:
        yield concern.type, Text(f"{concern.id} {one_line(concern.text)}")
    for decision in summary.decisions:
        cites = ", ".join(ground.id for ground in decision.rests_on)
        line = Text.assemble(
            (decision.id, "bold"), f" {one_line(decision.text)}", (f"  ({cites})", theme.FAINT)
        )
        if not decision.in_force:
            line.append(f"  {decision.standing}", "bold red")
        yield _word(decision), line
    if summary.drift is not None:
        mark = mark_of(marks.DRIFT, summary.drift.verdict)
        yield "drift", theme.text_of(mark).append(f"  {one_line(summary.drift.notes)}", "default")
    for seen in summary.signature:
        agrees = READINGS[seen.agrees]
        yield "absence", Text(f"predicted: {seen.predicted}; observed: {seen.observed} ({agrees})")
    yield from _verdicts_of_controller(summary)


def _word(decision: DecisionTold) -> str:
    """Return the word before a decision; one that was overturned is not called decided."""
    if not decision.in_force:
        return "replaced"
    return decision.type if decision.type in ("final", "override", "answer") else "decided"


def _verdicts_of_controller(summary: RoundTold) -> Iterator[tuple[str, Text]]:
    if summary.findings is not None and any(summary.findings):
        errors, warnings = summary.findings
        style = "bold red" if errors else theme.FAINT
        yield "rules", Text(f"{errors} errors, {warnings} warnings", style)
    if summary.look is not None:
        advice = mark_of(marks.ADVICE, summary.look.advice)
        yield (
            "signals",
            Text(f"{summary.look.satisfied} of {summary.look.of}  ").append_text(theme.text_of(advice)),
        )
    for alarm in summary.alarms:
        mark = marks.ALARMS[alarm.verdict] if alarm.action == "raised" else marks.ALARMS["CLEAR"]
        yield (
            "alarm",
            Text(
                f"{mark.plain} {words.failure(alarm.fm)}: {one_line(alarm.because or '')}",
                theme.style_of(mark),
            ),
        )
    for amendment in summary.amendments:
        yield "amended", Text(f"{amendment.what}: {one_line(amendment.reason)}")


def _check(check: CheckTold) -> Text:
    mark = mark_of(marks.RESULTS, check.result)
    line = theme.text_of(mark)
    # Roles that predicted another verdict are named: dissent is what a reader looks for in a finished round.
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
