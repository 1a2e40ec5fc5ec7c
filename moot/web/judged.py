"""What the rules say of a run, asked once for each head: all for the check page, the briefs for the seats page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.web.followed import Followed

if TYPE_CHECKING:
    from validators.rulebook import CheckReport, ReportedFinding

EVENTS_MAX: Final = 3_000
"""Beyond so many events the rules take long, and run only when they are asked for."""
BRIEF_RULE: Final = "BRF001"
UNAVAILABLE: Final = "BRIEF-UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Checked:
    """The page. `report` is None when the run is so long that somebody must ask for it."""

    report: CheckReport | None
    events: int


_KEPT: dict[Path, tuple[str, CheckReport]] = {}
"""Directory → head hash and report, one a run; threads read and replace whole entries, and nobody goes through it."""


def checked(run: Followed, anyway: bool = False) -> Checked:
    """Every rule that the ledger breaks, as `moot check` says it."""
    if run.seq >= EVENTS_MAX and not anyway and _kept(run) is None:
        return Checked(None, run.seq + 1)
    return Checked(_report(run), run.seq + 1)


def _kept(run: Followed) -> CheckReport | None:
    head, report = _KEPT.get(run.path, (None, None))
    return report if head == run.head_hash else None


def _report(run: Followed) -> CheckReport:
    import moot

    found = _kept(run)
    if found is None:
        head = run.head_hash
        found = moot.check(run.path)
        _KEPT[run.path] = (head, found)
    return found


def briefs_of(run: Followed) -> tuple[str, Mapping[int, str]]:
    """How the briefs were judged, in words, and which of them do not come out again, by seq of the reply."""
    opened = run.state.opened
    if opened is not None and opened.origin.type == "import":
        return "an import has no briefs", {}
    report = checked(run).report
    if report is None:
        return f"not judged: with {run.seq + 1} events the rules are run on the check page", {}
    unavailable = [finding for finding in report.findings if finding.code == UNAVAILABLE]
    if unavailable:
        return f"UNVERIFIED: {unavailable[0].message}", {}
    breaches = {finding.seq: finding.message for finding in _of_briefs(report) if finding.seq is not None}
    if breaches:
        return f"{len(breaches)} briefs do NOT come out again with the recorded hash", breaches
    return "every brief was derived again from the ledger and has the recorded hash", {}


def _of_briefs(report: CheckReport) -> list[ReportedFinding]:
    return [finding for finding in report.findings if finding.code == BRIEF_RULE]
