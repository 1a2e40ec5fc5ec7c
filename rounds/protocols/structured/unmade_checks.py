"""Verdicts of the controller: on checks that cannot be made (SD-34, SD-56), and on those whose reply was lost."""

from __future__ import annotations

from typing import Any

from ledger.events import Event, Verification
from ledger.events.ids import event_id
from ledger.events.values import Evidence, Result
from ledger.events.verifications import CHECK_NEEDS, CHECKS
from ledger.state.book import Book
from ledger.state.state import State
from roles.protocol import Step
from rounds.protocols.schedule import active_roles, applicable_checks, lost_artifacts, plan_row


def missing_checks(book: Book) -> tuple[Event, ...]:
    """Return a verdict NOT_APPLICABLE for each check that cannot be made, once D is closed."""
    state, round_ = book.state, book.state.round
    # Before D is closed it is unknown which artifacts get lost, so a verdict now could be wrong.
    if "D" not in plan_row(state, round_).phases or not _artifacts_are_in(state, round_):
        return ()
    asked = applicable_checks(state, round_)
    ids = {check: event_id("verification", round_, check) for check in (1, 2, 3, 4) if check not in asked}
    return tuple(
        _verdict(round_, check, id=identity, notes=_cause(state, round_, check))
        for check, identity in ids.items()
        if identity not in state.checks
    )


def lost_verdict(book: Book, step: Step) -> tuple[Event, ...]:
    """Record a lost verdict as UNCLEAR, with the artifacts side by side as its evidence."""
    check, round_ = int(step.task[-1]), step.name.round
    first = event_id("verification", round_, check)
    wanted = CHECK_NEEDS[check] or active_roles(book.state, round_)
    artifacts = (event_id("artifact", round_, role) for role in wanted)
    refs = tuple(Evidence(ref=identity) for identity in artifacts if identity in book.state.artifacts)
    # SD-38: a verdict other than NOT_APPLICABLE needs two references. With fewer artifacts only
    # that one is left.
    enough = len(refs) >= 2
    notes = "The verifier gave no verdict; the artifacts stand side by side."
    result: Result = "UNCLEAR" if enough else "NOT_APPLICABLE"
    return (
        _verdict(round_, check, id=first, notes=notes, result=result, evidence_refs=refs if enough else ()),
    )


def _verdict(round_: int, check: int, result: Result = "NOT_APPLICABLE", **fields: Any) -> Verification:
    return Verification(
        round=round_,
        phase="E",
        by="controller",
        check=CHECKS[check - 1],
        check_id=check,
        result=result,
        **fields,
    )


def _artifacts_are_in(state: State, round_: int) -> bool:
    absent = state.rounds[round_].absent
    authors = (role for role in state.roles if role not in ("verifier", absent))
    return all(state.is_done(f"r{round_}.D.{role}") for role in authors)


def _cause(state: State, round_: int, check: int) -> str:
    opened = state.rounds[round_]
    if check in opened.applicable:
        # Lost roles are sorted, since the wording is part of the ledger and must not depend on arrival.
        lost = ", ".join(sorted(lost_artifacts(state, round_)))
        return f"The artifact of {lost} was given up, so this check has nothing to test."
    if check == 4:
        return "No earlier decision exists that the artifacts could be held against."
    return (
        f"STRESS-{(opened.absent or '').upper()}: {opened.absent} is absent and has no artifact this round."
    )
