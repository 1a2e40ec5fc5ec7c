"""CHN001, error: bytes, chain, head and blobs are what was committed.

Everything else that is judged rests on it. The problems are those of `verify`; this rule only passes them on, so that
`check` alone never calls a damaged ledger good. Source: FORMAT 1, FORMAT 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule, Severity


def check(docket: Docket) -> Iterator[Breach]:
    """One breach for each problem that `verify` reports; a warning for what it does not call damage."""
    for problem in docket.context.ledger_problems:
        severity: Severity = "error" if problem.is_damage else "warning"
        yield Breach(problem.seq, problem.what, severity, where=(problem.stream, problem.line))


RULE: Final = Rule(
    code="CHN001",
    name="ledger_is_intact",
    severity="error",
    summary="The ledger's bytes, chain, head and blobs are what was committed.",
    check=check,
    recorded=False,
)
