"""Experiments: the runs of a planned program, and their verdict, by the predicates of the plan and nothing else.

    must_fail 1, must_hold 1   the controls, first; one that does not do what it must ends the series: error
    1, 2, … k                  the repetitions, each in a fresh sandbox: holds, fails, error, or inconclusive (both or
                               neither of pass_if and fail_if, or they cannot be read)
    an error                   a limit ended it, or it could not be started: what it wrote before says nothing
    experiment_judged          the same verdict every time, otherwise flaky; any error: error. Its class is
                               `reproduced` from 3 repetitions on, `ran` below; only holds and fails have one

A series is judged as soon as it is complete, and again after every run that is added later. Everything follows from the
ledger, so a series that was cut short goes on where it stopped and counts no run twice. Patterns are those of RE2:
matching takes time linear in the text, whatever the pattern is.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from importlib import import_module
from itertools import chain
from typing import Any, Final, Literal, NamedTuple, cast

import orjson

from ledger.events import Event, ExperimentJudged, ExperimentPlanned, ExperimentRun
from ledger.events.experiments import ClaimMove, Predicate, RunCounts
from ledger.language.words import word_count
from ledger.state.book import Blobs, Book
from ledger.state.lifecycle import STATUS_OF_RUN, TRANSITIONS

Verdict = Literal["holds", "fails", "inconclusive", "error"]
Judged = Literal["holds", "fails", "flaky", "inconclusive", "error"]
Content = Callable[[str], bytes]
"""The bytes of a blob by its hash."""

CONTROLS: Final[dict[Literal["must_fail", "must_hold"], Literal["fails", "holds"]]] = {
    "must_fail": "fails",
    "must_hold": "holds",
}
"""Control → the verdict that it must have, in the order in which they are run."""
LIMIT_SIGNALS: Final = frozenset({signal.SIGKILL, signal.SIGXCPU, signal.SIGXFSZ})
"""Signals by which the kernel ends a program at a limit."""
REPRODUCED_FROM: Final = 3
"""Repetitions with the same verdict, each in a fresh sandbox."""
PATTERN_CHARACTERS_MAX: Final = 500
NUMBER_CHARACTERS_MAX: Final = 1_000
NUMBER_EXPONENT_MAX: Final = 400
"""A number of a predicate or an output has at most this many digits before or after its point; doubles have 308."""
TIMES_MAX: Final = 20
"""Repetitions of a plan, or of one call."""
FILES_MAX: Final = 20
FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Of a file in the work directory: it leads nowhere else."""
QUESTION_WORDS_MAX: Final = 25
ARGV_MAX: Final = 64
SECONDS_MAX: Final = 600
"""Of one run, on the clock and of the processor."""
SERIES_SECONDS_MAX: Final = 3_600
"""Of all runs of a plan together, controls among them, if each takes as long as it may."""
MEMORY_BYTES_MAX: Final = 2 * 1024**3
OUTPUT_BYTES_MAX: Final = 1024**2


def planned_note(experiment: str | None) -> str:
    """Return the words of the note that records who planned an experiment; the plan has no field for a name."""
    return f"{experiment} is planned."


def verdict_of(plan: ExperimentPlanned, run: ExperimentRun, content: Content) -> Verdict:
    """Return the verdict of one repetition. One that a limit ended, not the program itself, is an error."""
    if run.exit is None and (run.signal is None or run.signal in LIMIT_SIGNALS):
        return "error"
    passes = _all_of(plan.pass_if, run, content)
    fails = _all_of(plan.fail_if, run, content)
    if passes is True and fails is False:
        return "holds"
    if fails is True and passes is False:
        return "fails"
    return "inconclusive"


def judge(
    plan: ExperimentPlanned, runs: Iterable[ExperimentRun], content: Content
) -> tuple[RunCounts, Judged, Literal["ran", "reproduced"] | None]:
    """Return counts, verdict and class of a plan's runs, controls among them; a missing repetition is an error."""
    all_runs = tuple(runs)
    repetitions = [verdict_of(plan, run, content) for run in all_runs if run.control is None]
    counts = RunCounts(
        holds=repetitions.count("holds"),
        fails=repetitions.count("fails"),
        inconclusive=repetitions.count("inconclusive"),
        error=repetitions.count("error"),
    )
    controls = [(run.control, verdict_of(plan, run, content)) for run in all_runs if run.control is not None]
    # A control that did not do what it must shows a test that cannot tell the two cases apart, so its
    # repetitions prove nothing.
    if set(controls) != set(CONTROLS.items()) or len(repetitions) < plan.k:
        return counts, "error", None
    if "error" in repetitions:
        return counts, "error", None
    if len(set(repetitions)) > 1:
        return counts, "flaky", None
    if "inconclusive" in repetitions:
        return counts, "inconclusive", None
    verdict: Judged = "holds" if "holds" in repetitions else "fails"
    return counts, verdict, "reproduced" if len(repetitions) >= REPRODUCED_FROM else "ran"


