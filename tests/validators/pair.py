"""A should-match / should-not-match pair for a rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ledger.events.envelope import Severity
from ledger.state.book import Book
from tests.validators.factory import CONTEXT, base
from validators.ledger_index import RuleContext


@dataclass(frozen=True, slots=True)
class Pair:
    """`match` breaks the rule `code` at event `at`, once at least; `near` comes close and keeps it."""

    code: str
    match: Callable[[], Book]
    at: Callable[[], int | None]
    near: Callable[[], Book] = base
    severity: Severity = "error"
    context: RuleContext = CONTEXT
    why: str = ""


def at(seq: int | None) -> Callable[[], int | None]:
    """A place that is known beforehand."""
    return lambda: seq
