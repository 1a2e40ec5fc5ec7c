"""What `check`, `verify`, `import` and `export` found, for people and for code hosts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ledger.plain_text import counted
from moot.view.review_forms import annotated, escaped
from moot.view.text import joined, listed

if TYPE_CHECKING:
    from ledger.audit.verify import CheckpointModel, VerifyReport
    from ledger.interchange.report import ExportReport, ImportReport
    from validators.rulebook import CheckReport, ReportedFinding


MARKS = {"error": "✗ error  ", "warning": "! warning"}


def check_text(report: CheckReport, caveats: Sequence[str]) -> str:
    """Findings by severity, then what could not be judged, then the verdict."""
    ordered = sorted(
        report.findings, key=lambda one: (one.severity != "error", one.seq if one.seq is not None else -1)
    )
    lines = [*caveats, *(_finding(one) for one in ordered)]
    for reason in dict.fromkeys(one.reason for one in report.not_applicable):
        codes = [one.code for one in report.not_applicable if one.reason == reason]
        lines.append(f"not applicable ({reason}): {', '.join(codes)}")
    if report.as_given:
        lines.append(f"taken as given: {counted(report.as_given, 'verdict')} of other rules or thresholds")
    errors = sum(one.severity == "error" for one in report.findings)
    warnings = len(report.findings) - errors
    verdict = "✓ ok" if report.ok else "✗ not ok"
    lines.append(f"{verdict}: {counted(errors, 'error')}, {counted(warnings, 'warning')} in {report.run}")
    return joined(lines)


def github_text(report: CheckReport) -> str:
    """Findings as annotations of the ledger's files."""
    lines: list[str] = []
    for one in report.findings:
        file = f"file={annotated(report.run)}/{one.stream}.jsonl," if one.stream else ""
        line = f"line={one.line}," if one.stream and one.line else ""
        lines.append(f"::{one.severity} {file}{line}title={annotated(one.code)}::{escaped(one.message)}")
    return joined(lines)


def verify_text(report: VerifyReport) -> str:
    """The verdict, then problems, quarantine and checkpoints."""
    verdict = (
        "✗ DAMAGED" if report.damaged else "✓ intact" if report.ok else "✗ not the run of that checkpoint"
    )
    head = f", head @{report.head.seq} {report.head.hash}" if report.head else ", no head"
    lines = [f"{verdict}: {report.run}, {counted(report.events, 'event')}{head}"]
    for problem in report.problems:
        place = (
            f"{problem.stream}.jsonl:{problem.line}"
            if problem.stream and problem.line
            else problem.stream or ""
        )
        where = " ".join(
            part for part in (f"@{problem.seq}" if problem.seq is not None else "", place) if part
        )
        lines.append(f"  {where}: {problem.what}" if where else f"  {problem.what}")
    lines += [f"  set aside by recovery: quarantine/{name}" for name in report.quarantined]
    lines += [f"  checkpoint @{one.seq} {one.hash}: {_held(one)}" for one in report.checkpoints]
    return joined(lines)


def _held(one: CheckpointModel) -> str:
    if one.holds:
        return "holds"
    if one.original:
        return "does not hold; it is that of the original, and this is the redacted copy"
    return "does not hold"


def _finding(one: ReportedFinding) -> str:
    place = f"{one.stream}.jsonl:{one.line}" if one.stream and one.line else ""
    where = f"@{one.seq}" if one.seq is not None else ""
    return f"{MARKS[one.severity]} {one.code:<8} {where:<6} {place:<24} {one.message}"


SHOWN = 20


def import_text(report: ImportReport) -> str:
    """What `moot import` prints."""
    lines: list[str] = []
    for bad in report.bad_lines:
        place = f"{bad.file}:{bad.line}" if bad.line else bad.file
        lines.append(f"bad line {place}: {bad.message}")
    if not report.ok:
        count = len(report.bad_lines)
        lines.append(
            f"nothing was written: fix {'this line' if count == 1 else f'these {count} lines'} and import again"
        )
        return joined(lines)
    counts = listed([f"{number} {kind}" for kind, number in report.counts.items() if number])
    lines.append(f"{report.run}: {counts}")
    lines += [
        f"  id {one.old} in {one.file} is {one.new} here: {one.why}" for one in report.mapped_ids[:SHOWN]
    ]
    lines += [
        f"  {one.id} was stored as {one.stored}; its verifications lead to {one.folded}"
        for one in report.status_differences[:SHOWN]
    ]
    lines += [f"  {note}" for note in report.notes[:SHOWN]]
    hidden = sum(
        max(0, len(part) - SHOWN) for part in (report.mapped_ids, report.status_differences, report.notes)
    )
    if hidden:
        lines.append(f"  and {hidden} more: see --json")
    return joined(lines)


def export_text(report: ExportReport) -> str:
    """What `moot export` prints."""
    count = len(report.files)
    lines = [f"{report.directory}: {count} {'file' if count == 1 else 'files'} in {report.format}"]
    return joined([*lines, *(f"  {note}" for note in report.notes)])
