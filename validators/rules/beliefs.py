"""Beliefs: sealed before they are shown, and nothing that was proposed gets lost or is asked about for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ledger.events import Agenda, Belief, Event, Statement
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule

ROUNDS_ASKED_MAX: Final = 2
"""A claim is asked about in so many rounds at most."""
_PROPOSED: Final = ("crux-", "defeater-")


@rule("BEL001", "error", source="LIT-1, FORMAT 5", applies_to_imports=False, recorded=False)
def belief_is_sealed(index: LedgerIndex) -> Iterator[Breach]:
    """Before the closing no brief shows what another role believes, nor a second draw.

    Roles that see each other's numbers follow them, and their mean is no longer the mean of several judgements.
    """
    for event, step in zip(index.events, index.steps, strict=True):
        if step is None or step.phase == "S" or not event.saw:
            continue
        for seq in event.saw:
            shown = index.events[seq] if seq < len(index.events) else None
            if isinstance(shown, Belief) and (shown.role != step.role or _is_redraw(shown)):
                yield Breach(event.seq, f"the brief of {step} shows {shown.id}, a sealed belief")


def _is_redraw(belief: Belief) -> bool:
    return belief.step is not None and belief.step.endswith("~2")


@rule("BEL002", "error", source="LIT-2", applies_to_imports=False, recorded=False)
def crux_is_asked_about_twice_at_most(index: LedgerIndex) -> Iterator[Breach]:
    """A claim is asked about in two rounds at most, and every role gives its numbers on it once a round.

    Who may ask until the numbers please has asked nothing.
    """
    rounds: dict[str, set[int]] = {}
    given: Counter[tuple[str, int, str]] = Counter()
    for event in index.events:
        if not isinstance(event, Belief) or event.derived or event.round < 2:  # round 1 proposes
            continue
        for one in event.given:
            given[event.role, event.round, one.claim] += 1
            if given[event.role, event.round, one.claim] > 1:
                yield Breach(event.seq, f"{event.role} gives numbers on {one.claim} a second time in a round")
            asked = rounds.setdefault(one.claim, set())
            if event.round not in asked and len(asked) == ROUNDS_ASKED_MAX:
                yield Breach(event.seq, f"{one.claim} is asked about in a third round")
            asked.add(event.round)


@rule("AGD001", "error", source="FORMAT 2 (`agenda`)", applies_to_imports=False, recorded=False)
def agenda_places_everything_once(index: LedgerIndex) -> Iterator[Breach]:
    """Every proposal and every defeater of the answers is merged or dropped in the agenda, exactly once.

    An agenda that leaves one out in silence decides what is tested without saying so.
    """
    proposed: list[str] = []
    for event in index.events:
        proposed += _proposals(event)
        if isinstance(event, Agenda):
            placed = Counter(ref for one in event.merged for ref in one.from_)
            placed.update(one.from_ for one in event.dropped)
            for ref in proposed:
                if placed[ref] != 1:
                    yield Breach(event.seq, f"{ref} is placed {placed[ref]} times, not once")
            for ref in placed.keys() - set(proposed):
                yield Breach(event.seq, f"{ref} is placed, and nobody proposed it")


def _proposals(event: Event) -> list[str]:
    if not isinstance(event, Statement) or event.type != "analysis" or event.phase != "B":
        return []
    names = (section.name for section in event.sections)
    return [f"{event.id}#{name}" for name in names if name.startswith(_PROPOSED)]
