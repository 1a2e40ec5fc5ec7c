"""The report's sections that look back over the whole run: failure modes, contribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ledger.interchange.markdown import inline, table
from ledger.plain_text import shortened
from moot.view import marks, words
from moot.view.hindsight import Hindsight

Lines = Iterator[str]


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
