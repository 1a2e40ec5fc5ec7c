"""FLD001, warning: a line holds no field that this version does not know.

Unknown fields are kept and never judged, so a reader should know that something was said which nobody here can check.
Source: FORMAT 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """One breach for each event with unknown fields."""
    for seq, fields in sorted(docket.context.unknown.items()):
        yield Breach(
            seq, f"unknown {'field' if len(fields) == 1 else 'fields'} {', '.join(fields)}: kept, not judged"
        )


RULE: Final = Rule(
    code="FLD001",
    name="fields_are_known",
    severity="warning",
    summary="A line holds no field that this version of moot does not know.",
    check=check,
    recorded=False,
)
