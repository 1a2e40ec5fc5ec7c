"""Rule type, and the decorator that makes a rule from a function and its docstring."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, cast, get_args, get_type_hints

import msgspec

from ledger.events.envelope import Severity
from validators.finding import Breach
from validators.ledger_index import LedgerIndex


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
    check: Callable[[LedgerIndex], Iterator[Breach]]
    version: int = 1
    applies_to_imports: bool = True
    published: int | None = None
    recorded: bool = True


def rule(
    code: str, severity: Severity, *, of: str | None = None, **facts: Any
) -> Callable[[Callable[..., Iterator[Breach | str]]], Rule]:
    """Return a decorator that makes a rule of a function that yields breaches; `facts` are further fields of `Rule`.

    The function's name is the rule's, the first line of its docstring the summary, the rest the reason. A function that
    takes an `event` is asked about each event of the kind that it names (and of the type `of`), and a message that it
    yields is a breach at that event; any other is asked about the whole `index`. Nothing is registered:
    `validators.rulebook` names the rules that are asked.
    """

    def decorate(check: Callable[..., Iterator[Breach | str]]) -> Rule:
        takes = get_type_hints(check)
        # Most rules name the union of all kinds: a set is asked at once, `isinstance` would try one kind after another.
        kinds = set(get_args(takes.get("event"))) or {takes.get("event")}

        def each(index: LedgerIndex) -> Iterator[Breach]:
            for event in index.events:
                if type(event) in kinds and of in (None, getattr(event, "type", None)):
                    for breach in check(event, index) if "index" in takes else check(event):
                        yield Breach(event.seq, breach) if isinstance(breach, str) else breach

        # The docstring is published in docs/rules.md: its first line is the rule, the rest the reason.
        # A number in braces is a constant of the rule's module, so that text and check cannot differ.
        text = (check.__doc__ or "").format_map(vars(sys.modules[check.__module__]))
        summary, _, reason = text.partition("\n")
        whole = cast("Callable[[LedgerIndex], Iterator[Breach]]", check)
        return Rule(
            code=code,
            name=check.__name__,
            severity=severity,
            summary=summary.strip(),
            reason=" ".join(reason.split()),
            check=each if "event" in takes else whole,
            **facts,
        )

    return decorate
