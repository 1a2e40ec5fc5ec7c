"""Experiments of a run: run in the sandbox, written out to be run elsewhere, run again and compared.

The ledger of a finished run never changes: later series go into files next to it, `checks/E-2-1.1.json` and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from ledger.events import Event, ExperimentPlanned
from ledger.events.experiments import ExperimentRun, NamedBlob
from ledger.events.ids import parse_reference
from ledger.state.book import Book
from ledger.state.experiments import TIMES_MAX, Judged, judge, plan_problems
from ledger.state.series import content_of, has_wrong_control, plan_of, slots
from ledger.store.store import DriverLease
from moot.app.checks import keep_series
from moot.app.consent import Agreed, bench_for
from moot.app.session import Session
from moot.environment import now
from moot.errors import MootError, usage
from moot.view.results import ReRun
from rounds.experiments.bench import Bench
from rounds.run import human_actions
from rounds.run.experiments import conduct


class SeriesRun(NamedTuple):
    """A whole series that was run now, with its outputs by hash and its verdict."""

    of: str
    runs: tuple[ExperimentRun, ...]
    wrote: Mapping[str, bytes]
    verdict: Judged


def run_experiments(
    session: Session,
    wanted: str | None,
    *,
    times: int | None = None,
    name: str | None = None,
    agreed: Agreed | None = None,
    report: Callable[[tuple[Event, ...]], object] = lambda _: None,
) -> list[SeriesRun | tuple[Event, ...]]:
    """Run one experiment, or all that were never judged; the call is the person's consent for exactly these.

    Returns the events of each experiment; for a finished run, the series that was kept next to it. Raises `NoSandbox`
    before anything is written, `MootError` where there is nothing to run, and `DriverBusy`.
    """
    book = session.inner.book()
    due = _due(session, book, wanted)
    if times is not None and not 1 <= times <= TIMES_MAX:
        raise usage(f"--times {times}", f"1 to {TIMES_MAX}", "experiment run")
    for experiment in due:
        _refuse_unlawful(plan_of(book, experiment))
    # The sandbox is tried before the lease and the first event, so that a refusal leaves the ledger as it was.
    bench = bench_for(agreed)
    results: list[SeriesRun | tuple[Event, ...]] = []
    with DriverLease(session.path) as lease:
        for experiment in due:
            # A finished ledger takes no more runs, so the series goes next to it.
            if book.state.finished:
                results.append(_beside(session, bench, experiment, times))
                continue
            judged = bool(book.state.experiments[experiment].judged)
            # A judged experiment gets its planned count once more; None lets `conduct` finish the series that was
            # begun.
            more = times if times is not None else plan_of(book, experiment).k if judged else None
            written: list[Event] = list(human_actions.allow_experiment(session.inner, experiment, name))
            for events in conduct(session.inner, bench, experiment, times=more):
                # A series may take minutes: without a sign of life another process would take the driver for dead.
                lease.beat()
                report(events)
                written += events
            results.append(tuple(written))
    return results


def _refuse_unlawful(plan: ExperimentPlanned) -> None:
    """Refuse a plan that `check` refuses: a ledger written by hand may ask for any time and memory."""
    for problem in plan_problems(plan):
        fix = f"plan it again; `moot check` names {plan.id} too"
        raise MootError("plan_refused", f"{plan.id} is not run: {problem}", "experiment run", fix)


def find_experiment(book: Book, name: str) -> ExperimentPlanned:
    """Return the plan of an experiment. Raises `MootError` with the experiments of the run."""
    if name not in book.state.experiments:
        planned = ", ".join(book.state.experiments) or "none"
        raise usage(f"no experiment {name!r} in this run", f"planned are: {planned}", "E-ID")
    return plan_of(book, name)


def _due(session: Session, book: Book, wanted: str | None) -> tuple[str, ...]:
    if wanted is not None:
        find_experiment(book, wanted)
        return (wanted,)
    # Naming an experiment runs it again; without a name only new ones are due.
    if not book.state.unjudged:
        fix = "name one to run it again, or plan one: moot experiment plan --help"
        raise usage("no experiment waits to be run", fix, str(session.path))
    return book.state.unjudged


# ---------------------------------------------------------------- beside a finished run


def _beside(session: Session, bench: Bench, experiment: str, times: int | None) -> SeriesRun:
    """Run a series of its own, and keep it under `checks/`."""
    book = session.inner.book()
    series = run_again(book, bench, experiment, times=times)
    keep_series(session.path, book, experiment, series.runs, series.wrote)
    return series


def run_again(book: Book, bench: Bench, experiment: str, *, times: int | None = None) -> SeriesRun:
    """Run a whole series of an experiment from its blobs, controls first, and write nothing."""
    plan, content = plan_of(book, experiment), content_of(book.blobs)
    if times is not None:
        plan = msgspec.structs.replace(plan, k=times)
    blobs: dict[str, bytes] = {}
    runs: list[ExperimentRun] = []

    def read(sha256: str) -> bytes:
        return blobs[sha256] if sha256 in blobs else content(sha256)

    for slot in slots(plan.k):
        trial = bench.conduct(plan, slot, content, started_at=now())
        blobs |= trial.blobs
        runs.append(trial.event)
        # A control with the wrong result makes the series void, so its repetitions would be wasted time.
        if has_wrong_control(plan, tuple(runs), read):
            break
    return SeriesRun(experiment, tuple(runs), blobs, judge(plan, runs, read)[1])


def re_run(book: Book, bench: Bench | None, why_not: str = "") -> list[ReRun]:
    """Run every judged experiment again from its blobs and compare; without a bench only list them. Writes nothing."""
    reruns: list[ReRun] = []
    for experiment, facts in book.state.experiments.items():
        now = run_again(book, bench, experiment).verdict if bench is not None and facts.judged else None
        why = "" if now is not None else "never judged" if not facts.judged else why_not
        same = now == facts.verdict
        # A verdict that could not be computed again overturns nothing.
        falls = [] if same or now is None else list(_resting_on(book, experiment))
        reruns.append(ReRun(id=experiment, recorded=facts.verdict, now=now, same=same, why=why, falls=falls))
    return reruns


def _resting_on(book: Book, experiment: str) -> Iterator[str]:
    """Yield the sentences of the memo that cite an experiment, or a claim that it decides."""
    memo = book.state.memo
    # A sentence may cite the claim instead of the experiment that decided it.
    names = {experiment, *book.state.experiments[experiment].claims}
    for n, sentence in enumerate(memo.sentences if memo else (), 1):
        if names & {parse_reference(ref).id for ref in sentence.refs}:
            yield f"{memo.id if memo else ''}#s{n} {sentence.text}"


# ---------------------------------------------------------------- programs to run elsewhere


def write_files(session: Session, experiment: str | None, directory: Path) -> None:
    """Write the files of an experiment and of its controls into a new directory, to be run elsewhere.

    `experiment/`, `must_fail/` and `must_hold/` hold what lies in the work directory. Nothing is run.
    """
    book = session.inner.book()
    if experiment not in book.state.experiments:
        raise usage(
            f"no experiment {experiment!r} in this run", "see `moot experiment show RUN`", "--out DIR"
        )
    # Never over existing files: the program may have been edited there.
    if directory.exists():
        raise usage(f"{directory} is there", "name a directory that is not there yet", "--out DIR")
    plan, content = plan_of(book, experiment), content_of(book.blobs)
    subjects: dict[str, tuple[NamedBlob, ...]] = {"experiment": plan.files}
    subjects |= {f"must_{control.must}": control.files for control in plan.controls}
    for name, files in subjects.items():
        (directory / name).mkdir(parents=True)
        named = {blob.name: blob.sha256 for blob in plan.inputs}
        named |= {blob.name: blob.sha256 for blob in files}
        for file, sha256 in named.items():
            (directory / name / file).write_bytes(content(sha256))
