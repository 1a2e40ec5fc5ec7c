"""BRF001, error: deriving a step's brief again gives the recorded hash, and the same events in `saw`.

This is what proves that contexts were kept apart: the brief held only what the visibility table shows. Derived with the
prompt set of the run; when that is missing, or the brief version is unknown, the warning BRIEF-UNAVAILABLE says so.
Source: FORMAT 5, FORMAT 6, DESIGN 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from roles.brief import BriefUnavailable, Memo, derive
from roles.prompt_set import PromptSet, PromptSetError, read_prompt_set
from roles.protocol import Protocol
from validators.reading.docket import Docket
from validators.reading.moments import Moment, opened, unjudged
from validators.reading.rule import Breach, Rule

UNAVAILABLE: Final = "BRIEF-UNAVAILABLE"


def check(docket: Docket) -> Iterator[Breach]:
    """Briefs that come out differently, and the one warning when none can be derived."""
    protocol, opening = docket.context.protocol, docket.opened
    if protocol is None or opening is None or not any(event.call for event in docket.events):
        return
    blob = docket.book.blobs.read(opening.prompt_set)
    try:
        prompt_set = read_prompt_set(blob) if blob is not None else None
    except PromptSetError as error:
        yield Breach(opening.seq, f"the prompt set cannot be read: {error}", "warning", UNAVAILABLE)
        return
    if prompt_set is None:
        message = "the prompt set of this run is not among its blobs: no brief can be derived again"
        yield Breach(opening.seq, message, "warning", UNAVAILABLE)
        return
    try:
        memo = Memo()
        for moment in opened(docket, protocol):
            for breach in _brief(moment, protocol, prompt_set, opening.prompt_set, memo):
                yield _excused(breach, moment, docket)
        yield from unjudged(docket)
    except (BriefUnavailable, PromptSetError) as error:
        yield Breach(opening.seq, f"briefs cannot be derived again: {error}", "warning", UNAVAILABLE)


def _excused(breach: Breach, moment: Moment, docket: Docket) -> Breach:
    """In a redacted copy a brief that quoted replaced words cannot come out as it was: that is no error."""
    if docket.reworded.isdisjoint(moment.event.saw):
        return breach
    message = f"{breach.message}: it quoted words that were redacted"
    return breach._replace(message=message, severity="warning", code=UNAVAILABLE)


def _brief(
    moment: Moment, protocol: Protocol, prompt_set: PromptSet, expected_set: str, memo: Memo
) -> Iterator[Breach]:
    call, seq = moment.event.call, moment.event.seq
    assert call is not None, "a moment is that of a reply"
    if call.prompt_set != expected_set:
        yield Breach(seq, f"{moment.step.id} was asked with another prompt set than the run's")
    brief = derive(moment.book, protocol, moment.step, prompt_set, memo)
    if brief.sha256 != call.brief:
        yield Breach(
            seq, f"the brief of {moment.step.id} comes out as {brief.sha256[:12]}…, not {call.brief[:12]}…"
        )
    if brief.saw != moment.event.saw:
        more = sorted(set(moment.event.saw) - set(brief.saw))
        less = sorted(set(brief.saw) - set(moment.event.saw))
        yield Breach(
            seq, f"saw of {moment.step.id} has {more or 'nothing'} too many and {less or 'nothing'} too few"
        )


RULE: Final = Rule(
    code="BRF001",
    name="brief_is_derived_again",
    severity="error",
    summary="Deriving a step's brief again gives the recorded hash, and the same events in `saw`.",
    check=check,
    applies_to_imports=False,
    recorded=False,
)
