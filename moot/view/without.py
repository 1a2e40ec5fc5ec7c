"""The answer without each role, computed from the sealed answers. It costs no reply.

without_each(book) returns the result by role, empty without sealed answers. hangs_on_told turns it into a sentence
for the outcome, without_rows and without_section into a table for the report. It measures what a role's own answer
contributes. What the others would have said without hearing that role takes a fork (`moot fork --stress`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ledger.events import Decision
from ledger.interchange.markdown import inline, table
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.state import NEITHER, STANDS
from moot.view.memo import has_beliefs
from moot.view.options import options_of

if TYPE_CHECKING:
    from detectors.stopping.left_out import PoolWithout

NOT_MEASURABLE: Final = "Not measurable: no sealed answers."
HEADS: Final = ("without", "would lead", "by points", "reading")
FROM_ANSWERS: Final = "Computed from the last sealed answers; no reply was spent on it."


class EndWithout(Result, frozen=True):
    """The end without a role: who would lead, null where nobody is left; whether leader or outcome would differ."""

    leader: str | None
    changes: bool


def without_each(book: Book) -> dict[str, EndWithout]:
    """Return the result without each role; empty while answers are still coming in."""
    if has_beliefs(book):
        return _of_forecasts(book)
    return {pool.role: EndWithout(pool.without, pool.changes) for pool in pools_without(book)}


def _of_forecasts(book: Book) -> dict[str, EndWithout]:
    from moot.view.forecasts import forecasts_of

    report = forecasts_of("", book)
    each = {} if report is None else report.without
    return {role: EndWithout(end.leader, end.changes) for role, end in each.items()}


def pools_without(book: Book) -> tuple[PoolWithout, ...]:
    """Return the pools without each role, with margins, for runs that ask once per round; empty mid-round."""
    from detectors.stopping.left_out import left_out

    state = book.state
    pools = left_out(state)
    # Mid-round some roles have answered and others have not, which would compare unequal sets.
    whole = state.finished or (
        pools and (pools[0].round in state.validated or "E" in state.checked.get(pools[0].round, ()))
    )
    return pools if whole else ()


def hangs_on_told(book: Book, chief: Decision | None, without: Mapping[str, EndWithout]) -> str | None:
    """Return the sentence for the outcome; None without data, and where a person decided in place of the roles."""
    if not without or chief is None or chief.type == "override":
        return None
    options = bool(options_of(book))
    changing = {role: end for role, end in without.items() if end.changes}
    if not changing:
        return "no single role: without any one of them the answer would be the same"
    # If the leader stays the same, only the status can be what changes.
    leaders = {end.leader for end in without.values() if not end.changes}
    return "; ".join(
        f"{role}: without it {_instead(end.leader, leaders, options)}" for role, end in changing.items()
    )


def _instead(leader: str | None, leaders: set[str | None], options: bool) -> str:
    if leader is None:
        return "nobody answers"
    return (
        # The same option would lead, but too narrowly, so that another status results.
        "the outcome would be another" if leader in leaders else f"{leader_told(leader, options)} would lead"
    )


def leader_told(option: str | None, options: bool) -> str:
    """Return an option by its id; the codes for no option in words."""
    if option == NEITHER:
        return "none of the options" if options else "another answer"
    return "the answer as it stands" if option == STANDS else str(option)


def without_rows(book: Book) -> list[tuple[str, ...]]:
    """Return the cells under `HEADS`, one row per role; empty without sealed answers."""
    options = bool(options_of(book))
    return [
        (pool.role, leader_told(pool.without, options), f"{pool.margin:g}", _reading(pool))
        for pool in pools_without(book)
    ]


def _reading(pool: PoolWithout) -> str:
    return (
        f"{'another one leads' if pool.changes else 'the same'}{', within the noise' if pool.close else ''}"
    )


def without_section(book: Book) -> Iterator[str]:
    """Yield the table for the report; a run with forecasts shows it next to its pool instead."""
    # A run with forecasts shows the same figures next to its forecasts.
    if has_beliefs(book):
        return
    rows = without_rows(book)
    if not rows:
        yield NOT_MEASURABLE
        return
    yield from table(HEADS, [[inline(cell) for cell in row] for row in rows])
    yield ""
    yield f"{FROM_ANSWERS} What the others would have said without a role takes a fork: `moot fork RUN --stress`."
