"""Calls: the blobs, attempts and conversations behind a reply, and the brief that it answers."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from ledger.events import Call, Event
from ledger.events.values import Severity
from ledger.state.redactions import redacted_blobs
from ledger.store.blobs import named_blobs
from roles.brief import BriefCache, BriefUnavailable, derive
from roles.prompt_set import PromptSet, PromptSetError, read_prompt_set
from roles.protocol import Protocol
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.moments import Moment, opened, unjudged
from validators.rule import rule


@rule("BLB001", "error", source="FORMAT 6, FORMAT 7, FORMAT 8", recorded=False)
def blob_is_kept(index: LedgerIndex) -> Iterator[Breach]:
    """The prompt set, the run's own parameters, the documents, every brief and every reply are among the blobs.

    Without them it cannot be checked what a seat was shown or what it really replied.
    """
    redacted = {sha256 for event in index.book.state.amendments for sha256 in redacted_blobs(event)}
    there: dict[str, bool] = {}
    for event in index.events:
        for kind, what, sha256 in named_blobs(event):
            # Many events name the same prompt set, so each blob is looked up once.
            if sha256 not in there:
                there[sha256] = index.book.blobs.read(sha256) is not None
            if not there[sha256]:
                # Without a prompt set briefs cannot be derived again, which BRF001 reports. Nothing else breaks.
                severity: Severity = "warning" if kind == "prompt set" or sha256 in redacted else "error"
                why = "was redacted" if sha256 in redacted else "is missing"
                yield Breach(event.seq, f"the blob of {what} {why} ({sha256[:12]}…)", severity)


@rule("BLB002", "error", source="FORMAT 1 (`call`)", applies_to_imports=False, recorded=False)
def attempts_add_up(event: Event) -> Iterator[str]:
    """A call's attempts are in order, the last is the accepted one, and their sums are its totals.

    A repair that is not listed would hide how often a seat failed, and what it cost.
    """
    if event.call is not None:
        for problem in _problems(event.call):
            yield f"{event.step}: {problem}"


def _problems(call: Call) -> Iterator[str]:
    if not call.attempts:
        yield "the call lists no attempt"
        return
    if [attempt.n for attempt in call.attempts] != list(range(1, len(call.attempts) + 1)):
        yield "the attempts are not numbered from 1 in order"
    last = call.attempts[-1]
    if last.reply != call.reply or last.error is not None:
        yield "the last attempt is not the accepted one"
    if call.attempts[0].brief != call.brief:
        yield "the first attempt was not given the brief"
    for name in ("tokens_in", "tokens_out", "latency_ms"):
        parts = [getattr(attempt, name) for attempt in call.attempts]
        total = getattr(call, name)
        # A seat may not know its counts. Unknown parts make the sum meaningless, so nothing is compared.
        if None not in parts and total is not None and sum(parts) != total:
            yield f"the attempts' {name} come to {sum(parts)}, not {total}"
    # Costs are decimal strings: floats would not add up to the recorded total.
    costs = [Decimal(attempt.cost_usd) for attempt in call.attempts if attempt.cost_usd is not None]
    if (
        len(costs) == len(call.attempts)
        and call.cost_usd is not None
        and sum(costs) != Decimal(call.cost_usd)
    ):
        yield f"the attempts cost {sum(costs)}, not {call.cost_usd}"


@rule("CTX001", "error", source="FORMAT 1 (`call.context`), FORMAT 5, law 5", applies_to_imports=False)
def context_serves_one_role(index: LedgerIndex) -> Iterator[Breach]:
    """A conversation answers for one role, and says truly whether it is new.

    Two roles in one conversation know each other's drafts, and their agreement is worth nothing.
    """
    owners: dict[str, str] = {}
    for event in index.events:
        context = event.call.context if event.call else None
        if context is None:
            continue
        if (context.mode is None) != (context.id is None):
            yield Breach(event.seq, "a context has a mode if and only if it has an id")
        if context.id is None:
            continue
        owner = owners.get(context.id)
        if owner is not None and owner != event.by:
            yield Breach(event.seq, f"context {context.id} answers for {event.by} and served {owner} before")
        # A seat that calls a used conversation fresh would hide what it had read before.
        elif (context.mode == "fresh") != (owner is None):
            seen = "has not answered before" if owner is None else f"answered for {owner} before"
            yield Breach(event.seq, f"context {context.id} is called {context.mode}, but {seen}")
        owners.setdefault(context.id, event.by)


UNAVAILABLE: Final = "BRIEF-UNAVAILABLE"


@rule("BRF001", "error", source="FORMAT 5, FORMAT 6, DESIGN 4", applies_to_imports=False, recorded=False)
def brief_is_derived_again(index: LedgerIndex) -> Iterator[Breach]:
    """Deriving a step's brief again gives the recorded hash, and the same events in `saw`.

    This is what proves that contexts were kept apart: the brief held only what the visibility table shows. Derived with
    the prompt set of the run; when that is missing or has no layout, the warning BRIEF-UNAVAILABLE says so.
    """
    protocol, opening = index.context.protocol, index.opened
    if protocol is None or opening is None or not any(event.call for event in index.events):
        return
    # The run's own prompt set is used. The installed one may have changed since, and would give other briefs.
    blob = index.book.blobs.read(opening.prompt_set)
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
        # Briefs of one group share most blocks, so the cache saves most of the work.
        memo = BriefCache()
        for moment in opened(index, protocol):
            for breach in _brief(moment, protocol, prompt_set, opening.prompt_set, memo):
                yield _excused(breach, moment, index)
        yield from unjudged(index)
    except (BriefUnavailable, PromptSetError) as error:
        yield Breach(opening.seq, f"briefs cannot be derived again: {error}", "warning", UNAVAILABLE)


def _excused(breach: Breach, moment: Moment, index: LedgerIndex) -> Breach:
    """Turn a breach into a warning in a redacted copy, where a brief that quoted replaced words cannot be derived as
    it was.
    """
    if index.reworded.isdisjoint(moment.event.saw):
        return breach
    message = f"{breach.message}: it quoted words that were redacted"
    return breach._replace(message=message, severity="warning", code=UNAVAILABLE)


def _brief(
    moment: Moment, protocol: Protocol, prompt_set: PromptSet, expected_set: str, memo: BriefCache
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
