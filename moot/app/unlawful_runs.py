"""Errors of a run whose ledger breaks the rules, reported in the words of the rule.

The functions of protocols, prompts and views assume a lawful ledger. A ledger that is valid line by line may still
break the rules. What can be seen at once is refused when the run is opened (`ledger.store.failures`,
`opening_problem`). For the rest, after a failure, the rulebook judges the run here, and its first
finding is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from ledger.store.failures import LedgerError, StrangeRun
from moot.errors import MootError, explain
from roles.protocol import UNLAWFUL


def explain_with(error: BaseException, runs: Iterable[Path]) -> MootError | None:
    """Return the message for an error met while working on the runs; None when it is moot's own fault."""
    known = explain(error)
    # Only errors that an unlawful ledger can cause are looked into; any other is a fault of moot.
    if known is not None or not isinstance(error, UNLAWFUL):
        return known
    for run in runs:
        strange = strange_run(run)
        if strange is not None:
            return explain(strange)
    return None


def strange_run(run: Path) -> StrangeRun | None:
    """Return the run as an error when the rules refuse it; None when they do not, or cannot tell."""
    import moot

    try:
        report = moot.check(run)
    # The rulebook itself may fail on such a ledger, and then it has nothing to say.
    except (LedgerError, OSError, *UNLAWFUL):
        return None
    errors = [finding for finding in report.findings if finding.severity == "error"]
    if not errors:
        return None
    # A broken order (ORD) usually causes the other findings, so it is named first.
    first = min(errors, key=lambda finding: (not finding.code.startswith("ORD"), finding.seq or 0))
    return StrangeRun(f"{first.code}: {first.message}", str(run))


def runs_in(words: Sequence[str]) -> list[Path]:
    """Return the runs that a command names."""
    from moot.app.runs import find_run, runs_at

    runs: list[Path] = []
    for word in words:
        # Most words of a command name no run, and this is only reached after a failure.
        with suppress(MootError, OSError, ValueError):
            runs += runs_at(find_run(word))
    return runs
