"""Forecasts: sealed before they are shown, given once, and every proposal has its place in the agenda."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ledger.events import Agenda, Belief, Event, ExperimentJudged, Statement, Verification
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule

_PROPOSED: Final = ("crux-", "defeater-")


@rule("BEL001", "error", source="LIT-1, FORMAT 5", applies_to_imports=False, recorded=False)
def belief_is_sealed(index: LedgerIndex) -> Iterator[Breach]:
    """Before the closing no prompt shows another role's forecast.

    Roles that see each other's numbers follow them, and their mean is no longer the mean of several judgments.
    """
    for event, step in zip(index.events, index.steps, strict=True):
        # The closing steps may see every forecast, because no forecast follows them.
        if step is None or step.phase == "S" or not event.saw:
            continue
        for seq in event.saw:
            # `saw` may name anything in a broken ledger; REF003 reports numbers that are no earlier event.
            event_shown = index.events[seq] if seq < len(index.events) else None
            if isinstance(event_shown, Belief) and event_shown.role != step.role:
                yield Breach(event.seq, f"the brief of {step} shows {event_shown.id}, a sealed belief")


@rule("BEL002", "error", source="LIT-2", applies_to_imports=False, recorded=False)
def numbers_come_once_and_first(index: LedgerIndex) -> Iterator[Breach]:
    """Every role gives its numbers about a claim once, before the claim is tested.

    Numbers that are given again, or that know the result, would let a role choose where the result leads.
    """
    sealed: set[tuple[str, str]] = set()
    tested: dict[str, int] = {}
    for event in index.events:
        if isinstance(event, Verification):
            for claim in event.claims_affected:
                tested.setdefault(claim, event.seq)
        if isinstance(event, ExperimentJudged):
            for change in event.changes:
                tested.setdefault(change.claim_id, event.seq)
        # Derived beliefs are computed from sealed numbers and bring none of their own.
        if not isinstance(event, Belief) or event.derived:
            continue
        for numbers in event.given:
            if (event.role, numbers.claim) in sealed:
                yield Breach(event.seq, f"{event.role} gives numbers about {numbers.claim} a second time")
            if numbers.claim in tested:
                at = tested[numbers.claim]
                yield Breach(
                    event.seq, f"{event.role} gives numbers about {numbers.claim} after its test (@{at})"
                )
            sealed.add((event.role, numbers.claim))


@rule("AGD001", "error", source="FORMAT 2 (`agenda`)", applies_to_imports=False, recorded=False)
def agenda_places_everything_once(index: LedgerIndex) -> Iterator[Breach]:
    """Every proposal and every defeater of the answers is merged or dropped in the agenda, exactly once.

    An agenda that leaves one out in silence decides what is tested without saying so.
    """
    proposed: list[str] = []
    for event in index.events:
        proposed += _proposals(event)
        if isinstance(event, Agenda):
            placed = Counter(ref for entry in event.merged for ref in entry.from_)
            placed.update(entry.from_ for entry in event.dropped)
            for ref in proposed:
                # The controller's agenda only makes options of the answers (rule AUT003); proposals are placed
                # by the verifier's.
                if placed[ref] != 1 and event.by != "controller":
                    yield Breach(event.seq, f"{ref} is placed {placed[ref]} times, not once")
            for ref in placed.keys() - set(proposed):
                # An agenda may make options from whole answers, which are no proposals.
                if not ref.endswith("#answer"):
                    yield Breach(event.seq, f"{ref} is placed, and nobody proposed it")


def _proposals(event: Event) -> list[str]:
    if not isinstance(event, Statement) or event.type != "analysis" or event.phase != "B":
        return []
    names = (section.name for section in event.sections)
    return [f"{event.id}#{name}" for name in names if name.startswith(_PROPOSED)]
