"""Experiments of a run for people and machines: the program, what it wrote, how often, where, what it came to."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ledger.events import Amendment, ExperimentPlanned
from ledger.events.experiments import ExperimentRun, Predicate
from ledger.interchange.markdown import block, code, inline
from ledger.plain_text import counted, visible
from ledger.result import Result
from ledger.state.book import Blobs, Book
from ledger.state.experiments import planned_note, verdict_of
from ledger.state.series import OutputMissing, content_of, plan_of, runs_of
from moot.view.evidence import claim_mark, times_run
from moot.view.evidence import shown_as as class_shown
from moot.view.text import WIDTH, folded, joined

TEXT_MAX = 4_000
"""Characters of a program or an output that are shown; the blob has the rest."""
LINES_SHOWN = 20
REPORT_LINES, REPORT_BLOCK, REPORT_LEAST = 40, 30, 4
"""Lines of programs and output in a report: of all together, and the most and the least of one."""
"""Of a file or an output in a report."""
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
    """A series that was run beside the ledger, in `file`. `verdict` is computed from its runs; it is null where
    `problem` says that they cannot be believed. `recorded` is the ledger's verdict, null before the first."""

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
    """An experiment as it stands. Raises `LookupError` when it is not planned."""
    plan, facts = plan_of(book, experiment), book.state.experiments[experiment]
    return ExperimentShown(
        id=experiment,
        by=planner(book, experiment),
        question=plan.question,
        claims={claim: claim_mark(book, claim).plain for claim in plan.claims},
        files=[_file(one.name, one.sha256, book.blobs) for one in plan.files],
        inputs=[_file(one.name, one.sha256, book.blobs) for one in plan.inputs],
        argv=list(plan.argv),
        pass_if=[predicate_text(one) for one in plan.pass_if],
        fail_if=[predicate_text(one) for one in plan.fail_if],
        controls=list(_controls(plan)),
        times=plan.k,
        limits=f"{plan.limits.wall_seconds} s, {plan.limits.memory_bytes // 1024**2} MiB, no network",
        runs=[_run(plan, one, book.blobs) for one in runs_of(book, experiment)],
        verdict=facts.verdict,
        shown_as=shown_as(book, experiment),
        checks=list(checks),
        command=f"moot experiment run {shlex.quote(run)} {experiment}"
        + (f" --times {plan.k}" if facts.judged else ""),
    )


def planner(book: Book, experiment: str) -> str:
    """Who planned it: a role, or the person by the name that was given."""
    by = plan_of(book, experiment).by
    told = planned_note(experiment)
    named = (one.name for one in book.of(Amendment) if one.reason == told and one.by == by == "human")
    return next((name for name in named if name), by)


def shown_as(book: Book, experiment: str) -> str:
    """The class of a verdict as people read it: ran ×k for k repetitions that came out alike."""
    facts = book.state.experiments.get(experiment)
    if facts is None or facts.class_ is None:
        return ""
    return class_shown(facts.class_, times_run(book, experiment))


def test_told(book: Book, experiment: str) -> str:
    """An experiment in a few words: `E-2-1 holds (ran ×3)`."""
    facts = book.state.experiments.get(experiment)
    came_to = (facts.verdict if facts is not None else None) or "not run"
    shown = shown_as(book, experiment)
    return f"{experiment} {came_to} ({shown})" if shown else f"{experiment} {came_to}"


def predicate_text(one: Predicate) -> str:
    """A predicate as a person writes it."""
    where = f"{one.of}:{one.pointer}" if one.pointer else one.of
    within = f" +- {one.tolerance}" if one.tolerance is not None else ""
    return f"{where} {_TESTS[one.test]} {one.value}{within}"


def ended_text(plan: ExperimentPlanned, run: ExperimentRun) -> str:
    """How a run ended, in words."""
    if run.exit is not None:
        return f"exit {run.exit}"
    if run.signal is not None:
        return f"signal {run.signal}"
    if run.ms == 0:
        return "not started"
    if run.ms >= plan.limits.wall_seconds * 1000:
        return f"ended after {plan.limits.wall_seconds} s"
    return "ended at a limit of memory, processes, disk or output"


def _controls(plan: ExperimentPlanned) -> Iterator[str]:
    files = {one.name: one.sha256 for one in plan.inputs} | {one.name: one.sha256 for one in plan.files}
    for control in plan.controls:
        other = [one.name for one in control.files if files.get(one.name) != one.sha256]
        words = [f"another {', '.join(other)}"] if other else []
        words += [shlex.join(control.argv)] if control.argv != plan.argv else []
        yield f"must {control.must}: {'; '.join(words)}"


def _run(plan: ExperimentPlanned, run: ExperimentRun, blobs: Blobs) -> RunShown:
    return RunShown(
        n=run.n,
        control=run.control,
        verdict=_verdict(plan, run, blobs),
        ended=ended_text(plan, run),
        stdout=_text(run.stdout.kept, blobs) or "",
        stderr=_text(run.stderr.kept, blobs) or "",
        where=where_text(run),
        ms=run.ms,
    )


def _verdict(plan: ExperimentPlanned, run: ExperimentRun, blobs: Blobs) -> str:
    try:
        return verdict_of(plan, run, content_of(blobs))
    except OutputMissing:
        return "unknown: its output was removed"


def where_text(run: ExperimentRun) -> str:
    """Where a run took place."""
    here = run.environment
    return f"{here.interpreter}, {here.platform}, {here.sandbox} {here.sandbox_version or ''}".strip()


def _file(name: str, sha256: str, blobs: Blobs) -> ProgramFile:
    return ProgramFile(name=name, sha256=sha256, text=_text(sha256, blobs))