def unreadable_predicates(
    plan: ExperimentPlanned, runs: Iterable[ExperimentRun], content: Content
) -> tuple[str, ...]:
    """Name the predicates that could not be read in some run that came to an end, as `pass_if 1: json /lost`."""
    ended = [run for run in runs if run.exit is not None]
    named = [("pass_if", n, predicate) for n, predicate in enumerate(plan.pass_if, 1)]
    named += [("fail_if", n, predicate) for n, predicate in enumerate(plan.fail_if, 1)]
    return tuple(
        f"{name} {n}: {predicate.of} {predicate.pointer or ''}".rstrip()
        for name, n, predicate in named
        if any(_holds(predicate, run, content) is None for run in ended)
    )


def plan_problems(plan: ExperimentPlanned) -> Iterator[str]:
    """Yield why a plan could not decide anything, or asks for too much, before it runs: one sentence per problem."""
    yield from _bound_problems(plan)
    for name, predicates in (("pass_if", plan.pass_if), ("fail_if", plan.fail_if)):
        for number, predicate in enumerate(predicates, 1):
            yield from (f"{name} {number}: {problem}" for problem in _predicate_problems(predicate))
    if frozenset(plan.pass_if) <= frozenset(plan.fail_if) or frozenset(plan.fail_if) <= frozenset(
        plan.pass_if
    ):
        yield "pass_if and fail_if can hold together: no result would say anything; let each rule the other out"
    must = [control.must for control in plan.controls]
    if sorted(must) != ["fail", "hold"]:
        yield "controls: give two, one that must fail and one that must hold"
    subject = (_files(plan.files), plan.argv)
    for control in plan.controls:
        if (_files(control.files), control.argv) == subject:
            yield f"controls: the one that must {control.must} is the experiment itself; change its files or its words"
    if len({(_files(control.files), control.argv) for control in plan.controls}) < len(plan.controls):
        yield "controls: both are the same program with the same files; one of them must be wrong"


def _bound_problems(plan: ExperimentPlanned) -> Iterator[str]:
    limits, runs = plan.limits, plan.k + len(plan.controls)
    bounds = (
        (plan.k > TIMES_MAX, f"k: at most {TIMES_MAX} repetitions"),
        (word_count(plan.question) > QUESTION_WORDS_MAX, f"question: at most {QUESTION_WORDS_MAX} words"),
        (limits.wall_seconds > SECONDS_MAX, f"limits.wall_seconds: at most {SECONDS_MAX}"),
        (limits.cpu_seconds > SECONDS_MAX, f"limits.cpu_seconds: at most {SECONDS_MAX}"),
        (limits.memory_bytes > MEMORY_BYTES_MAX, f"limits.memory_bytes: at most {MEMORY_BYTES_MAX}"),
        (limits.output_bytes > OUTPUT_BYTES_MAX, f"limits.output_bytes: at most {OUTPUT_BYTES_MAX}"),
        (
            runs * limits.wall_seconds > SERIES_SECONDS_MAX,
            f"limits: {runs} runs of {limits.wall_seconds} seconds are more than {SERIES_SECONDS_MAX} in all",
        ),
    )
    yield from (problem for is_beyond, problem in bounds if is_beyond)
    inputs = [file.name for file in plan.inputs]
    names = [*inputs, *(file.name for file in plan.files)]
    yield from _program_problems("files", names, plan.argv, names)
    for control in plan.controls:
        where = f"the control that must {control.must}"
        own = [file.name for file in control.files]
        yield from _program_problems(where, own, control.argv, [*inputs, *own])


def _program_problems(
    where: str, names: Sequence[str], argv: Sequence[str], there: Sequence[str]
) -> Iterator[str]:
    for name in names:
        if not FILE_NAME.fullmatch(name):
            yield f"{where}: {name!r} is not a plain file name"
    if len(set(names)) < len(names) or len(names) > FILES_MAX:
        yield f"{where}: at most {FILES_MAX} files, each with a name of its own"
    if not argv or len(argv) > ARGV_MAX:
        yield f"{where}: give the program and at most {ARGV_MAX - 1} words"
    elif "/" in argv[0].removeprefix("./"):
        why = "is neither ./ and a file of the plan nor the name of a program"
        yield f"{where}: {argv[0]!r} {why}; say python3, sh or ./NAME"
    elif argv[0].startswith("./") and argv[0][2:] not in there:
        yield f"{where}: {argv[0]!r} is to be run, and no file is called {argv[0][2:]!r}"


def _files(files: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((file.name, file.sha256) for file in files))


