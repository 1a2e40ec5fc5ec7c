"""What `check` says: the report as the command prints it with `--json`.

Lists, not tuples, so that `model_dump()` equals the JSON that it is published as.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from validators.reading.rule import Severity


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class ReportedFinding(_Part):
    """A broken rule. `stream` and `line` (from 1) are where its event stands; null where there is no event."""

    code: str
    severity: Severity
    seq: int | None
    stream: str | None
    line: int | None
    message: str


class Unjudged(_Part):
    """A rule that was not asked, and why."""

    code: str
    reason: str


class CheckReport(_Part):
    """Every finding of a run. `ok`: none of severity error."""

    run: str
    ok: bool
    findings: list[ReportedFinding]
    not_applicable: list[Unjudged]
