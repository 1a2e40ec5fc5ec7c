"""Checks as an export writes them: the verifications of a run, and its other tests of claims.

Steps of one group in moot's own runs all state the status at the group's opening. A state directory has no groups: a
row's `from` is the status that the rows before it lead to (FORMAT 2, FORMAT 12).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from ledger.events import Claim, Decision, ExperimentJudged, Verification
from ledger.events.envelope import Evidence, EvidenceClass, Result, Status
from ledger.events.ids import event_id, kind_of, number_of
from ledger.events.verifications import CHECKS, StatusChange
from ledger.state.book import Book
from ledger.state.fold import step
from ledger.state.lifecycle import BEARING_OF_STATUS, STATUS_OF_RUN
from ledger.state.state import State
from ledger.state.wording import clause

_RESULTS: Final[Mapping[Status, Result]] = {
    "tested_confirmed": "ROBUST",
    "tested_refuted": "BROKEN",
    "tested_unclear": "UNCLEAR",
}


def checks_of(book: Book) -> list[Verification]:
    """Return the verifications of a run in the order of their rows, and each other test of its claims as one.

    A claim that a program or a person tested has no verification in the ledger. In a state directory only a
    verification moves a claim (SD-57), so such a test is written as a `claim_retest`.
    """
    # A verdict that stronger evidence outweighs would count where the class of that evidence is lost: that of a
    # program or a person. Verifications keep theirs, and outweigh one another after an import as before.
    outweighed = {
        (entry.by, claim)
        for claim, facts in book.state.claims.items()
        if any(kind_of(entry.by) != "verification" for entry in facts.history)
        for entry in facts.history
        if entry.outweighed
    }
    checks = [
        check
        if check.by == "import"
        else msgspec.structs.replace(
            check,
            claim_status_changes=tuple(
                change
                for change in check.claim_status_changes
                if (check.id, change.claim_id) not in outweighed
            ),
        )
        for check in book.of(Verification)
    ]
    numbers = dict.fromkeys(book.state.rounds, len(CHECKS))
    for check in checks:
        numbers[check.round] = max(numbers.get(check.round, len(CHECKS)), number_of(check.id))
    for test in book.events:
        match test:
            case ExperimentJudged():
                # No import says that a program ran (EXP005): the class is lost.
                class_: EvidenceClass | None = None
                moves: dict[str, Status] = {change.claim_id: change.to for change in test.changes}
                place, notes = test.of, clause(test)[1]
            case Decision(result=str(result)):
                moves = dict.fromkeys(test.claims, STATUS_OF_RUN[result])
                place, class_, notes = test.id, "measured", test.text
            case _:
                continue
        if not moves:
            continue
        numbers[test.round] += 1
        checks.append(
            Verification(
                id=event_id("verification", test.round, numbers[test.round]),
                round=test.round,
                phase="E",
                by=test.by,
                check="claim_retest",
                check_id=len(CHECKS) + 1,
                result=_RESULTS[next(iter(moves.values()))],
                # What was compared: the test as it was made, and the test that each claim asks for.
                evidence_refs=tuple(Evidence(ref=ref) for ref in (place, *moves)),
                notes=notes,
                claims_affected=tuple(moves),
                claim_status_changes=tuple(
                    StatusChange(
                        claim_id=claim, from_="pending", to=to, bearing=BEARING_OF_STATUS[to], class_=class_
                    )
                    for claim, to in moves.items()
                ),
            )
        )
    return sorted(checks, key=by_check)


def just_before(book: Book, checks: Sequence[Verification]) -> Mapping[tuple[str, str], Status]:
    """Return (verification, claim) → the claim's status before that row."""
    state = State()
    statuses: dict[tuple[str, str], Status] = {}
    events: list[Claim | Verification] = [*book.of(Claim), *checks]
    # In the order in which an import reads them: the claims of a round, then its verifications.
    for event in sorted(events, key=lambda event: (event.round, event.kind)):
        for change in event.claim_status_changes if isinstance(event, Verification) else ():
            claim = state.claims.get(change.claim_id)
            statuses.setdefault((event.id, change.claim_id), claim.status if claim else "pending")
        step(state, event)
    return statuses


def by_check(event: Verification) -> tuple[int, str, int, int]:
    """Return the sort key of rows in verifications.jsonl."""
    return event.round, event.phase, event.check_id, number_of(event.id)
