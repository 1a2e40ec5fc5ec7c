"""Steps: open when they are answered, answered once, and yielding what their protocol says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ledger.events import Concern, Decision, Event, Fallback, Statement, Verification
from ledger.state.state import EXPERIMENTS
from validators.finding import Breach
from validators.ledger_index import LedgerIndex, group_key, is_reply
from validators.rule import rule


@rule("ORD004", "error", source="FORMAT 4, SD-18, SD-27", applies_to_imports=False)
def step_was_open(index: LedgerIndex) -> Iterator[Breach]:
    """A reply or a fallback answers a step that was open: phases and groups keep their order.

    A step opens when its predecessors are complete. An answer from before would have been written without what the
    table says it rests on, a position after its verdict among them.
    """
    if index.context.protocol is None:
        return
    openings = index.openings
    # One finding instead of one for each later step, since all of them follow from the same break.
    if openings.lost_at is not None:
        yield Breach(openings.lost_at, "from here on the protocol cannot say which steps are open")
    for event in index.events:
        answered = (
            event.step_failed if isinstance(event, Fallback) else event.step if is_reply(event) else None
        )
        if answered is None or event.seq > openings.known_through:
            continue  # nothing is judged after rounds have left the plan
        opening = openings.of.get(answered)
        # The opening is the event that completed the predecessors, so an answer must come strictly after it.
        if opening is None or opening >= event.seq:
            yield Breach(event.seq, f"{answered} is answered, but it was not open")


@rule("ORD005", "error", source="FORMAT 1 (13, 14), FORMAT 4, FORMAT 8", applies_to_imports=False)
def step_has_one_reply(index: LedgerIndex) -> Iterator[Breach]:
    """A step is answered once, and every event of a step leads to the call of its reply.

    A second answer would be a choice between answers, and an event without a call would have no author.
    """
    answered: dict[str, Event] = {}
    for event in index.events:
        if isinstance(event, Fallback):
            yield from _second(event.step_failed, event, answered)
        elif event.call is not None:
            if event.step is None:
                yield Breach(event.seq, "a call without a step")
            else:
                yield from _second(event.step, event, answered)
        elif event.via is not None:
            first = answered.get(event.step or "")
            # `via` ties an event to the call that paid for it; without the tie its author is unknown.
            if first is None or first.seq != event.via or first.call is None:
                yield Breach(
                    event.seq,
                    f"via {event.via} is not the reply of {event.step or 'this event without step'}",
                )
        elif event.step is not None:
            yield Breach(event.seq, f"an event of {event.step} has neither call nor via")


def _second(step: str, event: Event, answered: dict[str, Event]) -> Iterator[Breach]:
    if step in answered:
        yield Breach(event.seq, f"{step} was answered before, by event {answered[step].seq}")
    else:
        answered[step] = event


YIELDS: Final[Mapping[str, frozenset[str]]] = {
    "B": frozenset({"statement proposal"}),
    "C": frozenset({"statement supplement"}),
    "D": frozenset({"artifact", "claim"}),
    "E.position": frozenset({"position"}),
    "E.belief": frozenset({"belief"}),
    "E.checks": frozenset({"verification check"}),
    "E.check3": frozenset({"verification check"}),
    "F": frozenset({"statement review", "flip", "claim", "concern tension"}),
    "G": frozenset({"statement assessment", "decision round", "concern"}),
    "H": frozenset({"drift_check"}),
    "S.resolve": frozenset({"verification synthesis_resolution"}),
    "S.review": frozenset({"statement retrospective"}),
    "S.close": frozenset({"statement summary", "decision final"}),
}
"""Group of the protocol `structured` → kinds (with type) that its steps yield."""
WITH_PROGRAMS: Final = frozenset({"D", "E.checks", "E.check3"})
"""Groups whose steps yield experiments too, in a run that was opened for them."""


@rule("KND001", "error", source='FORMAT 5 ("What the steps yield"), SD-18, SD-19', applies_to_imports=False)
def step_yields_its_kinds(index: LedgerIndex) -> Iterator[Breach]:
    """A step yields what the table of its protocol says, and nothing else.

    A decision slipped into a review, or a claim into the synthesis, would bypass the roles that should have tested
    it.
    """
    if not index.watched:
        return
    # Seats may bring programs only in a run that was opened with experiments on or ask.
    runs = index.opened is not None and index.opened.rules.get(EXPERIMENTS) in ("on", "ask")
    for event, step in zip(index.events, index.steps, strict=True):
        if step is None:
            continue
        _, phase, act = group_key(step)
        group = f"{phase}.{act}" if act else phase
        allowed = YIELDS.get(group)
        if allowed is not None and group in WITH_PROGRAMS and runs:
            allowed |= {"experiment_planned"}
        if allowed is None:
            yield Breach(event.seq, f"{event.step} is no step of this protocol")
        elif not allowed.intersection((event.kind, _typed(event))):
            yield Breach(
                event.seq, f"{event.step} yields a {_typed(event)}; it may yield {', '.join(sorted(allowed))}"
            )


def _typed(event: Event) -> str:
    match event:
        case Statement() | Concern() | Decision():
            return f"{event.kind} {event.type}"
        case Verification():
            return f"verification {'check' if event.check_id <= 4 else event.check}"
        case _:
            return event.kind


@rule("SYN001", "error", source="SD-19, FORMAT 5 (S.resolve)", applies_to_imports=False)
def synthesis_leaves_nothing_pending(index: LedgerIndex) -> Iterator[Breach]:
    """When the synthesis reviews the run, no claim is pending, unless its resolution was given up.

    A run that finishes with untested claims looks decided where it is only over.
    """
    if not index.watched:
        return
    seen: set[int] = set()
    for event, step in zip(index.events, index.steps, strict=True):
        if step is None or step.act != "review" or not is_reply(event) or event.round in seen:
            continue
        seen.add(event.round)
        given_up = index.book.state.given_up.get(f"r{event.round}.S.resolve.verifier", event.seq)
        pending = [
            claim for claim in index.book.state.claims if index.status_at(claim, event.seq) == "pending"
        ]
        # A verifier that failed for good cannot settle claims, and the run still has to end.
        if pending and given_up >= event.seq:
            yield Breach(event.seq, f"the synthesis goes on while {', '.join(pending)} is pending")
