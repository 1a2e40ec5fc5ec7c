"""Programs that seats plan: their replies, checks of these, the resulting experiment, and blocks for briefs.

Each protocol decides which claim gets one, which role plans it and when it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import orjson
from msgspec import Meta

from ledger.events import ExperimentJudged, ExperimentPlanned, ExperimentRun
from ledger.events.envelope import DECIMAL_PATTERN, HowTested
from ledger.events.experiments import ExperimentControl, ExperimentLimits, NamedBlob, Predicate
from ledger.language.words import first_words
from ledger.plain_json import converted
from ledger.state.book import Book
from ledger.state.experiments import QUESTION_WORDS_MAX, plan_of, plan_problems
from ledger.state.state import EXPERIMENTS, INTERPRETER, State
from ledger.store.blobs import hash_of
from roles.prompt_set import bar
from roles.protocol import Step
from roles.replies import Part, Word
from rounds.protocols.step_table import by

RUN_HERE: Final[frozenset[HowTested]] = frozenset(("execution", "calculation"))
"""Kinds of claims that a program can settle, where experiments are on."""
MEMORY_BYTES: Final = 512 * 1024**2
OUTPUT_BYTES: Final = 65_536
SHOWN_CHARACTERS: Final = 2_000
"""Characters of a program's output that a brief shows."""
Text = Annotated[str, Meta(min_length=1, max_length=500)]


class ProgramText(Part, frozen=True, kw_only=True):
    """A file of a program."""

    name: Word
    text: Annotated[str, Meta(min_length=1, max_length=20_000)]


class ResultTest(Part, frozen=True, kw_only=True):
    """Something that must be so of a finished program; `pointer` is for json, `tolerance` for near."""

    of: Literal["exit", "stdout", "json"]
    test: Literal["equals", "matches", "at_least", "at_most", "near"]
    value: Text
    pointer: Text | None
    tolerance: Annotated[str, Meta(pattern=DECIMAL_PATTERN)] | None


class ProgramControl(Part, frozen=True, kw_only=True):
    """The same program on another subject: files in the place of its own, by name, and other words if any."""

    must: Literal["fail", "hold"]
    files: Annotated[tuple[ProgramText, ...], Meta(max_length=6)]
    argv: Annotated[tuple[Text, ...], Meta(max_length=20)] | None


class PlannedProgram(Part, frozen=True, kw_only=True):
    """A program that decides the claim, and what counts as holding and as failing."""

    files: Annotated[tuple[ProgramText, ...], Meta(min_length=1, max_length=6)]
    argv: Annotated[tuple[Text, ...], Meta(min_length=1, max_length=20)]
    pass_if: Annotated[tuple[ResultTest, ...], Meta(min_length=1, max_length=4)]
    fail_if: Annotated[tuple[ResultTest, ...], Meta(min_length=1, max_length=4)]
    controls: Annotated[tuple[ProgramControl, ...], Meta(min_length=2, max_length=2)]
    times: Annotated[int, Meta(ge=3, le=10)]
    seconds: Annotated[int, Meta(ge=1, le=120, description="time of one repetition")]


def plans_programs(state: State) -> bool:
    """Return whether the run was opened for experiments in a working sandbox; later permissions change no plan."""
    return state.opening.rules.get(EXPERIMENTS) in ("on", "ask")


# ---------------------------------------------------------------- the experiment


def wrong_program(step: Step, program: PlannedProgram, seed: int) -> list[str]:
    """Return why a program could decide nothing, whatever it wrote."""
    # The plan is made with placeholder ids: the rules judge the program, and the claim is checked elsewhere.
    return list(plan_problems(experiment(step, "C-1-1", "", program, "E-1-1", seed)))


def files_of(programs: Iterable[PlannedProgram]) -> Mapping[str, bytes]:
    """Return the files of programs and of their controls, by hash."""
    files = (
        file
        for program in programs
        for file in (*program.files, *(file_ for control in program.controls for file_ in control.files))
    )
    return {hash_of(file.text.encode()): file.text.encode() for file in files}


def experiment(
    step: Step, claim: str, testable_as: str, program: PlannedProgram, number: str, seed: int
) -> ExperimentPlanned:
    """Return the plan that a step hands in for a claim, as the ledger keeps it."""
    own = tuple(_named(file) for file in program.files)
    return ExperimentPlanned(
        **by(step),
        id=number,
        claims=(claim,),
        question=first_words(testable_as, QUESTION_WORDS_MAX),
        files=own,
        argv=program.argv,
        pass_if=converted(program.pass_if, tuple[Predicate, ...], from_attributes=True),
        fail_if=converted(program.fail_if, tuple[Predicate, ...], from_attributes=True),
        controls=tuple(
            ExperimentControl(
                must=control.must,
                # A control replaces files of the program by name, and keeps the others.
                files=tuple({file.name: file for file in (*own, *map(_named, control.files))}.values()),
                argv=control.argv or program.argv,
            )
            for control in program.controls
        ),
        # The number of repetitions is planned before any result, so a series cannot be stopped when it suits.
        k=program.times,
        limits=ExperimentLimits(
            wall_seconds=program.seconds,
            cpu_seconds=program.seconds,
            memory_bytes=MEMORY_BYTES,
            output_bytes=OUTPUT_BYTES,
        ),
        seed=seed,
    )


def _named(file: ProgramText) -> NamedBlob:
    return NamedBlob(name=file.name, sha256=hash_of(file.text.encode()))


# ---------------------------------------------------------------- what briefs say


