"""Experiments: planned before they run, run by a person's word, judged by their predicates and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from ledger.events import Event, ExperimentJudged, ExperimentPlanned, ExperimentRun, Verification
from ledger.state.experiments import CONTROLS, plan_problems
from ledger.state.fold import step as take
from ledger.state.series import OutputMissing, Slot, judgement
from ledger.state.state import State
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule


@rule("EXP001", "error", source="FORMAT 2 (`experiment_planned`)", recorded=False)
def experiment_can_decide(index: LedgerIndex) -> Iterator[Breach]:
    """A plan names two controls, predicates that can be read and that differ, and no more than the bounds allow.

    A test that cannot fail confirms whatever it is run on, and one that cannot hold refutes it.
    """
    for event in index.book.of(ExperimentPlanned):
        for problem in plan_problems(event):
            yield Breach(event.seq, f"{event.id}: {problem}")


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
def judgement_is_computed_again(index: LedgerIndex) -> Iterator[Breach]:
    """What an experiment was judged to be, and where that moved claims, follows from its plan and its runs.

    A verdict written by hand would carry the weight of one that was run. Where an output was removed on the record it
    cannot be judged again, which is a warning.
    """
    for event in index.book.of(ExperimentJudged):
        try:
            # Only runs before the judgement count. Later repetitions get a judgement of their own.
            again = judgement(index.book.first(event.seq), event.of)
        except OutputMissing as error:
            yield Breach(event.seq, f"{event.of} cannot be judged again: {error.what}", "warning")
            continue
        except LookupError:
            yield Breach(event.seq, f"{event.of} is judged, and was not planned before")
            continue
        # Each field is named by itself, because a moved claim matters more than a wrong count.
        for name in ("counts", "verdict", "class_", "changes"):
            if getattr(event, name) != getattr(again, name):
                yield Breach(event.seq, f"{event.of}: {name.rstrip('_')} is another when it is judged again")


@rule("EXP005", "error", source="FORMAT 2 (`verification`, `experiment_judged`)", recorded=False)
def only_experiments_are_ran(index: LedgerIndex) -> Iterator[Breach]:
    """No verification calls its evidence ran or reproduced: these classes come from experiments on the ledger alone.

    A seat's statement that it ran something is only a statement.
    """
    for event in index.book.of(Verification):
        for change in event.claim_status_changes:
            if change.class_ in ("ran", "reproduced"):
                yield Breach(event.seq, f"{event.id} calls its evidence on {change.claim_id} {change.class_}")
