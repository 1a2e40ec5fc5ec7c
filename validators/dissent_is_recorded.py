"""DEC004, error: a decision names exactly the roles that had expected another verdict than one that it cites.

The field `dissent` of format 1 holds last stances on verdicts, not who disagrees with the decision, whose author may be
among them. One that is left out looks like agreement months later; one that is made up looks like an open question.
Source: FORMAT 2 (`decision.dissent`), SD-47.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Decision, Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule
from validators.reading.stances import Stance, last_stances


def check(docket: Docket) -> Iterator[Breach]:
    """Decisions of a step whose recorded stances are not the computed ones."""
    for event in docket.events:
        if not isinstance(event, Decision) or event.step is None:
            continue
        expected = {
            (stance.role, stance.ref)
            for cite in event.cites
            for stance in _differing(cite.id, event.seq, docket)
        }
        stated = {(dissent.role, dissent.ref) for dissent in event.dissent}
        for role, ref in sorted(expected - stated):
            yield Breach(event.seq, f"{event.id} leaves out that {role} had expected another verdict ({ref})")
        for role, ref in sorted(stated - expected):
            yield Breach(
                event.seq,
                f"{event.id} says that {role} had expected another verdict ({ref}), which is not so",
            )


def _differing(verification: str, than: int, docket: Docket) -> Iterator[Stance]:
    event = docket.earlier(verification, than)
    if isinstance(event, Verification):
        for stance in last_stances(verification, than, docket).values():
            if stance.stance != event.result:
                yield stance


RULE: Final = Rule(
    code="DEC004",
    name="dissent_is_recorded",
    severity="error",
    summary="A decision names exactly the roles whose last stance differs from a verification it cites.",
    check=check,
    applies_to_imports=False,
)
