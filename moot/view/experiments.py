"""Experiments of a run for people and machines: program, output, repetitions, environment, verdict."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ledger.events import Amendment, ExperimentPlanned
from ledger.events.experiments import ExperimentRun, Predicate
from ledger.plain_text import counted, visible
from ledger.result import Result
from ledger.state.book import Blobs, Book
from ledger.state.experiments import OutputMissing, content_of, plan_of, planned_note, runs_of, verdict_of
from moot.view.marks import claim_mark, shown_as as class_shown, times_run
from moot.view.text import WIDTH, folded, joined

TEXT_MAX = 4_000
"""Maximum characters shown of a program or an output; the blob has the rest."""
LINES_SHOWN = 20
"""Maximum lines of a file or an output on a terminal."""
_TESTS = {"equals": "=", "matches": "~", "at_least": ">=", "at_most": "<=", "near": "near"}


class ProgramFile(Result, frozen=True):
    """A file of an experiment; `text` is null when its blob is not here, and cut where it is long."""

    name: str
    sha256: str
    text: str | None


class RunShown(Result, frozen=True):
    """One run: `verdict` by the plan's predicates, `ended` in words, `where` the interpreter and the sandbox."""

    n: int
    control: str | None
    verdict: str
    ended: str
    stdout: str
    stderr: str
    where: str
    ms: int


class CheckShown(Result, frozen=True):
    """A series that was run beside the ledger, in `file`.

    `verdict` is computed from its runs; it is null where `problem` says that they cannot be believed. `recorded` is
    the ledger's verdict, null before the first.
    """

    file: str
    at: str
    verdict: str | None
    recorded: str | None
    repetitions: int
    where: str
    problem: str | None


class ExperimentShown(Result, frozen=True):
    """`shown_as` is the class as people read it: ran ×3, stated, or empty before a verdict. `command` runs it again."""

    id: str
    by: str
    question: str
    claims: dict[str, str]
    files: list[ProgramFile]
    inputs: list[ProgramFile]
    argv: list[str]
    pass_if: list[str]
    fail_if: list[str]
    controls: list[str]
    times: int
    limits: str
    runs: list[RunShown]
    verdict: str | None
    shown_as: str
    checks: list[CheckShown]
    command: str


class Experiments(Result, frozen=True):
    """`events`: ids (or `@seq`) of what the call wrote; `experiments`: those that it names, or all."""

    run: str
    events: list[str]
    experiments: list[ExperimentShown]


def experiment_of(
    run: str, book: Book, experiment: str, checks: Sequence[CheckShown] = ()
) -> ExperimentShown:
    """Return an experiment in its present state. Raises `LookupError` when it is not planned."""
    plan, facts = plan_of(book, experiment), book.state.experiments[experiment]
    return ExperimentShown.from_parts(
        plan,
        facts,
        by=planner(book, experiment),
        claims={claim: claim_mark(book, claim).plain for claim in plan.claims},
        files=[ProgramFile.from_parts(file, text=_text(file.sha256, book.blobs)) for file in plan.files],
        inputs=[ProgramFile.from_parts(file, text=_text(file.sha256, book.blobs)) for file in plan.inputs],
        pass_if=[predicate_text(predicate) for predicate in plan.pass_if],
        fail_if=[predicate_text(predicate) for predicate in plan.fail_if],
        controls=list(_controls(plan)),
        times=plan.k,
        limits=f"{plan.limits.wall_seconds} s, {plan.limits.memory_bytes // 1024**2} MiB, no network",
        runs=[_run(plan, execution, book.blobs) for execution in runs_of(book, experiment)],
        shown_as=shown_as(book, experiment),
        checks=checks,
        command=f"moot experiment run {shlex.quote(run)} {experiment}"
        + (f" --times {plan.k}" if facts.judged else ""),
    )


def planner(book: Book, experiment: str) -> str:
    """Return who planned an experiment: a role, or the name of the person."""
    by = plan_of(book, experiment).by
    note_text = planned_note(experiment)
    # The name of the person is only in the note that the verb wrote next to the plan.
    named = (
        note.name for note in book.of(Amendment) if note.reason == note_text and note.by == by == "human"
    )
    return next((name for name in named if name), by)