def how_to_write(state: State, head: str) -> str:
    """Return the instructions for a program: what is installed, the limits, the tests, the controls, an example."""
    # The interpreter that the run recorded, since another machine may resume it with another Python.
    python = str(state.opening.rules.get(INTERPRETER) or "Python 3")
    return HOW_TO_WRITE.format(head=head, python=python, example=orjson.dumps(EXAMPLE).decode())


def shown_program(book: Book, experiment: str) -> tuple[str, str, tuple[int, ...]]:
    """Return a program whole: its words, files, predicates and controls."""
    plan = plan_of(book, experiment)
    lines = [f"{plan.id} · a program for {', '.join(plan.claims)}, to be run {plan.k} times"]
    lines += [bar("words", " ".join(plan.argv))]
    lines += [bar(f"file {file.name}", _content(book, file.sha256)) for file in plan.files]
    for name, tests in (("holds if", plan.pass_if), ("fails if", plan.fail_if)):
        lines += [bar(name, _test(test)) for test in tests]
    for control in plan.controls:
        lines += [bar(f"must {control.must}", " ".join(control.argv))]
        lines += [
            bar(f"with {file.name}", _content(book, file.sha256))
            # Files that the control shares with the program are shown above already.
            for file in control.files
            if file not in plan.files
        ]
    return plan.id, "\n".join(lines), (plan.seq,)


def ran(book: Book, events: Iterable[ExperimentJudged]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield results of experiments, with the output of the first repetition."""
    for event in events:
        times = event.counts.holds + event.counts.fails + event.counts.inconclusive + event.counts.error
        lines = [f"{event.of} · run {times} times in a sandbox: {event.verdict}"]
        lines += [
            bar("claim", f"{change.claim_id} is {change.to}, {event.class_ or 'by no class'}")
            for change in event.changes
        ]
        first = next(
            # The first repetition stands for all: they came out alike, or the verdict says that they did not.
            (run for run in book.of(ExperimentRun) if run.of == event.of and run.control is None),
            None,
        )
        if first is not None:
            ended = f"exit {first.exit}" if first.exit is not None else f"signal {first.signal}"
            lines += [
                bar("ended", ended),
                # Output is cut for the prompt; the ledger keeps it whole, up to the limit of a run.
                bar("repetition 1 wrote", _content(book, first.stdout.kept)[:SHOWN_CHARACTERS]),
            ]
        yield event.of, "\n".join(lines), (book.by_id[event.of].seq, event.seq)


def _content(book: Book, sha256: str) -> str:
    return (book.blobs.read(sha256) or b"").decode("utf-8", "replace")


def _test(predicate: Predicate) -> str:
    where = f"{predicate.of} {predicate.pointer}" if predicate.pointer else predicate.of
    within = f" within {predicate.tolerance}" if predicate.tolerance else ""
    return f"{where} {predicate.test.replace('_', ' ')} {predicate.value}{within}"


EXAMPLE: Final[dict[str, Any]] = {
    "files": [
        {
            "name": "test.py",
            "text": "import json, sys\n"
            "keys = json.load(open('keys.json'))\n"
            "made = list(dict.fromkeys(keys)) if sys.argv[1] == 'dict' else keys\n"
            "made = made if sys.argv[1] != 'turned' else keys[::-1]\n"
            "print(made)\n"
            "sys.exit(0 if made == keys else 3)\n",
        },
        {"name": "keys.json", "text": '["b", "c", "a"]'},
    ],
    "argv": ["python3", "test.py", "dict"],
    "pass_if": [{"of": "exit", "test": "equals", "value": "0", "pointer": None, "tolerance": None}],
    "fail_if": [{"of": "exit", "test": "equals", "value": "3", "pointer": None, "tolerance": None}],
    "controls": [
        {"must": "fail", "files": [], "argv": ["python3", "test.py", "turned"]},
        {"must": "hold", "files": [], "argv": ["python3", "test.py", "list"]},
    ],
    "times": 3,
    "seconds": 20,
}
"""Example program of the brief; the tests run it."""
HOW_TO_WRITE: Final = """\
{head}
installed | {python} as python3 with its standard library and nothing else, and a POSIX shell
not there | network, home, packages
limits | `seconds` of time (at most 120) and as much of the processor, 512 MiB of memory, 32 processes, 64 MiB of files
`files` are at most 6 texts with plain names. They lie in the work directory, where the program starts and may write;
every run begins with a fresh one. `argv` is the words to run, without a shell: python3 or sh and a file of yours, or
`./name` of a script that begins with #!. MOOT_SEED is in the environment: take chance from it, so that runs repeat.
Build the smallest subject that would show the claim to be false if it is. Print what you measure, not a verdict, and
less than 64 KiB: of more than that no test can be read.
`pass_if` (the claim holds) and `fail_if` (it fails) are lists of tests, all of a list must be so, never both lists:
`of` exit (the exit code), stdout (all that was printed) or json (all that was printed is one JSON document, and
`pointer` such as /lost names the place in it); `test` equals, at_least, at_most, near (a number within `tolerance`), or
matches (a pattern of RE2, found in a line; never one that an empty text matches); `value` is a text, for numbers too,
"0" or "12.5"; `pointer` is null but for json, `tolerance` null but for near.
A program that breaks down must be neither: exit code 1 is also what Python ends with at an error, so give another one.
`controls`: two, the same program on a subject of which the result is known. The one that must `fail` is such that the
claim is false there, so that `fail_if` is so; the one that must `hold` is such that it is true. For each give the
`files` that are other, by the same names, or the other `argv`; never the experiment itself. They are run first. If one
comes out otherwise the test decides nothing. Then it is run `times` times (3 to 10), and all must come out alike.
A program that is refused comes back with every reason, and may be mended.
Example, for "a dictionary keeps the order in which keys were put in":
{example}"""
"""Text in the brief of a role that writes a program."""
