"""Plans, outputs and limits that are beyond all bounds: a clear refusal, and a run that can be read ever after."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from ledger.events import ExperimentPlanned
from ledger.events.experiments import ExperimentLimits, ExperimentRun, Predicate
from ledger.state.experiments import Slot
from ledger.store.store import RunStore
from moot.terminal import streams
from moot.view.experiments import (
    CheckShown,
    Experiments,
    ExperimentShown,
    ProgramFile,
    RunShown,
    experiments_text,
)
from rounds.experiments import bench as bench_module
from rounds.run.experiments import conduct
from rounds.run.human_actions import allow_experiment
from tests.cli.conftest import Moot, content
from tests.protocols.crux_seats import play
from tests.rounds.experimenting import BENCH, CLAIM, READS, WORLD, planned, sandbox_or_skip, with_claims

PLAN: Final = ("--claim", CLAIM, "--program", "test.py", "--input", "data.txt",
               "--must-fail", "data.txt=bad.txt", "--must-hold", "data.txt=other.txt")  # fmt: skip
BEYOND: Final = {
    "a tolerance that is a word": ("--pass-if", "stdout near 3.14 +- abc"),
    "a tolerance with an exponent": ("--pass-if", "stdout near 3.14 +- 1e9"),
    "a tolerance below zero": ("--pass-if", "stdout near 3.14 +- -1"),
    "a tolerance of too many places": ("--pass-if", "stdout near 3.14 +- 0.12345678901"),
    "a tolerance that is no number": ("--pass-if", "stdout near 3.14 +- NaN"),
    "a tolerance of too many digits": ("--fail-if", f"stdout near 3.14 +- {'9' * 600}"),
    "a number nobody can reckon with": ("--pass-if", "stdout near 1e999999999999 +- 1"),
    "a bound nobody can reckon with": ("--pass-if", "stdout >= 1e999999999999"),
    "a bound next to nothing": ("--pass-if", "json:/x <= -1e-999999999999"),
    "a long value": ("--pass-if", f"stdout = {'x' * 5_000}"),
    "a value with an escape code": ("--pass-if", "stdout = a\x1b[31mb"),
    "a value with a null": ("--pass-if", "stdout = a\x00b"),
    "a value that is no text": ("--pass-if", "stdout = a\udcffb"),
    "a long pointer": ("--pass-if", f"json:/{'x' * 600} = 1"),
    "a pointer with an escape code": ("--pass-if", "json:/a\x1bb = 1"),
    "a huge seed": ("--seed", str(10**30)),
    "a seed beyond whole numbers of JSON": ("--seed", str(2**53)),
    "seconds without end": ("--seconds", str(10**30)),
    "memory without end": ("--memory", str(10**30)),
    "a long word": ("--", "python3", "x" * 600),
    "many words": ("--", "python3", *["x"] * 2_000),
    "a word with an escape code": ("--", "python3", "a\x1b[31m"),
    "a word with a null": ("--", "python3", "a\x00"),
    "a word that is no text": ("--", "python3", "a\udcff"),
    "a question with an escape code": ("--question", "is it\x1b[31m so?"),
    "a long name": ("--by", "A" * 5_000),
    "a name with an escape code": ("--by", "A\x1b[31m"),
    "a claim with an escape code": ("--claim", "C-1\x1b"),
    "a long claim": ("--claim", "C" * 5_000),
    "a quote that stays open": ("--must-fail", "sh 'x"),
    "a control with an escape code": ("--must-fail", "python3 a\x1bb"),
    "a file with a space": ("--program", "a b.py"),
    "a file with an escape code": ("--program", "a\x1bb.py"),
}


@pytest.fixture
def crux(tmp_path: Path) -> Path:
    with_claims(tmp_path / "run")
    for name, text in (("data.txt", "good"), ("bad.txt", "bad"), ("other.txt", " good ")):
        (tmp_path / name).write_text(text)
    for name in ("test.py", "a b.py", "a\x1bb.py"):
        (tmp_path / name).write_text(READS)
    return tmp_path / "run"


@pytest.mark.parametrize("case", BEYOND)
def test_a_plan_beyond_all_bounds_is_refused(moot: Moot, crux: Path, case: str) -> None:
    before = content(crux)
    refusal = moot("experiment", "plan", crux, *PLAN, *BEYOND[case])
    assert refusal.code == 2, refusal.err
    assert "fault of moot" not in refusal.err
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", refusal.err)
    assert content(crux) == before


# ---------------------------------------------------------------- what a program prints

NUMBERS: Final = ("1e999999999999", "-1e1000000", "sNaN")
READING: Final = (
    ("experiment", "show"), ("status",), ("next",), ("report",), ("report", "--full"), ("claims",), ("decisions",),
    ("why", "E-1-1"), ("show", "E-1-1"), ("log",), ("check",), ("verify",), ("replay", "--re-execute"),
)  # fmt: skip


def _verb(moot: Moot, run: Path, words: tuple[str, ...]) -> tuple[int, str]:
    given = words[1:] if words[0] != "experiment" else ()
    head = words[:2] if words[0] == "experiment" else words[:1]
    answer = moot(*head, run, *given)
    return answer.code, answer.out + answer.err


@pytest.mark.parametrize("number", NUMBERS)
def test_a_run_can_be_read_whatever_a_program_printed(moot: Moot, tmp_path: Path, number: str) -> None:
    """The first of these ended next, report, show and resume with exit code 70, for ever."""
    sandbox_or_skip()
    session = with_claims(tmp_path / "run")
    wanted = Predicate(of="stdout", test="near", value="3.14", tolerance="0.5")
    exits = {code: Predicate(of="exit", test="equals", value=code) for code in ("0", "1")}
    program = (
        f"data = open('data.txt').read()\nprint({number!r} if data == 'good' else 3.14)\nexit(data == 'bad')"
    )
    experiment = planned(session, program, pass_if=(exits["0"], wanted), fail_if=(exits["1"],))
    allow_experiment(session, experiment)
    assert moot("experiment", "run", tmp_path / "run", experiment).code in (0, 1)
    runs = RunStore(tmp_path / "run").book().of(ExperimentRun)
    assert [run.control for run in runs].count(None) == 3, "both controls did what they must"
    for words in READING:
        code, text = _verb(moot, tmp_path / "run", words)
        assert code in (0, 1), f"{words}: {text}"
    assert moot("run", "--resume", tmp_path / "run", "--seats", "host").code in (0, 4)
    assert moot("check", tmp_path / "run").code == 0


HIDING: Final = r"""
import sys
words = "\x1b[2J\x1b]52;c;QUJD\x07\x9b31m\x00\x08\x7f\u202edetrevni\u2066\u200b\u2028\ufeff\r overwritten"
sys.stdout.buffer.write(words.encode() + b"\xff\xfe\x9b2J")
sys.stderr.buffer.write(words.encode() + b"\x1b[?1049h")
sys.exit(open("data.txt").read() != "good")
"""
UNSEEN: Final = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def test_no_control_character_of_a_program_is_ever_shown(moot: Moot, tmp_path: Path) -> None:
    sandbox_or_skip()
    session = with_claims(tmp_path / "run")
    experiment = planned(session, HIDING)
    allow_experiment(session, experiment)
    run = tmp_path / "run"
    shown = [moot("experiment", "run", run, experiment), moot("experiment", "show", run, experiment)]
    shown += [moot("report", run, "--html", tmp_path / "run.html"), moot("replay", run, "--re-run")]
    texts = [answer.out + answer.err for answer in shown]
    texts += [_verb(moot, run, words)[1] for words in READING]
    texts += [moot("experiment", "show", run, experiment, "--json").out, (tmp_path / "run.html").read_text()]
    assert "overwritten" in texts[1]
    # The same beside a run that is finished.
    done = with_claims(tmp_path / "done")
    play(done, WORLD)
    experiment = planned(done, HIDING)
    shown = [
        moot("experiment", "run", tmp_path / "done", experiment),
        moot("experiment", "show", tmp_path / "done", experiment),
    ]
    texts += [answer.out + answer.err for answer in shown]
    for text in texts:
        assert not UNSEEN.search(text.replace("\t", "")), repr(text)


def test_each_of_the_two_filters_holds_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """The text of an experiment needs no terminal's filter, and each terminal's filter needs no text's."""
    hostile = (
        "".join(map(chr, (*range(1, 10), *range(11, 32), *range(127, 160)))) + "\u202e\u2066\u2028\ufeff"
    )
    shown = ExperimentShown(
        id="E-1-1", by="critic", question="q", claims={}, argv=["python3"], pass_if=[], fail_if=[], controls=[],
        files=[ProgramFile("test.py", "0" * 64, hostile)], inputs=[], times=1, limits="", verdict="holds",
        shown_as="", command="", checks=[CheckShown(hostile, "", None, None, 1, "", hostile)],
        runs=[RunShown(1, None, "holds", "exit 0", hostile, hostile, "here", 1)],
    )  # fmt: skip
    assert not UNSEEN.search(experiments_text(Experiments("run", [], [shown])))
    for write in (streams.show, streams.err):
        write(f"begin{hostile}end")
        printed = capsys.readouterr()
        assert not UNSEEN.search(printed.out + printed.err)
        assert "end" in printed.out + printed.err


