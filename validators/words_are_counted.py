"""WRD003, error: the recorded number of words is the number of words.

Length budgets are judged by it, and a seat does not count its own. Source: FORMAT 2 (`words`: counted by us).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Artifact, Statement
from validators.reading import words
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Statements and artifacts whose `words` is another number."""
    for event in docket.events:
        match event:
            case Statement():
                found = words.of_statement(event)
            case Artifact():
                found = words.of_artifact(event)
            case _:
                continue
        if event.words != found:
            yield Breach(event.seq, f"{event.id} has {found} words, not {event.words}")


RULE: Final = Rule(
    code="WRD003",
    name="words_are_counted",
    severity="error",
    summary="The recorded number of words is the number of words.",
    check=check,
    applies_to_imports=False,
)
