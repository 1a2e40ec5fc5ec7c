"""Calls, forecasts and experiments: blobs and conversations behind a reply, sealed numbers, programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from ledger.events import (
    Agenda,
    Belief,
    Call,
    Event,
    ExperimentJudged,
    ExperimentPlanned,
    ExperimentRun,
    Statement,
    Verification,
)
from ledger.events.envelope import Severity
from ledger.state.amendments import redacted_blobs
from ledger.state.experiments import CONTROLS, OutputMissing, Slot, judgement, plan_problems
from ledger.state.fold import step as take
from ledger.state.state import State
from ledger.store.blobs import named_blobs
from roles.brief import BriefCache, BriefUnavailable, derive
from roles.prompt_set import PromptSet, PromptSetError, read_prompt_set
from roles.protocol import Protocol
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule
from validators.rules.replay import Moment, opened, unjudged


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
    """Turn a breach into a warning in a redacted copy.

    A brief that quoted replaced words cannot be derived there as it was.
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


_PROPOSED: Final = ("crux-", "defeater-")


@rule("BEL001", "error", source="LIT-1, FORMAT 5", applies_to_imports=False, recorded=False)
def belief_is_sealed(index: LedgerIndex) -> Iterator[Breach]:
    """Before the closing no prompt shows another role's forecast.

    Roles that see each other's numbers follow them, and their mean is no longer the mean of several judgments.
    """
    for event, step in index.pairs:
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


@rule("EXP001", "error", source="FORMAT 2 (`experiment_planned`)", recorded=False)
def experiment_can_decide(event: ExperimentPlanned) -> Iterator[str]:
    """A plan names two controls, predicates that can be read and that differ, and no more than the bounds allow.

    A test that cannot fail confirms whatever it is run on, and one that cannot hold refutes it.
    """
    for problem in plan_problems(event):
        yield f"{event.id}: {problem}"


@rule("EXP002", "error", source="FORMAT 2 (`experiment_run`)", recorded=False)
def experiment_is_planned_before_it_runs(index: LedgerIndex) -> Iterator[Breach]:
    """A run of an experiment follows its plan; controls come first, every run once, repetitions without a gap.

    A plan written after a result is fitted to it, and a run counted twice would turn a single run into a
    reproduction.
    """
    slots: dict[str, list[Slot]] = {}
    for event in index.book.of(ExperimentRun):
        plan, slot = index.earlier(event.of, event.seq), Slot(event.control, event.n)
        if not isinstance(plan, ExperimentPlanned):
            yield Breach(event.seq, f"a run of {event.of}, which was not planned before it")
            continue
        before = slots.setdefault(event.of, [])
        if slot in before:
            yield Breach(event.seq, f"{event.of} was run as {_called(slot)} before")
        elif slot.control is None:
            # Controls run first: a test that cannot fail must be known before its result is.
            controls = {earlier_slot.control for earlier_slot in before}
            if not controls >= set(CONTROLS):
                yield Breach(event.seq, f"{event.of} is repeated before both of its controls were run")
            # A later series starts with controls of its own, and its numbers go on from there.
            begins = slot.n == 1 or all(Slot(control, slot.n) in before for control in CONTROLS)
            if not begins and Slot(None, slot.n - 1) not in before:
                yield Breach(event.seq, f"{event.of}: {_called(slot)} is there, and the one before it is not")
        before.append(slot)


def _called(slot: Slot) -> str:
    return f"repetition {slot.n}" if slot.control is None else f"the control {slot.control}, number {slot.n}"


@rule("EXP003", "error", source="FORMAT 2 (`experiment_run`)", recorded=False)
def program_runs_by_a_persons_word(index: LedgerIndex) -> Iterator[Breach]:
    """A program is run only where a person said so, for the run or for this experiment, and in a sandbox that held.

    Otherwise a file or a seat that starts programs would control the machine of anyone who reads its words.
    """
    for event, state in _with_state(index):
        if not isinstance(event, ExperimentRun):
            continue
        # Judged by the state before the run, because consent that is recorded afterwards does not count.
        if not state.may_run(event.of):
            yield Breach(event.seq, f"{event.of} was run, and nobody had said that it may be")
        if not event.environment.self_test:
            yield Breach(event.seq, f"{event.of} was run in a {event.environment.sandbox} that was not tried")


def _with_state(index: LedgerIndex) -> Iterator[tuple[Event, State]]:
    """Yield every event with the state before it, where there is any experiment; other ledgers are not folded."""
    if not index.book.state.experiments:
        return
    state = State()
    for event in index.events:
        yield event, state
        take(state, event)


@rule("EXP004", "error", source="FORMAT 2 (`experiment_judged`)", recorded=False)
def judgement_is_computed_again(event: ExperimentJudged, index: LedgerIndex) -> Iterator[Breach | str]:
    """What an experiment was judged to be, and where that moved claims, follows from its plan and its runs.

    A verdict written by hand would carry the weight of one that was run. Where an output was removed on the record it
    cannot be judged again, which is a warning.
    """
    try:
        # Only runs before the judgement count. Later repetitions get a judgement of their own.
        again = judgement(index.book.first(event.seq), event.of)
    except OutputMissing as error:
        yield Breach(event.seq, f"{event.of} cannot be judged again: {error.what}", "warning")
        return
    except LookupError:
        yield f"{event.of} is judged, and was not planned before"
        return
    # Each field is named by itself, because a moved claim matters more than a wrong count.
    for name in ("counts", "verdict", "class_", "changes"):
        if getattr(event, name) != getattr(again, name):
            yield f"{event.of}: {name.rstrip('_')} is another when it is judged again"


@rule("EXP005", "error", source="FORMAT 2 (`verification`, `experiment_judged`)", recorded=False)
def only_experiments_are_ran(event: Verification) -> Iterator[str]:
    """No verification calls its evidence ran or reproduced: these classes come from experiments on the ledger alone.

    A seat's statement that it ran something is only a statement.
    """
    for change in event.claim_status_changes:
        if change.class_ in ("ran", "reproduced"):
            yield f"{event.id} calls its evidence on {change.claim_id} {change.class_}"