def _text(sha256: str, blobs: Blobs) -> str | None:
    content = blobs.read(sha256)
    return None if content is None else content.decode("utf-8", "replace")[:TEXT_MAX]


def experiments_text(found: Experiments, width: int = WIDTH) -> str:
    """What `moot experiment show` prints."""
    if not found.experiments:
        return "no experiment is planned in this run\n"
    return joined(line for one in found.experiments for line in (*_lines(found.run, one, width), ""))


def _lines(run: str, one: ExperimentShown, width: int) -> Iterator[str]:
    came_to = one.verdict or "not run yet"
    yield f"{one.id}  {came_to}{f' ({one.shown_as})' if one.shown_as else ''}   planned by {one.by}"
    yield from folded(f"asks      {one.question}", 2, width)
    yield from folded(
        f"decides   {', '.join(f'{claim} ({status})' for claim, status in one.claims.items())}", 2, width
    )
    yield from folded(f"runs      {shlex.join(one.argv)}   ({one.times} times, {one.limits})", 2, width)
    yield from folded(f"holds if  {' and '.join(one.pass_if)}", 2, width)
    yield from folded(f"fails if  {' and '.join(one.fail_if)}", 2, width)
    for control in one.controls:
        yield from folded(f"control   {control}", 2, width)
    for file in (*one.files, *one.inputs):
        yield f"  ── {file.name}"
        yield from _quoted("(its blob is not here)" if file.text is None else file.text)
    for made in one.runs:
        name = f"repetition {made.n}" if made.control is None else f"{made.control} {made.n}"
        yield f"  ▸ {name}: {made.verdict}   {made.ended}, {made.ms} ms, {made.where}"
        yield from _quoted(made.stdout)
        yield from _quoted(made.stderr)
    for check in one.checks:
        if check.problem is not None:
            yield f"  ✗ {visible(check.file)}: {visible(check.problem)}"
            yield f"    move the series of {one.id} away from checks/, and run it again"
        if check.verdict is None:
            continue
        same = (
            "as recorded" if check.verdict == check.recorded else f"recorded: {check.recorded or 'nothing'}"
        )
        yield f"  beside the run, {check.at[:10]}: {check.verdict} in {check.repetitions} repetitions ({same})"
    yield f"  {'again' if one.verdict else 'run it'}: {one.command}"
    if not one.verdict:
        named = shlex.quote(run)
        claim = next(iter(one.claims), "C-ID")
        yield f"  elsewhere: moot experiment show {named} {one.id} --out DIR writes its files; then hand in the result:"
        yield f"             moot answer {named} {claim} --holds|--fails 'TEXT' --file OUTPUT"


def experiments_of(run: str, book: Book) -> list[ExperimentShown]:
    """All experiments of a run, in the order of their plans."""
    return [experiment_of(run, book, one) for one in book.state.experiments]


def came_to_told(one: ExperimentShown) -> str:
    """What an experiment came to, how often, of which claim, and where: one sentence."""
    claims = ", ".join(f"{claim} {status}" for claim, status in one.claims.items())
    if not one.runs:
        return f"It was not run here. It decides {claims}."
    often = Counter(run.verdict for run in one.runs if run.control is None)
    counts = ", ".join(f"{verdict} {number} times" for verdict, number in often.items())
    controls = ", ".join(f"{run.control.replace('_', ' ')}: {run.verdict}" for run in one.runs if run.control)
    shown = f" ({one.shown_as})" if one.shown_as else ""
    found = f"It {one.verdict or 'is not judged'}{shown}: {counts or 'no repetition'}"
    return f"{found}; controls: {controls}; {claims}. {one.runs[-1].where}."


def output_of(one: ExperimentShown) -> RunShown | None:
    """The first repetition, or the control at which the series ended."""
    return next((run for run in one.runs if run.control is None), one.runs[-1] if one.runs else None)


def experiments_markdown(found: Iterable[ExperimentShown]) -> Iterator[str]:
    """Each experiment with its program, what it wrote and the command that runs it again; long ones are cut."""
    experiments = list(found)
    blocks = sum(len(one.files) + len(one.inputs) + bool(one.runs) for one in experiments)
    most = max(REPORT_LEAST, min(REPORT_BLOCK, REPORT_LINES // max(1, blocks)))
    for one in experiments:
        yield f"### {one.id}: {inline(one.question)}"
        yield ""
        yield inline(came_to_told(one))
        holds, fails = code(" and ".join(one.pass_if)), code(" and ".join(one.fail_if))
        yield f"Runs {code(shlex.join(one.argv))}; holds if {holds}, fails if {fails};"
        again = "Again" if one.verdict else "Run it"
        yield f"{inline('; '.join(one.controls))}. {again}: {code(one.command)}"
        for file in (*one.files, *one.inputs):
            yield from _block(file.name, "(its blob is not here)" if file.text is None else file.text, most)
        made = output_of(one)
        if made is not None:
            yield from _block(f"wrote, {made.ended}", made.stdout or made.stderr or "(nothing)", most)
        yield ""


def _block(name: str, text: str, most: int) -> Iterator[str]:
    lines = visible(text.rstrip("\n")).split("\n")
    more = len(lines) - most
    yield ""
    yield f"{inline(name)}:"
    yield ""
    yield block("\n".join(lines[:most]))
    if more > 0:
        yield ""
        yield f"({counted(more, 'line')} more: `moot experiment show`)"


def _quoted(text: str) -> Iterable[str]:
    """Text that a program or a seat wrote, line by line, with nothing in it that a terminal would obey."""
    lines = visible(text.rstrip("\n")).split("\n") if text.strip() else []
    more = [f"    … {len(lines) - LINES_SHOWN} lines more"] if len(lines) > LINES_SHOWN else []
    return (*(f"    {line}".rstrip() for line in lines[:LINES_SHOWN]), *more)
