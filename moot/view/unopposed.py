"""Agreement without a test: every role sealed the same answer all along, and no test found anything.

The detector panel of `structured` watches FM-1. A `crux` run has no panel, and a short run has too few rounds for
it. The outcome then carries this notice, so that "no open alarm" is never read as an all-clear.
"""

from __future__ import annotations

from typing import Final

from ledger.state.book import Book
from ledger.state.state import BeliefFacts, State
from moot.view.memo import has_beliefs
from moot.view.options import options_of
from moot.view.without import leader_told, without_each
from rounds.protocols import is_watched

OWN: Final = "own"
"""Points on an answer in a role's own words; two such answers never count as the same option."""
RECENT: Final = 2
"""Number of last rounds with checks in which nothing may have been found."""


def alarms_told(book: Book, alarms: list[str]) -> str:
    """Return the open alarms, else whether alarms were watched for and whether agreement was ever tested."""
    if alarms:
        return f"open alarms: {', '.join(alarms)}"
    state = book.state
    # Detectors never watched an imported run, which is not the same as finding nothing.
    if state.opening.origin.type == "import":
        watch = "no failure mode was looked for as it ran"
    else:
        watch = "no open alarm" if is_watched(state.opening) else ""
    return "; ".join(part for part in (watch, unopposed_told(book)) if part)


def unopposed_told(book: Book) -> str:
    """Return the common answer that was never tested; empty where any role differed or a test found something."""
    state = book.state
    if not without_each(book):  # nobody sealed an answer, or answers are still coming in
        return ""
    closed = max((look.round for look in state.looks), default=0) if has_beliefs(book) else state.round
    # Points on an answer in own words name no option that roles could agree on.
    own = [belief for belief in state.beliefs.values() if not (belief.derived or OWN in belief.points)]
    sealed = [belief for belief in own if belief.round <= closed]
    first = {_first(belief) for belief in sealed}
    # A single role cannot agree with anyone, and a tie at the top is no choice.
    if len({belief.role for belief in sealed}) < 2 or len(first) > 1 or None in first:
        return ""
    tested, moved = _crux_tests(state) if has_beliefs(book) else _checks(state)
    if moved:
        return ""
    leader = leader_told(first.pop(), bool(options_of(book)))
    nothing = "no test found anything" if tested else "nothing was tested"
    return (
        f"every role put {leader} first in every sealed answer and {nothing}, so this is no all-clear (FM-1)"
    )


def _first(belief: BeliefFacts) -> str | None:
    """Return the option with more points than any other; None on a tie."""
    most = max(belief.points.values(), default=0)
    best = [option for option, points in belief.points.items() if points == most]
    return best[0] if len(best) == 1 else None


def _checks(state: State) -> tuple[bool, bool]:
    """Return whether checks applied, and whether a check of the last rounds was not ROBUST."""
    applied = [
        check for check in state.checks.values() if check.phase != "S" and check.result != "NOT_APPLICABLE"
    ]
    # Early checks find flaws in drafts; only the last rounds tell something about the result.
    last = sorted({check.round for check in applied})[-RECENT:]
    return bool(applied), any(check.result != "ROBUST" for check in applied if check.round in last)


def _crux_tests(state: State) -> tuple[bool, bool]:
    """Return whether a crux was tested, and whether a test had a result that could move the answer."""
    statuses = {claim.status for claim in state.claims.values()}
    ran = {experiment.verdict for experiment in state.experiments.values() if experiment.judged}
    moved = bool(
        statuses & {"tested_confirmed", "tested_refuted", "partially_refuted"} or ran & {"holds", "fails"}
    )
    # An unclear test moved nothing, yet it is a test.
    return bool(ran or statuses - {"pending"}), moved
