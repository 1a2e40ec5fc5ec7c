"""Series of a planned experiment: which runs exist, which come next, and the resulting judgement.

    must_fail 1, must_hold 1        the controls, first; one that does not do what it must ends the series: error
    1, 2, … k                       the repetitions, each in a fresh sandbox
    experiment_judged               as soon as the series is complete; again after every run that is added later

Everything follows from the ledger, so a series that was cut short goes on where it stopped and counts no run twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal, NamedTuple

from ledger.events import Event, ExperimentJudged, ExperimentPlanned, ExperimentRun
from ledger.events.experiments import ClaimMove
from ledger.state.book import Blobs, Book
from ledger.state.experiments import CONTROLS, Content, judge, unreadable_predicates, verdict_of
from ledger.state.lifecycle import STATUS_OF_RUN, TRANSITIONS

Control = Literal["must_fail", "must_hold"]


class Slot(NamedTuple):
    """Run of a series: a repetition, or a control, by its number."""

    control: Control | None
    n: int


class OutputMissing(LookupError):
    """Output of an experiment that was removed, so that it cannot be judged; `fix` names a remedy."""

    def __init__(self, sha256: str) -> None:
        self.what = f"what an experiment wrote is not here: blob {sha256[:12]}…"
        self.fix = "restore the blob, or plan the experiment again"
        super().__init__(self.what)


def content_of(blobs: Blobs) -> Content:
    """Return a function that returns the bytes of a blob, or raises `OutputMissing`."""

    def content(sha256: str) -> bytes:
        kept = blobs.read(sha256)
        if kept is None:
            raise OutputMissing(sha256)
        return kept

    return content


def plan_of(book: Book, experiment: str) -> ExperimentPlanned:
    """Return the plan with that id. Raises `LookupError` when it is missing."""
    event = book.by_id.get(experiment)
    if not isinstance(event, ExperimentPlanned):
        raise LookupError(experiment)
    return event


def runs_of(book: Book, experiment: str) -> tuple[ExperimentRun, ...]:
    """Return the runs of an experiment in order, controls among them; of two with the same number the first counts."""
    runs: dict[Slot, ExperimentRun] = {}
    for event in book.of(ExperimentRun):
        if event.of == experiment:
            # Of two runs with one number the first counts, so no result can be chosen after it is known.
            runs.setdefault(Slot(event.control, event.n), event)
    return tuple(runs.values())


def slots(k: int, runs: tuple[ExperimentRun, ...] = (), behind: int = 0) -> Iterator[Slot]:
    """Yield the missing runs of a series of `k` repetitions, numbered from `behind` + 1."""
    there = {Slot(run.control, run.n) for run in runs}
    controls: tuple[Slot, ...] = tuple(Slot(control, behind + 1) for control in CONTROLS)
    repetitions = (Slot(None, behind + n) for n in range(1, k + 1))
    # One after the other: a plan on a ledger that was written by hand may ask for any number of repetitions.
    return (slot for slot in chain(controls, repetitions) if slot not in there)


def next_slot(book: Book, experiment: str) -> Slot | None:
    """Return the run that the planned series still needs; null when it is complete."""
    plan, runs = plan_of(book, experiment), runs_of(book, experiment)
    if has_wrong_control(plan, runs, content_of(book.blobs)):
        return None
    return next(slots(plan.k, runs), None)


def has_wrong_control(plan: ExperimentPlanned, runs: tuple[ExperimentRun, ...], content: Content) -> bool:
    """Return whether a control did not do what it must, so that no repetition could say anything."""
    return any(
        run.control is not None and verdict_of(plan, run, content) != CONTROLS[run.control] for run in runs
    )


def judgement(book: Book, experiment: str) -> ExperimentJudged:
    """Return the judgement of an experiment's runs now, and how it moves its claims, by the plan's predicates alone."""
    plan = plan_of(book, experiment)
    runs, content = runs_of(book, experiment), content_of(book.blobs)
    counts, verdict, class_ = judge(plan, runs, content)
    state, to = book.state, STATUS_OF_RUN.get(verdict)
    changes: list[ClaimMove] = []
    for claim in plan.claims if to is not None else ():
        facts = state.claims.get(claim)
        if facts is not None and to in TRANSITIONS[facts.status]:
            changes.append(ClaimMove(claim_id=claim, from_=facts.status, to=to))
    return ExperimentJudged(
        round=state.round,
        phase=state.phase,
        by="controller",
        of=experiment,
        counts=counts,
        verdict=verdict,
        class_=class_,
        changes=tuple(changes),
        unreadable=unreadable_predicates(plan, runs, content),
    )


def judgements_due(book: Book) -> tuple[Event, ...]:
    """Return the judgement of the first experiment with a complete series and a run since its last judgement."""
    for experiment, facts in book.state.experiments.items():
        if facts.runs and max(facts.runs.values()) > facts.judged_at and next_slot(book, experiment) is None:
            return (judgement(book, experiment),)
    return ()
