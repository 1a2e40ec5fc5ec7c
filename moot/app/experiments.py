"""Experiments of a run: run in the sandbox, written out to be run elsewhere, run again and compared.

The ledger of a finished run takes no more runs: later series go into files next to it, `checks/E-2-1.1.json`,
`checks/E-2-1.2.json` …, and the first result of a program is handed in as the person's answer. A series is a hash chain
that goes on where the ledger ended: its first line names the hash of the ledger's last line, or that of the series
before it. The verdict is not kept, it is computed from the runs and from what they wrote.

{"lines": ["{"prev":…", …], "hash": "<sha256 of the last line>", "wrote": {"<sha256>": "text"}, "wrote_bytes": {}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ledger.events import Event, ExperimentPlanned
from ledger.events.experiments import ExperimentRun, NamedBlob
from ledger.events.ids import MENTION, parse_reference
from ledger.format.canonical import Head, decode, encode, line_hash, seal
from ledger.plain_json import decoded
from ledger.state.book import Book
from ledger.state.experiments import (
    TIMES_MAX,
    Judged,
    Slot,
    content_of,
    has_wrong_control,
    judge,
    plan_of,
    plan_problems,
    slots,
)
from ledger.state.lifecycle import WEIGHT
from ledger.store import disk
from ledger.store.blobs import hash_of
from ledger.store.disk import read_plain, refuse_link, writing
from ledger.store.lock import DriverLease
from moot.app.seats import Agreed, bench_for
from moot.app.session import Session
from moot.environment import now
from moot.errors import MootError, usage
from moot.view.experiments import CheckShown, where_text
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
    times: int | None,
    name: str | None,
    agreed: Agreed | None,
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
                results += _beside(session, bench, experiment, times, name)
                continue
            judged = bool(book.state.experiments[experiment].judged)
            # A judged experiment gets its planned count once more; None lets `conduct` finish the series that was
            # begun.
            more = times if times is not None else plan_of(book, experiment).k if judged else None
            written: list[Event] = list(human_actions.allow_experiment(session.inner, experiment, name))
            for events in conduct(session.inner, bench, experiment, times=more):
                # A series may take minutes: without a sign of life another process would take the driver for dead.
                lease.beat()
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


def _beside(
    session: Session, bench: Bench, experiment: str, times: int | None, person: str | None
) -> Iterator[SeriesRun | tuple[Event, ...]]:
    """Run a series of its own, keep it under `checks/`, and hand in its result on claims that no person measured."""
    book = session.inner.book()
    series, facts = run_again(book, bench, experiment, times=times), book.state.experiments[experiment]
    keep_series(session.path, book, experiment, series.runs, series.wrote)
    yield series
    if (series.verdict != "holds" and series.verdict != "fails") or facts.judged:
        return
    text = f"{experiment} was run beside the finished run: the claim {series.verdict}."
    for name in facts.claims:
        claim = book.state.claims[name]
        # What was measured keeps its result, or a series could be repeated until one pleases.
        if claim.status != "superseded" and claim.standing.weight < WEIGHT["measured"]:
            yield human_actions.answer(session.inner, name, text, person, result=series.verdict)


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
    plan, content = find_experiment(book, experiment or ""), content_of(book.blobs)
    # Never over existing files: the program may have been edited there.
    if directory.exists():
        raise usage(f"{directory} is there", "name a directory that is not there yet", "--out DIR")
    subjects: dict[str, tuple[NamedBlob, ...]] = {"experiment": plan.files}
    subjects |= {f"must_{control.must}": control.files for control in plan.controls}
    for name, files in subjects.items():
        (directory / name).mkdir(parents=True)
        named = {blob.name: blob.sha256 for blob in plan.inputs}
        named |= {blob.name: blob.sha256 for blob in files}
        for file, digest in named.items():
            (directory / name / file).write_bytes(content(digest))


CHECKS: Final = "checks"
FILE_BYTES_MAX: Final = 1 << 26
RUNS_MAX: Final = TIMES_MAX + 2  # the controls
_NAME: Final = re.compile(rf"{MENTION}\.([1-9][0-9]{{0,5}})\.json")


class CheckFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Content of a file under `checks/`. `wrote_bytes`: output that is not UTF-8, a character per byte."""

    lines: tuple[str, ...]
    hash: str
    wrote: dict[str, str]
    wrote_bytes: dict[str, str]

    def content(self) -> dict[str, bytes]:
        """Return what the programs wrote, by hash. Raises `UnicodeEncodeError`."""
        texts = {name: text.encode() for name, text in self.wrote.items()}
        return texts | {name: text.encode("latin-1") for name, text in self.wrote_bytes.items()}


