"""Where claims stood just before each verification, when the rows are read one after the other (FORMAT 2, FORMAT 12).

Siblings of our own runs all state the status at their group's opening. A state directory knows no groups: a row's
`from` is what the rows before it lead to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from ledger.events import Claim, Verification
from ledger.events.ids import number_of
from ledger.events.values import Status
from ledger.state.book import Book
from ledger.state.fold import step
from ledger.state.state import State


def just_before(book: Book) -> Mapping[tuple[str, str], Status]:
    """(verification, claim) → the claim's status before that row."""
    state = State()
    found: dict[tuple[str, str], Status] = {}
    for events in _by_round(book):
        for event in events:
            if isinstance(event, Verification):
                for change in event.claim_status_changes:
                    claim = state.claims.get(change.claim_id)
                    found.setdefault((event.id or "", change.claim_id), claim.status if claim else "pending")
            step(state, event)
    return found


def by_check(event: Verification) -> tuple[int, str, int, int]:
    """The order of rows in verifications.jsonl."""
    return event.round, event.phase, event.check_id, number_of(event.id or "")


def _by_round(book: Book) -> list[list[Claim | Verification]]:
    """The claims of each round, then its verifications by check: the order in which an import reads them."""
    rounds: dict[int, list[Claim | Verification]] = defaultdict(list)
    for claim in book.of(Claim):
        rounds[claim.round].append(claim)
    for check in sorted(book.of(Verification), key=by_check):
        rounds[check.round].append(check)
    return [rounds[number] for number in sorted(rounds)]
