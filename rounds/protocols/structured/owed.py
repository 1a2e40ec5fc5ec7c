"""What the controller of `structured` writes inside a round: the checks that nobody is asked for (SD-34, SD-56)."""

from __future__ import annotations

from ledger.events import Event
from ledger.state.book import Book
from ledger.state.state import State
from rounds.protocols.structured.records import not_applicable
from rounds.run.schedule import applicable_checks, lost_artifacts, plan_row


def missing_checks(book: Book) -> tuple[Event, ...]:
    """After D closes: a verdict NOT_APPLICABLE for each check that cannot be made."""
    state, round_ = book.state, book.state.round
    if "D" not in plan_row(state, round_).phases or not _artifacts_are_in(state, round_):
        return ()
    asked = applicable_checks(state, round_)
    return tuple(
        not_applicable(round_, check, _cause(state, round_, check))
        for check in (1, 2, 3, 4)
        if check not in asked and f"V-{round_}-{check}" not in state.checks
    )


def _artifacts_are_in(state: State, round_: int) -> bool:
    absent = state.rounds[round_].absent
    authors = (role for role in state.roles if role not in ("verifier", absent))
    return all(state.is_done(f"r{round_}.D.{role}") for role in authors)


def _cause(state: State, round_: int, check: int) -> str:
    opened = state.rounds[round_]
    if check in opened.applicable:
        lost = ", ".join(sorted(lost_artifacts(state, round_)))
        return f"The artifact of {lost} was given up, so this check has nothing to test."
    if check == 4:
        return "No earlier decision exists that the artifacts could be held against."
    return (
        f"STRESS-{(opened.absent or '').upper()}: {opened.absent} is absent and has no artifact this round."
    )
