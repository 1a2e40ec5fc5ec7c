"""STR002, error: a check that needs what is not there is asked of nobody and says so; every other check has a verdict.

A verdict on an artifact that does not exist would hide the absence, and NOT_APPLICABLE on one that does would hide
the test. Source: SD-32, SD-34 … SD-36, SD-56, SD-84, FORMAT 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Fallback, RoundOpened, Verification
from validators.reading.checks_of_a_round import NEEDS, applicable, asked, asks_in
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Wrong lists of applicable checks, verdicts that should not be, and checks that are missing when F begins."""
    if not docket.structured:
        return
    opened: RoundOpened | None = None
    done: set[int] = set()
    reviewed = False
    for event, step in zip(docket.events, docket.steps, strict=True):
        if isinstance(event, RoundOpened):
            opened, done, reviewed = event, set[int](), False
            if (
                not docket.is_imported(event.seq)
                and asks_in(event, docket, "E")
                and event.applicable != applicable(event, docket)
            ):
                listed = ", ".join(map(str, applicable(event, docket)))
                yield Breach(event.seq, f"the applicable checks of round {event.round} are {listed}")
        elif opened is None:
            continue
        elif isinstance(event, Verification) and event.check_id in NEEDS and event.repeats is None:
            done.add(event.check_id)
            imported = docket.is_imported(event.seq)
            yield from _imported(event, opened) if imported else _verdict(event, opened, docket)
        elif step is not None and step.phase == "F" and not reviewed:
            reviewed = True
            missing = [f"V-{event.round}-{n}" for n in NEEDS if n not in done]
            if missing:
                yield Breach(event.seq, f"F begins without {', '.join(missing)}")


def _verdict(event: Verification, opened: RoundOpened, docket: Docket) -> Iterator[Breach]:
    possible = event.check_id in asked(opened, docket, event.seq)
    void = event.result == "NOT_APPLICABLE"
    if not possible and not void:
        yield Breach(
            event.seq, f"{event.id} judges what is not there: check {event.check_id} is not applicable"
        )
    if possible and void and not _given_up(event, docket):
        yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE, but check {event.check_id} can be made")
    if void and (event.by != "controller" or event.step is not None):
        yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE by {event.by}; the controller writes that")
    if void and (event.evidence_refs or event.claims_affected or event.claim_status_changes):
        yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE and yet has evidence or affects claims")


def _given_up(event: Verification, docket: Docket) -> bool:
    """Whether the verdict stands in for one that the verifier did not give."""
    seq = docket.book.state.given_up.get(f"r{event.round}.E.check{event.check_id}.verifier")
    return seq is not None and seq < event.seq and isinstance(docket.events[seq], Fallback)


def _imported(event: Verification, opened: RoundOpened) -> Iterator[Breach]:
    blocked = opened.absent is not None and opened.absent in NEEDS[event.check_id]
    if blocked and event.result != "NOT_APPLICABLE":
        yield Breach(event.seq, f"{event.id} needs {opened.absent}, who is absent from round {event.round}")
    if not blocked and event.result == "NOT_APPLICABLE" and event.check_id != 4:
        yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE, but nobody it needs is absent", "warning")


RULE: Final = Rule(
    code="STR002",
    name="inapplicable_check_is_not_asked",
    severity="error",
    summary="A check that needs what is not there is asked of nobody and says so; every other has a verdict.",
    check=check,
)