# ---------------------------------------------------------------- limits that nobody may ask for


def limits(wall: int, cpu: int, memory: int, output: int) -> ExperimentLimits:
    return ExperimentLimits(wall_seconds=wall, cpu_seconds=cpu, memory_bytes=memory, output_bytes=output)


UNLAWFUL: Final[dict[str, dict[str, Any]]] = {
    "a second in a lifetime": {"limits": limits(10**9, 10**9, 2**20, 65_536)},
    "all memory": {"limits": limits(5, 5, 10 * 10**12, 65_536)},
    "all output": {"limits": limits(5, 5, 2**20, 10**12)},
    "repetitions without end": {"k": 10**9},
    "a program by its path": {"argv": ("/bin/sh", "-c", "true")},
}


@pytest.mark.parametrize("case", UNLAWFUL)
def test_limits_that_check_refuses_are_refused_where_they_are_used(
    moot: Moot, tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ledger that was written by hand may ask for anything."""
    sandbox_or_skip()  # it tries itself out with the function that is replaced below
    session = with_claims(tmp_path / "run")
    experiment = planned(session, **UNLAWFUL[case])
    assert moot("check", tmp_path / "run").code == 1
    before = content(tmp_path / "run")
    refusal = moot("experiment", "run", tmp_path / "run", experiment)
    assert refusal.code == 2, refusal.err
    assert "E-1-1 is not run" in refusal.err
    assert content(tmp_path / "run") == before
    # A run that goes on does not stop at it: nothing is started, and the verdict is an error.
    monkeypatch.setattr(bench_module, "run_job", lambda *_: pytest.fail("a program was started"))
    allow_experiment(session, experiment)
    list(conduct(session, BENCH, experiment))
    assert RunStore(tmp_path / "run").state().experiments[experiment].verdict == "error"
    assert "the plan is refused" in moot("experiment", "show", tmp_path / "run", experiment).out


def test_a_file_that_is_not_what_was_planned_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs are held against their hashes before every repetition."""
    sandbox_or_skip()  # it tries itself out with the function that is replaced below
    session = with_claims(tmp_path / "run")
    experiment = planned(session)
    allow_experiment(session, experiment)
    monkeypatch.setattr("rounds.run.experiments.content_of", lambda _: lambda _: b"something else")
    monkeypatch.setattr(bench_module, "run_job", lambda *_: pytest.fail("a program was started"))
    (written,) = [event for events in [next(conduct(session, BENCH, experiment))] for event in events]
    stderr = session.run.blobs.read(written.stderr.kept)  # type: ignore[union-attr]
    assert stderr is not None
    assert b"is not the file that was planned" in stderr


def test_a_program_that_was_not_started_has_printed_nothing_but_why(tmp_path: Path) -> None:
    session = with_claims(tmp_path / "run")
    experiment = planned(session)
    plan = session.book().by_id[experiment]
    assert isinstance(plan, ExperimentPlanned)
    here = bench_module.Bench(BENCH.test)
    found = here.conduct(plan, Slot(None, 1), lambda _: b"something else", started_at=plan.at)
    run, why = found.event, found.blobs[found.event.stderr.kept]
    assert b"is not the file that was planned" in why
    assert (run.exit, run.stdout.bytes, run.stderr.bytes) == (None, 0, len(why))
    assert found.blobs[run.stdout.kept] == b""
