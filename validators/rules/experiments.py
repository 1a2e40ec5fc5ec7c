"""Forecasts and experiments: sealed before they are shown, planned before they run, judged by predicates alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ledger.events import (
    Agenda,
    Belief,
    Event,
    ExperimentJudged,
    ExperimentPlanned,
    ExperimentRun,
    Statement,
    Verification,
)
from ledger.state.experiments import CONTROLS, plan_problems
from ledger.state.fold import step as take
from ledger.state.series import OutputMissing, Slot, judgement
from ledger.state.state import State
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
