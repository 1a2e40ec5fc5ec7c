"""What goes wrong with a run whose ledger breaks its rules: not moot's fault, and said in the words of the rule.

The functions of protocols, briefs and views assume a lawful ledger. One that is lawful line by line and breaks the
rules all the same is refused where it is opened, as far as that can be seen at once (`ledger.store.failures`,
`opening_problem`). The rest is asked here, when something gave up: the rulebook judges the run, and its first finding
is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from ledger.store.failures import LedgerError, StrangeRun
from moot.errors import MootError, explain
from roles.protocol import UNLAWFUL


def explain_with(error: BaseException, runs: Iterable[Path]) -> MootError | None:
    """The words for an error that was met while the runs were worked on; None when it is moot's own fault."""
    known = explain(error)
    if known is not None or not isinstance(error, UNLAWFUL):
        return known
    for run in runs:
        strange = strange_run(run)
        if strange is not None:
            return explain(strange)
    return None


def strange_run(run: Path) -> StrangeRun | None:
    """The run as an error when the rules refuse it; None when they do not, or cannot tell."""
    import moot

    try:
        report = moot.check(run)
    except (LedgerError, OSError, *UNLAWFUL):
        return None
    errors = [finding for finding in report.findings if finding.severity == "error"]
    if not errors:
        return None
    first = min(errors, key=lambda finding: (not finding.code.startswith("ORD"), finding.seq or 0))
    return StrangeRun(f"{first.code}: {first.message}", str(run))


def runs_in(words: Sequence[str]) -> list[Path]:
    """The runs that a command names."""
    from moot.app.runs import find_run

    found: list[Path] = []
    for word in words:
        with suppress(MootError, OSError, ValueError):
            path = find_run(word)
            found += (
                [path] if (path / "head").is_file() else sorted(head.parent for head in path.glob("*/head"))
            )
    return found
