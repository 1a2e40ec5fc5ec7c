"""What `check` says: the report as the command prints it with `--json`."""

from __future__ import annotations

from ledger.result import Result
from validators.reading.rule import Severity


class ReportedFinding(Result, frozen=True):
    """A broken rule. `stream` and `line` (from 1) are where its event stands; null where there is no event."""

    code: str
    severity: Severity
    seq: int | None
    stream: str | None
    line: int | None
    message: str


class Unjudged(Result, frozen=True):
    """A rule that was not asked, and why."""

    code: str
    reason: str


class CheckReport(Result, frozen=True):
    """Every finding of a run. `ok`: none of severity error."""

    run: str
    ok: bool
    findings: list[ReportedFinding]
    not_applicable: list[Unjudged]