class _BadCheck(Exception):
    """A file under `checks/` that no series wrote, or that was changed; the message says why."""


class _Series(NamedTuple):
    """A series with an intact chain and the outputs that its lines name."""

    runs: tuple[ExperimentRun, ...]
    wrote: Mapping[str, bytes]
    head: Head


def keep_series(
    path: Path, book: Book, experiment: str, runs: tuple[ExperimentRun, ...], wrote: Mapping[str, bytes]
) -> None:
    """Write a series beside a ledger, durably. Raises `WriteFailed`."""
    before = _series_files(path, experiment)
    number = max(before, default=0)
    start = _claimed_head(before[number]) if before else None
    # An unreadable predecessor must not block new work: the chain restarts at the ledger, and `checks_of` reports the
    # damaged file.
    start = start or Head(book.events[-1].seq, line_hash(encode(book.events[-1])))
    sealed = seal(runs, prev=start.hash, seq=start.seq + 1, at=now())
    texts: dict[str, str] = {}
    others: dict[str, str] = {}
    for name, content in wrote.items():
        try:
            texts[name] = content.decode()
        except UnicodeDecodeError:
            # Latin-1 maps each byte to one character, so any output survives JSON and comes back byte for byte.
            others[name] = content.decode("latin-1")
    kept = CheckFile(tuple(line.decode() for line in sealed.lines), sealed.head.hash, texts, others)
    directory = path / CHECKS
    with writing(directory):
        directory.mkdir(exist_ok=True)
        refuse_link(directory)
        content = msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n"
        disk.replace(directory / f"{experiment}.{number + 1}.json", [content])
        # The file's name is durable only once its directory is synced, and `checks/` itself only once the run is.
        disk.settle(directory)
        disk.settle(path)


def checks_of(path: Path, book: Book, experiment: str) -> list[CheckShown]:
    """Return the series that were run beside a run, in order, with verdicts computed now.

    A damaged file stays in the list and carries its problem.
    """
    plan, files = plan_of(book, experiment), _series_files(path, experiment)
    # A misnamed file is listed, not skipped: renaming a series must not make an unwelcome verdict disappear.
    checks = [
        _damaged(file, "its name is not one that moot gives")
        for file in sorted((path / CHECKS).glob(f"{experiment}.*"))
        if _NAME.fullmatch(file.name) is None
    ]
    before: _Series | None = None
    for number, file in sorted(files.items()):
        try:
            series = _read_series(file, plan)
        except _BadCheck as error:
            checks.append(_damaged(file, str(error)))
            before = None
            continue
        problem = (
            _broken_link(series, before, book) if number == 1 or before else _NO_BEFORE.format(number - 1)
        )
        checks.append(_check_shown(file, series, plan, book, problem))
        before = series
    return checks


_NO_BEFORE: Final = "series {} before it is missing or damaged"


def _check_shown(
    file: Path, series: _Series, plan: ExperimentPlanned, book: Book, problem: str | None
) -> CheckShown:
    repetitions = sum(run.control is None for run in series.runs)
    # A series may have been run with --times; one that a control ended has no repetitions.
    as_run = msgspec.structs.replace(plan, k=repetitions or plan.k)
    verdict = judge(as_run, series.runs, series.wrote.__getitem__)[1]
    return CheckShown(
        file=f"{CHECKS}/{file.name}",
        at=series.runs[-1].at,
        verdict=verdict,
        recorded=book.state.experiments[plan.id].verdict,
        repetitions=repetitions,
        where=where_text(series.runs[0]),
        problem=problem,
    )


