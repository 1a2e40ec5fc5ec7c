"""Rule type, and the decorator that makes a rule from a function and its docstring."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ledger.events.values import Severity
from validators.finding import Breach
from validators.ledger_index import LedgerIndex

Check = Callable[[LedgerIndex], Iterator[Breach]]


class Rule(msgspec.Struct, frozen=True):
    """Rule of the rulebook. `version` rises when it judges differently; `published` is its number in SD-49.

    `summary` is the rule in one sentence, `reason` why it holds, `source` where it comes from.
    `recorded`: its findings are part of the `validation` events, because the events and the documents alone decide it.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    reason: str
    source: str
    check: Check
    version: int = 1
    applies_to_imports: bool = True
    published: int | None = None
    recorded: bool = True


def rule(
    code: str,
    severity: Severity,
    *,
    source: str,
    version: int = 1,
    applies_to_imports: bool = True,
    published: int | None = None,
    recorded: bool = True,
) -> Callable[[Check], Rule]:
    """Return a decorator that makes a rule of a function that yields breaches.

    The function's name is the rule's, the first line of its docstring the summary, the rest the reason. Nothing is
    registered: `validators.rulebook` names the rules that are asked.
    """

    def decorate(check: Check) -> Rule:
        # The docstring is published in docs/rules.md: its first line is the rule, the rest the reason.
        summary, _, reason = (check.__doc__ or "").partition("\n")
        return Rule(
            code=code,
            name=check.__name__,
            severity=severity,
            summary=summary.strip(),
            reason=" ".join(reason.split()),
            source=source,
            check=check,
            version=version,
            applies_to_imports=applies_to_imports,
            published=published,
            recorded=recorded,
        )

    return decorate