def shown_as(book: Book, experiment: str) -> str:
    """Return the evidence level of a verdict for people: `ran ×k` after k repetitions with one result."""
    facts = book.state.experiments.get(experiment)
    class_ = facts.class_ if facts is not None else None
    return class_shown(class_, times_run(book, experiment)) if class_ else ""


def test_text(book: Book, experiment: str) -> str:
    """Return an experiment in a few words: `E-2-1 holds (ran ×3)`."""
    facts = book.state.experiments.get(experiment)
    came_to = (facts.verdict if facts is not None else None) or "not run"
    # A control that comes out wrong ends the series before its first repetition.
    if came_to == "error" and not times_run(book, experiment):
        came_to = "not run because its control went wrong"
    class_text = shown_as(book, experiment)
    return f"{experiment} {came_to} ({class_text})" if class_text else f"{experiment} {came_to}"


def predicate_text(predicate: Predicate) -> str:
    """Return a predicate in the notation in which people write it."""
    where = f"{predicate.of}:{predicate.pointer}" if predicate.pointer else predicate.of
    within = f" +- {predicate.tolerance}" if predicate.tolerance is not None else ""
    return f"{where} {_TESTS[predicate.test]} {predicate.value}{within}"


def ended_text(plan: ExperimentPlanned, run: ExperimentRun) -> str:
    """Return how a run ended, in words."""
    if run.exit is not None:
        return f"exit {run.exit}"
    if run.signal is not None:
        return f"signal {run.signal}"
    # A run that took no time is one whose program never started.
    if run.ms == 0:
        return "not started"
    # The sandbox kills a program at its time limit and reports neither exit code nor signal.
    if run.ms >= plan.limits.wall_seconds * 1000:
        return f"ended after {plan.limits.wall_seconds} s"
    return "ended at a limit of memory, processes, disk or output"


def _controls(plan: ExperimentPlanned) -> Iterator[str]:
    files = {file.name: file.sha256 for file in plan.inputs} | {file.name: file.sha256 for file in plan.files}
    for control in plan.controls:
        # A control that replaces a file differs by its hash, even where the name is the same.
        other = [file.name for file in control.files if files.get(file.name) != file.sha256]
        words = [f"another {', '.join(other)}"] if other else []
        words += [shlex.join(control.argv)] if control.argv != plan.argv else []
        yield f"must {control.must}: {'; '.join(words)}"


def _run(plan: ExperimentPlanned, run: ExperimentRun, blobs: Blobs) -> RunShown:
    return RunShown.from_parts(
        run,
        verdict=_verdict(plan, run, blobs),
        ended=ended_text(plan, run),
        stdout=_text(run.stdout.kept, blobs) or "",
        stderr=_text(run.stderr.kept, blobs) or "",
        where=where_text(run),
    )


def _verdict(plan: ExperimentPlanned, run: ExperimentRun, blobs: Blobs) -> str:
    try:
        return verdict_of(plan, run, content_of(blobs))
    # A redacted output cannot be judged again; the recorded verdict stays on the ledger.
    except OutputMissing:
        return "unknown: its output was removed"


def where_text(run: ExperimentRun) -> str:
    """Return interpreter, platform and sandbox of a run."""
    here = run.environment
    return f"{here.interpreter}, {here.platform}, {here.sandbox} {here.sandbox_version or ''}".strip()


def _text(sha256: str, blobs: Blobs) -> str | None:
    content = blobs.read(sha256)
    # A program may print megabytes, and it may print bytes that are not UTF-8.
    return None if content is None else content.decode("utf-8", "replace")[:TEXT_MAX]


def experiments_text(experiments: Experiments, width: int = WIDTH) -> str:
    """Return what `moot experiment show` prints."""
    if not experiments.experiments:
        return "no experiment is planned in this run\n"
    return joined(
        line
        for experiment in experiments.experiments
        for line in (*_lines(experiments.run, experiment, width), "")
    )


