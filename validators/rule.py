"""What a rule is, and the decorator that makes one of a function and its docstring."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from ledger.events.values import Severity
from validators.finding import Breach
from validators.ledger_index import LedgerIndex

Check = Callable[[LedgerIndex], Iterator[Breach]]


class Rule(msgspec.Struct, frozen=True):
    """One rule. `version` rises when it judges differently; `published` is its number among the seven of SD-49.

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
    """Make a rule of a function that yields what breaks it.

    The function's name is the rule's, the first line of its docstring the summary, the rest the reason. Nothing is
    registered: `validators.rulebook` names the rules that are asked.
    """

    def decorate(check: Check) -> Rule:
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
