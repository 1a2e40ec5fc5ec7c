"""Findings of the rules over a book, as tests ask for them."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.state.book import Book
from validators.finding import RuleFinding, standing
from validators.ledger_index import RuleContext
from validators.rule import Rule
from validators.rulebook import RULES, judged


def findings(
    book: Book,
    context: RuleContext,
    *,
    through: int | None = None,
    recorded: bool = False,
    rules: Sequence[Rule] = RULES,
) -> tuple[RuleFinding, ...]:
    """Return the findings in force after event `through` (None: the last), by seq, then by code.

    `recorded` asks only the rules whose findings a `validation` event keeps.
    """
    index = judged(book, context, recorded=recorded, rules=rules)
    return standing(index.findings, book.state.seq if through is None else through)
