"""The report's sections that look back over the whole run: failure modes, contribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ledger.interchange.markdown import inline, table
from ledger.plain_text import shortened
from moot.view import marks, words
from moot.view.hindsight import Hindsight

Lines = Iterator[str]


def hindsight_sections(found: Hindsight) -> Iterator[tuple[str, list[str]]]:
    """Title and lines of every section that has something to say."""
    for title, section in _SECTIONS:
        lines = list(section(found))
        if lines:
            yield title, lines


def failures_section(found: Hindsight) -> Lines:
    """The failure modes as they read now."""
    if found.failures is None:
        yield words.NO_PARAMETERS
        return
    rows = [
        (
            f"{'[x]' if one.verdict == 'ALARM' else '[ ]'} {words.failure(one.id)}",
            marks.ALARMS[one.verdict].plain,
            one.e_value or "",
            f"R{one.onset_round}" if one.onset_round else "",
            "" if one.verdict == "CLEAR" else inline(shortened(one.detail, 45)),
        )
        for one in found.failures
    ]
    yield from table(("failure mode", "verdict", "e-value", "since", "why"), rows)
    yield ""
    yield "`moot signals` has the numbers."


def _contribution(found: Hindsight) -> Lines:
    rows = [
        (
            inline(one.role),
            str(one.claims),
            str(one.unique_claims),
            str(one.changes_caused),
            ", ".join(f"R{number}" for number in one.stress_rounds),
            inline(one.verdict),
            inline(one.detail),
        )
        for one in found.contributions
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