def _predicate_problems(predicate: Predicate) -> Iterator[str]:
    if (predicate.of == "json") != (predicate.pointer is not None):
        yield "a JSON pointer belongs to `json` and to nothing else"
    if predicate.pointer and not predicate.pointer.startswith("/"):
        yield f"the JSON pointer {predicate.pointer!r} begins with no slash"
    if (predicate.test == "near") != (predicate.tolerance is not None):
        yield "a tolerance belongs to `near` and to nothing else"
    if predicate.test in ("at_least", "at_most", "near") and _number(predicate.value) is None:
        yield f"{predicate.value[:40]!r} is no number that can be compared"
    tolerance = None if predicate.tolerance is None else _number(predicate.tolerance)
    if predicate.tolerance is not None and (tolerance is None or tolerance < 0):
        yield f"the tolerance {predicate.tolerance[:40]!r} is no number from 0 on that can be compared"
    if predicate.of == "exit" and predicate.test == "matches":
        yield "an exit code is compared, not matched"
    if predicate.test == "matches":
        pattern = _pattern(predicate.value)
        if pattern is None:
            why = f"no pattern of RE2 (which has no look-around), or over {PATTERN_CHARACTERS_MAX} characters long"
            yield f"{predicate.value!r} is {why}"
        elif pattern.search("") is not None:
            fix = "say what must be printed, as in ^lost: 0$"
            yield f"{predicate.value!r} matches an empty text: it can never be false; {fix}"


def _all_of(predicates: Sequence[Predicate], run: ExperimentRun, content: Content) -> bool | None:
    """Return whether all predicates hold; null when one cannot be read and none is false."""
    results = [_holds(predicate, run, content) for predicate in predicates]
    if False in results:
        return False
    return None if None in results else True


def _holds(predicate: Predicate, run: ExperimentRun, content: Content) -> bool | None:
    match predicate.of:
        case "exit":
            return None if run.exit is None else _compares(predicate, Decimal(run.exit), str(run.exit))
        case "stdout" | "stderr":
            text = _text(run, predicate.of, content)
            return None if text is None else _compares(predicate, _number(text.strip()), text.rstrip("\n"))
        case "json":
            text = _text(run, "stdout", content)
            return None if text is None else _json_compares(predicate, text)


def _text(run: ExperimentRun, of: Literal["stdout", "stderr"], content: Content) -> str | None:
    """Return what a program wrote; null when not all of it was kept, because the rest could change the result."""
    output = run.stdout if of == "stdout" else run.stderr
    kept = content(output.kept)
    # Output beyond the limit is not kept. A predicate on the beginning could be false of the whole.
    return kept.decode("utf-8", "replace") if len(kept) == output.bytes else None


def _json_compares(predicate: Predicate, text: str) -> bool | None:
    try:
        value = _pointed(orjson.loads(text), predicate.pointer or "")
    except (orjson.JSONDecodeError, LookupError, ValueError):
        return None
    if isinstance(value, bool) or value is None:
        return _compares(predicate, None, {True: "true", False: "false", None: "null"}[value])
    if isinstance(value, int | float):
        return _compares(predicate, _number(str(value)), str(value))
    if isinstance(value, str):
        return _compares(predicate, None, value)
    return None


def _pointed(document: Any, pointer: str) -> Any:
    """Return the value at a JSON pointer (RFC 6901). Raises `LookupError` or `ValueError` when nothing is there."""
    value = document
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            # `int` would accept a sign or underscores, which RFC 6901 does not allow as an index.
            if not name.isdecimal():
                raise LookupError(pointer)
            value = cast("list[Any]", value)[int(name)]
        elif isinstance(value, dict):
            value = cast("dict[str, Any]", value)[name]
        else:
            raise LookupError(pointer)
    return value


def _compares(predicate: Predicate, number: Decimal | None, text: str) -> bool | None:
    wanted = _number(predicate.value)
    match predicate.test:
        case "equals":
            return number == wanted if number is not None and wanted is not None else text == predicate.value
        case "matches":
            pattern = _pattern(predicate.value)
            return None if pattern is None else pattern.search(text) is not None
        case "at_least":
            return None if number is None or wanted is None else number >= wanted
        case "at_most":
            return None if number is None or wanted is None else number <= wanted
        case "near":
            if number is None or wanted is None or predicate.tolerance is None:
                return None
            tolerance = _number(predicate.tolerance)
            return None if tolerance is None else abs(number - wanted) <= tolerance


def _number(text: str) -> Decimal | None:
    """Return a finite decimal number of an ordinary size, or null.

    A program chooses these digits. Beyond the bounds arithmetic overflows, and a run with such an output on its ledger
    could never be read again.
    """
    if len(text) > NUMBER_CHARACTERS_MAX:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > NUMBER_EXPONENT_MAX:
        return None
    return number


def _pattern(text: str) -> Any:
    """Return a compiled pattern; null when RE2 does not accept it."""
    re2: Any = import_module(
        "re2"
    )  # it has no types, and is loaded when something is judged and at no other time
    options = re2.Options()
    options.log_errors = False
    options.one_line = False
    options.posix_syntax = False
    if len(text) > PATTERN_CHARACTERS_MAX:
        return None
    try:
        return re2.compile(f"(?m){text}", options=options)
    except re2.error:
        return None


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


def slots(k: int, runs: tuple[ExperimentRun, ...] = (), earlier: int = 0) -> Iterator[Slot]:
    """Yield the missing runs of a series of `k` repetitions, numbered from `earlier` + 1."""
    there = {Slot(run.control, run.n) for run in runs}
    controls: tuple[Slot, ...] = tuple(Slot(control, earlier + 1) for control in CONTROLS)
    repetitions = (Slot(None, earlier + n) for n in range(1, k + 1))
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
