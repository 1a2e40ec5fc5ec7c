"""What came in and what went out, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.view.plain import joined, listed

if TYPE_CHECKING:
    from ledger.interchange.report import ExportReport, ImportReport

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
