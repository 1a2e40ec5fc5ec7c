"""What has changed of what a directory of decision records rests on."""

from __future__ import annotations

from ledger.plain_text import counted
from ledger.result import Result
from moot.view.text import joined


class RecordFinding(Result, frozen=True):
    """Of one record what has changed since: `what` in a sentence, `mend` the line that follows it up."""

    file: str
    what: str
    mend: str


class RecordCheck(Result, frozen=True):
    """`records` were looked at, `superseded` passed over; `ok`: nothing that they rest on has changed."""

    directory: str
    ok: bool
    records: int
    superseded: int
    findings: list[RecordFinding]


def records_text(found: RecordCheck) -> str:
    """One line for each change with what follows it up, then the count."""
    lines = [line for one in found.findings for line in (f"✗ {one.file}: {one.what}", f"    {one.mend}")]
    over = f", {found.superseded} superseded" if found.superseded else ""
    changed = len({one.file for one in found.findings})
    ok = f"✓ {counted(found.records, 'record')}{over}: nothing that they rest on has changed"
    return joined(
        [*lines, ok if found.ok else f"{changed} of {counted(found.records, 'record')}{over}: look again"]
    )
