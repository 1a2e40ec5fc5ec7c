"""STY011, warning: once something is decided, every artifact cites something from an earlier round.

Check 4 holds artifacts against earlier decisions; one that cites none can contradict them all in silence.
Source: SD-5, SD-32, SD-33.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.decided import counted
from ledger.events import Artifact
from ledger.ids import parse_reference, round_of
from validators.reading.docket import Docket
from validators.reading.references import references
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Artifacts of later rounds without a reference to an earlier one."""
    state = docket.book.state
    first = next((state.decisions[identity] for identity in counted(state)), None)
    for event in docket.events:
        if first is None:
            return
        if isinstance(event, Artifact) and first.seq < event.seq and first.round < event.round:
            rounds = (round_of(parse_reference(ref).id) for _, ref in references(event))
            if not any(round_ is not None and round_ < event.round for round_ in rounds):
                yield Breach(event.seq, f"{event.id} cites nothing of an earlier round")


RULE: Final = Rule(
    code="STY011",
    name="artifact_cites_the_past",
    severity="warning",
    summary="Once something is decided, every artifact cites something from an earlier round.",
    check=check,
)