def _damaged(file: Path, problem: str) -> CheckShown:
    return CheckShown(
        file=f"{CHECKS}/{file.name}",
        at="",
        verdict=None,
        recorded=None,
        repetitions=0,
        where="",
        problem=problem,
    )


def _series_files(path: Path, experiment: str) -> dict[int, Path]:
    """Return number → file for every series of an experiment."""
    named = ((_NAME.fullmatch(file.name), file) for file in (path / CHECKS).glob(f"{experiment}.*.json"))
    return {int(match[1]): file for match, file in named if match}


def _claimed_head(file: Path) -> Head | None:
    """Return where a file's chain claims to end; None where it cannot be read."""
    try:
        kept = decoded(read_plain(file, FILE_BYTES_MAX), CheckFile)
        return Head(decode(kept.lines[-1].encode()).seq, kept.hash)
    except (OSError, ValueError, IndexError):
        return None


def _read_series(file: Path, plan: ExperimentPlanned) -> _Series:
    """Read a series and check its names, order, hashes and outputs. Raises `_BadCheck`."""
    try:
        kept = decoded(read_plain(file, FILE_BYTES_MAX), CheckFile)
        # One line above the limit is enough to see that there are too many, without decoding a hostile file whole.
        lines = [line.encode() for line in kept.lines[: RUNS_MAX + 1]]
        events = [decode(line) for line in lines]
        wrote = kept.content()
    except OSError as error:
        raise _BadCheck(error.strerror or str(error)) from None
    except ValueError as error:  # `NotJson`, `NotCanonical`, or text that is no Unicode
        raise _BadCheck(f"it is not what moot writes there: {error}") from None
    runs = tuple(event for event in events if isinstance(event, ExperimentRun))
    if not runs or len(runs) != len(kept.lines) or len(runs) > RUNS_MAX:
        raise _BadCheck("it does not hold the runs of a series")
    # The hashes alone would also hold for a series copied over from another experiment.
    if {run.of for run in runs} != {plan.id}:
        raise _BadCheck(f"it is a series of {runs[0].of}: it was moved")
    hashes = [line_hash(line) for line in lines]
    # Dropping, adding or editing a run in the middle breaks the chain here.
    if [run.prev for run in runs[1:]] != hashes[:-1] or kept.hash != hashes[-1]:
        raise _BadCheck("a run does not have the hash that the next one names: it was changed")
    # An intact chain may still omit failed repetitions, so the runs must fill the slots from the first one on.
    if [Slot(run.control, run.n) for run in runs] != list(islice(slots(TIMES_MAX), len(runs))):
        raise _BadCheck("the runs are not those of a whole series, in order")
    for name, content in wrote.items():
        if hash_of(content) != name:
            raise _BadCheck("what a program wrote does not have the hash that its run names: it was changed")
    for output in (output for run in runs for output in (run.stdout, run.stderr)):
        whole = wrote.get(output.kept)
        # A long output is kept in part (`kept` names the part, `sha256` the whole), so fewer bytes are in order here.
        if whole is None or len(whole) > output.bytes:
            raise _BadCheck("what a program wrote is missing")
        if len(whole) == output.bytes and output.kept != output.sha256:
            raise _BadCheck("an output and its hash contradict each other")
    return _Series(runs, wrote, Head(runs[-1].seq, hashes[-1]))


def _broken_link(series: _Series, before: _Series | None, book: Book) -> str | None:
    """Return why the first line of a series does not follow the ledger or the series before it; None if it does."""
    first = series.runs[0]
    if before is not None:
        # Number and hash both: a series that was removed from the middle leaves a gap.
        goes_on = (first.seq - 1, first.prev) == (before.head.seq, before.head.hash)
        return None if goes_on else "it does not go on from the series before it"
    # The ledger may have grown since (a finished run takes notes), so the link is looked up where it points.
    if first.seq <= len(book.events) and first.prev == line_hash(encode(book.events[first.seq - 1])):
        return None
    return "it was run beside another ledger: it was moved, or the ledger was rewritten"