def _lines(run: str, experiment: ExperimentShown, width: int) -> Iterator[str]:
    beside = [f"{check.verdict} beside the run" for check in experiment.checks if check.verdict]
    came_to = experiment.verdict or "".join(beside[-1:])
    class_text = f" ({experiment.shown_as})" if experiment.shown_as else ""
    yield f"{experiment.id}  {came_to or 'not run yet'}{class_text}   planned by {experiment.by}"
    yield from folded(f"asks      {experiment.question}", 2, width)
    yield from folded(
        f"decides   {', '.join(f'{claim} ({status})' for claim, status in experiment.claims.items())}",
        2,
        width,
    )
    yield from folded(
        f"runs      {shlex.join(experiment.argv)}   ({experiment.times} times, {experiment.limits})", 2, width
    )
    yield from folded(f"holds if  {' and '.join(experiment.pass_if)}", 2, width)
    yield from folded(f"fails if  {' and '.join(experiment.fail_if)}", 2, width)
    for control in experiment.controls:
        yield from folded(f"control   {control}", 2, width)
    for file in (*experiment.files, *experiment.inputs):
        yield f"  ── {file.name}"
        # Redaction removes blobs, and the plan that names them stays.
        yield from _quoted("(its blob is not here)" if file.text is None else file.text)
    for execution in experiment.runs:
        name = (
            f"repetition {execution.n}" if execution.control is None else f"{execution.control} {execution.n}"
        )
        yield f"  ▸ {name}: {execution.verdict}   {execution.ended}, {execution.ms} ms, {execution.where}"
        yield from _quoted(execution.stdout)
        yield from _quoted(execution.stderr)
    for check in experiment.checks:
        # A damaged series next to the ledger must not pass for a result.
        if check.problem is not None:
            # File names and problems come from the disk and may hold control characters.
            yield f"  ✗ {visible(check.file)}: {visible(check.problem)}"
            yield f"    move the series of {experiment.id} away from checks/, and run it again"
        if check.verdict is None:
            continue
        same = (
            "as recorded" if check.verdict == check.recorded else f"recorded: {check.recorded or 'nothing'}"
        )
        repetitions = counted(check.repetitions, "repetition")
        yield f"  beside the run, {check.at[:10]}: {check.verdict} in {repetitions} ({same})"
    yield f"  {'again' if came_to else 'run it'}: {experiment.command}"
    # Without a sandbox here, a person can run the files elsewhere and hand in the result.
    if not came_to:
        named = shlex.quote(run)
        claim = next(iter(experiment.claims), "C-ID")
        show = f"moot experiment show {named} {experiment.id} --out DIR"
        yield f"  elsewhere: {show} writes its files; then hand in the result:"
        yield f"             moot answer {named} {claim} --holds|--fails 'TEXT' --file OUTPUT"


def experiments_of(run: str, book: Book) -> list[ExperimentShown]:
    """Return all experiments of a run, in the order of their plans."""
    return [experiment_of(run, book, experiment) for experiment in book.state.experiments]


def verdict_sentence(experiment: ExperimentShown) -> str:
    """Return one sentence with verdict, counts, controls, claims and environment of an experiment."""
    claims = ", ".join(f"{claim} {status}" for claim, status in experiment.claims.items())
    if not experiment.runs:
        return f"No run of it is on the ledger. It decides {claims}."
    often = Counter(run.verdict for run in experiment.runs if run.control is None)
    counts = ", ".join(f"{verdict} {number} times" for verdict, number in often.items())
    controls = ", ".join(
        f"{run.control.replace('_', ' ')}: {run.verdict}" for run in experiment.runs if run.control
    )
    class_text = f" ({experiment.shown_as})" if experiment.shown_as else ""
    summary = f"It {experiment.verdict or 'is not judged'}{class_text}: {counts or 'no repetition'}"
    return f"{summary}; controls: {controls}; {claims}. {experiment.runs[-1].where}."


def output_of(experiment: ExperimentShown) -> RunShown | None:
    """Return the first repetition, or the control at which the series ended."""
    # A failed control ends the series before its first repetition.
    return next(
        (run for run in experiment.runs if run.control is None),
        experiment.runs[-1] if experiment.runs else None,
    )


def _quoted(text: str) -> Iterable[str]:
    """Return untrusted text line by line, with every control sequence made visible."""
    # Programs may print escape sequences that would clear or recolor the reader's terminal.
    lines = visible(text.rstrip("\n")).split("\n") if text.strip() else []
    more = [f"    … {counted(len(lines) - LINES_SHOWN, 'line')} more"] if len(lines) > LINES_SHOWN else []
    return (*(f"    {line}".rstrip() for line in lines[:LINES_SHOWN]), *more)
