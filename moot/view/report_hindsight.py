"""The report's sections that look back over the whole run: failure modes, contribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from detectors.contribution import Contribution, contributions, sighted_by_others
from detectors.parameters import GateParameters, parameters_of
from detectors.report import AlarmReading
from detectors.stopping.gates import judge
from ledger.interchange.markdown import inline, table
from ledger.plain_text import shortened
from ledger.state.book import Book
from ledger.store.failures import BlobMissing
from moot.view import marks, words

Lines = Iterator[str]


class Hindsight(msgspec.Struct, frozen=True):
    """Contributions and failure modes, read over the whole run.

    `failures` has no value when the run's own parameters are missing.
    """

    contributions: tuple[Contribution, ...]
    failures: tuple[AlarmReading, ...] | None


def hindsight(book: Book) -> Hindsight:
    """Return the readings. This takes a few passes over the ledger, so call it once per report."""
    state, parameters = book.state, _parameters(book)
    return Hindsight(
        contributions=tuple(contributions(state, sighted_by_others(book.events))),
        # Without the run's own thresholds another version's defaults would judge it, so judge nothing.
        failures=tuple(judge(state, parameters).alarms) if parameters else None,
    )


def _parameters(book: Book) -> GateParameters | None:
    try:
        return parameters_of(book.state, book.blobs)
    # The parameters may be redacted or lost, and `moot verify` says which.
    except BlobMissing:
        return None


def hindsight_sections(hindsight: Hindsight) -> Iterator[tuple[str, list[str]]]:
    """Yield title and lines of every section that is not empty."""
    for title, section in _SECTIONS:
        lines = list(section(hindsight))
        if lines:
            yield title, lines


def failures_section(hindsight: Hindsight) -> Lines:
    """Yield the failure modes as they read now."""
    if hindsight.failures is None:
        yield words.NO_PARAMETERS
        return
    rows = [
        (
            f"{'[x]' if reading.verdict == 'ALARM' else '[ ]'} {words.failure(reading.id)}",
            marks.ALARMS[reading.verdict].plain,
            reading.e_value or "",
            f"R{reading.onset_round}" if reading.onset_round else "",
            # A clear reading needs no explanation, and the column would hide those that do.
            "" if reading.verdict == "CLEAR" else inline(shortened(reading.detail, 45)),
        )
        for reading in hindsight.failures
    ]
    yield from table(("failure mode", "verdict", "e-value", "since", "why"), rows)
    yield ""
    yield "`moot signals` has the numbers."


def _contribution(hindsight: Hindsight) -> Lines:
    rows = [
        (
            inline(contribution.role),
            str(contribution.claims),
            str(contribution.unique_claims),
            str(contribution.changes_caused),
            ", ".join(f"R{number}" for number in contribution.stress_rounds),
            inline(contribution.verdict),
            inline(contribution.detail),
        )
        for contribution in hindsight.contributions
    ]
    yield from table(("role", "claims", "its alone", "status changes", "absent", "verdict", "why"), rows)
    yield ""
    yield (
        "One stress round a role cannot show that it carries anything: `moot fork --stress` plans forks that can."
        " An unchanged round does not make a role decorative."
    )


_SECTIONS: Final[tuple[tuple[str, Callable[[Hindsight], Lines]], ...]] = (
    ("Failure modes", failures_section),
    ("What each role contributed", _contribution),
)
