"""`moot experiment`, and who says that programs are run: on the command line, in a real sandbox where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from msgspec import structs

from ledger.events import ExperimentJudged, ExperimentRun
from ledger.state.experiments import plan_of
from ledger.store.store import RunStore
from moot.app.experiments import re_run
from rounds.experiments.bench import bench_here
from rounds.run.experiments import conduct
from tests.cli.conftest import Moot, content
from tests.protocols.crux_seats import begin, contested, play, reply, submit
from tests.protocols.test_structured_programs import (
    Planner,
    begin as begin_structured,
    played as play_structured,
)
from tests.rounds.experimenting import BENCH, CLAIM, READS, WORLD, planned, sandbox_or_skip, with_claims


@pytest.fixture
def crux(tmp_path: Path) -> Path:
    """A run of crux with two claims, and a program with its data beside it."""
    with_claims(tmp_path / "run")
    (tmp_path / "test.py").write_text(READS)
    for name, text in (("data.txt", "good"), ("bad.txt", "bad"), ("other.txt", " good ")):
        (tmp_path / name).write_text(text)
    return tmp_path / "run"


@pytest.fixture
def sandbox() -> None:
    sandbox_or_skip()


PROGRAM = contested("execution", "execution")
PLAN = ("--claim", CLAIM, "--program", "test.py", "--input", "data.txt",
        "--must-fail", "data.txt=bad.txt", "--must-hold", "data.txt=other.txt")  # fmt: skip


def nothing_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without bubblewrap."""
    monkeypatch.setattr("rounds.experiments.bubblewrap.version", lambda: None)


@pytest.mark.usefixtures("sandbox")
def test_a_plan_is_written_run_and_shown(moot: Moot, crux: Path) -> None:
    said = moot("experiment", "plan", crux, *PLAN, "--by", "Ada", "--json").json
    assert said["events"][0] == "E-1-1"
    assert len(said["events"]) == 2  # and the note of who planned it
    assert (said["experiments"][0]["verdict"], said["experiments"][0]["by"]) == (None, "Ada")
    assert not RunStore(crux).book().of(ExperimentRun)  # a plan runs nothing
    done = moot("experiment", "run", crux, "--json")
    assert done.code == 0
    shown: dict[str, Any] = done.json["experiments"][0]
    assert (shown["verdict"], shown["shown_as"], shown["claims"]) == (
        "holds",
        "ran ×3",
        {CLAIM: "● ran ×3"},
    )
    assert f"{CLAIM}  ● ran ×3  raised by" in moot("claims", crux).out
    assert "○ pending → ● ran ×3 in E-1-1" in moot("show", crux, CLAIM).out
    assert [one["told"] for one in moot("why", crux, CLAIM, "--json").json["nodes"]] == [
        "● ran ×3",
        "experiment, holds, ran ×3",
    ]
    assert [run["verdict"] for run in shown["runs"]] == ["fails", "holds", "holds", "holds", "holds"]
    text = moot("experiment", "show", crux, "E-1-1").out
    for part in ("holds (ran ×3)", "test.py", "sys.exit(said != 'good')", "exit = 0", "must_fail 1: fails"):
        assert part in text
    assert f"moot experiment run {crux} E-1-1 --times 3" in text
    assert moot("check", crux).code == 0
    assert moot("replay", crux, "--re-execute").code == 0
    again = moot("experiment", "run", crux, "E-1-1", "--times", 2, "--json").json
    assert again["experiments"][0]["shown_as"] == "ran ×5"
    assert moot("claims", crux, "--json").json["claims"][0]["tested"] == "ran ×5"
    assert moot("check", crux).code == 0


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("--claim", "C-9-9", *PLAN[2:]), "no claim 'C-9-9'"),
        (PLAN[:6], "give two, one that must fail"),
        ((*PLAN, "--pass-if", "exit = 1"), "can hold together"),
        ((*PLAN, "--pass-if", "exit is 1"), "no predicate"),
        ((*PLAN, "--seconds", "1000"), "limits.wall_seconds"),
        ((*PLAN, "--memory", "4096"), "limits.memory_bytes"),
        (PLAN[:2], "say which claim and which program"),
        ((*PLAN, "--", "/bin/sh", "test.py"), "is neither ./ and a file"),
    ],
)
def test_a_plan_that_could_not_decide_is_refused(
    moot: Moot, crux: Path, words: tuple[str, ...], wrong: str
) -> None:
    before = content(crux)
    said = moot("experiment", "plan", crux, *words)
    assert said.code != 0
    assert wrong in said.err
    assert content(crux) == before


def test_without_a_sandbox_nothing_is_run_and_nothing_written(
    moot: Moot, crux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moot("experiment", "plan", crux, *PLAN)
    nothing_holds(monkeypatch)
    before = content(crux)
    said = moot("experiment", "run", crux)
    assert said.code == 2
    assert "bubblewrap" in said.err
    assert said.err.count("\n") == 1
    assert content(crux) == before


@pytest.mark.usefixtures("sandbox", "crux")
def test_a_series_beside_a_finished_run_is_handed_in_once(moot: Moot, tmp_path: Path) -> None:
    """Screens went on asking for the run, and nothing but `experiment show` knew what had come out."""
    play(with_claims(tmp_path / "done"), WORLD)
    done = tmp_path / "done"
    assert RunStore(done).state().finished
    assert moot("experiment", "plan", done, *PLAN).code == 0
    (experiment,) = RunStore(done).state().experiments
    assert moot("experiment", "show", done).out.startswith(f"{experiment}  not run yet")
    said = moot("experiment", "run", done, "--json")
    assert said.code == 0, said.err
    state, head = RunStore(done).state(), RunStore(done).head()
    assert state.claims[CLAIM].status == "tested_confirmed"
    assert [state.decisions[event].result for event in said.json["events"] if event.startswith("D-")] == [
        "holds"
    ]
    assert moot("experiment", "show", done).out.startswith(f"{experiment}  holds beside the run")
    assert "It was not run here" not in moot("report", done).out
    (check,) = said.json["experiments"][0]["checks"]
    assert (check["verdict"], check["recorded"], check["repetitions"]) == ("holds", None, 3)
    assert [path.name for path in (done / "checks").iterdir()] == [f"{experiment}.1.json"]
    moot("experiment", "run", done, experiment, "--times", 1)
    assert len(list((done / "checks").iterdir())) == 2
    assert RunStore(done).head() == head
    assert moot("check", done).code == 0
    assert moot("verify", done).code == 0
    assert moot("replay", done, "--re-execute").code == 0


def test_the_files_of_a_program_are_written_out_and_its_result_handed_in(moot: Moot, tmp_path: Path) -> None:
    play(begin(tmp_path / "run", experiments="ask"), PROGRAM)
    assert moot("experiment", "show", "run", "E-1-1", "--out", "there").code == 0
    assert {one.name for one in (tmp_path / "there").iterdir()} == {"experiment", "must_fail", "must_hold"}
    assert "sys.exit" in (tmp_path / "there" / "experiment" / "test.py").read_text()
    assert moot("experiment", "show", "run", "E-1-1", "--out", "there").code == 2  # nothing is written over
    (tmp_path / "out.txt").write_text("['b', 'c', 'a']")
    assert moot("answer", "run", "C-1-1", "Run elsewhere.", "--holds", "--file", "out.txt").code == 0
    assert RunStore(tmp_path / "run").state().claims["C-1-1"].status == "tested_confirmed"
    assert moot("check", "run").code == 0


# ---------------------------------------------------------------- the person's word for a run

ASKED = ("-q", "Which storage?", "--protocol", "crux", "--seats", "host", "--out", "new")


def rules(path: Path) -> dict[str, Any]:
    return dict(RunStore(path).state().opening.rules)


@pytest.mark.usefixtures("sandbox")
def test_the_word_is_recorded_when_a_run_is_opened(moot: Moot, tmp_path: Path) -> None:
    assert moot("run", *ASKED, "--experiments", "on").code == 4
    assert rules(tmp_path / "new")["experiments"] == "on"
    assert RunStore(tmp_path / "new").state().runs_programs
    assert moot("run", *ASKED[:-1], "off", "--experiments", "off").code == 4
    assert rules(tmp_path / "off")["experiments"] == "off"
    assert moot("run", "--resume", "off", "--experiments", "on", "--seats", "host").code == 4
    assert RunStore(tmp_path / "off").state().runs_programs
    assert moot("run", "--resume", "off", "--experiments", "off", "--seats", "host").code == 4
    assert not RunStore(tmp_path / "off").state().runs_programs
    assert moot("check", "off").code == 0
    assert moot("replay", "off", "--re-execute").code == 0


def test_without_a_sandbox_no_run_is_begun(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_holds(monkeypatch)
    said = moot("run", *ASKED, "--experiments", "on")
    assert said.code == 2
    assert "bubblewrap" in said.err
    assert not (tmp_path / "new").exists()
    assert moot("run", *ASKED).code == 4  # what nobody asked for needs no sandbox


@pytest.mark.usefixtures("sandbox")
def test_a_protocol_without_claims_says_so(moot: Moot, tmp_path: Path) -> None:
    said = moot(
        "run",
        "-q",
        "Which?",
        "--protocol",
        "debate",
        "--seats",
        "host",
        "--out",
        "new",
        "--experiments",
        "on",
    )
    assert said.code == 2
    assert "debate has no claims to test" in said.err
    assert not (tmp_path / "new").exists()
    assert moot("run", *ASKED, "--experiments", "yes").code == 2


def test_a_file_only_asks(moot: Moot, tmp_path: Path) -> None:
    assert moot("new", "asks.toml", "-q", "Which?", "--protocol", "crux", "--experiments", "on").code == 0
    assert '[experiments]\nrun = "on"' in (tmp_path / "asks.toml").read_text()
    said = moot("run", "asks.toml", "--seats", "host", "--out", "new")
    assert said.code == 4
    assert "nobody can be asked here; --experiments on allows them" in said.out + said.err
    assert rules(tmp_path / "new")["experiments"] == "off"


@pytest.mark.usefixtures("sandbox")
def test_a_fork_needs_the_word_again(moot: Moot, tmp_path: Path, crux: Path) -> None:
    moot("run", "--resume", crux, "--experiments", "on", "--seats", "host")
    assert RunStore(crux).state().runs_programs
    assert moot("fork", crux, "--here", "--out", "forked", "--seats", "host").code in (0, 4)
    assert not RunStore(tmp_path / "forked").state().runs_programs


# ---------------------------------------------------------------- all of them again


@pytest.mark.usefixtures("sandbox")
def test_all_experiments_of_a_run_are_run_again_and_compared(
    moot: Moot, crux: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moot("experiment", "plan", crux, *PLAN)
    moot("experiment", "run", crux)
    before = content(crux)
    said = moot("replay", crux, "--re-run")
    assert (said.code, said.out) == (0, "✓ E-1-1: holds as recorded, holds now\n")
    nothing_holds(monkeypatch)
    said = moot("replay", crux, "--re-run", "--json")
    assert said.code == 1
    (one,) = said.json["re_run"]
    assert (one["now"], one["same"], one["recorded"]) == (None, False, "holds")
    assert "not run here" in moot("replay", crux, "--re-run").out
    assert content(crux) == before


@pytest.mark.usefixtures("sandbox")
def test_sentences_that_would_fall_are_named(tmp_path: Path) -> None:
    """A program that depends on something outside comes out otherwise; what the memo says of it falls."""
    session = with_claims(tmp_path / "run")
    experiment = planned(session)
    list(conduct(session, BENCH, experiment))
    play(session, WORLD)
    book = session.book()
    memo = book.state.memo
    assert memo is not None
    rests = structs.replace(memo.sentences[0], refs=(CLAIM,))
    book.state.memo = structs.replace(memo, sentences=(rests, *memo.sentences[1:]))
    bad = structs.replace(plan_of(book, experiment), pass_if=plan_of(book, experiment).fail_if)
    bad = structs.replace(bad, fail_if=plan_of(book, experiment).pass_if, controls=bad.controls[::-1])
    other = structs.replace(book, by_id={**book.by_id, experiment: bad})
    (found,) = re_run(other, bench_here())
    assert (found.recorded, found.same) == ("holds", False)
    assert found.falls == [f"{memo.id}#s1 {rests.text}"]


@pytest.mark.usefixtures("sandbox")
def test_a_run_that_waits_for_its_experiments_goes_on_when_it_is_resumed(moot: Moot, tmp_path: Path) -> None:
    """`next` and `submit` start nothing; the driver does, and then asks what comes next."""
    play(begin(tmp_path / "run", experiments="on"), PROGRAM)
    said = moot("next", "run", "--json")
    assert said.json["waiting_for"] == ["experiments"]
    assert "moot experiment run" in moot("next", "run").out
    assert not RunStore(tmp_path / "run").book().of(ExperimentRun)
    resumed = moot("run", "--resume", "run", "--seats", "host", "--experiments", "on", "--json")
    assert resumed.code in (0, 4)
    book = RunStore(tmp_path / "run").book()
    assert {one.verdict for one in book.of(ExperimentJudged)} == {"holds"}
    assert {run.environment.self_test for run in book.of(ExperimentRun)} == {True}
    assert moot("next", "run", "--json").json["waiting_for"] != ["experiments"]
    assert moot("check", "run").code == 0
    assert moot("replay", "run", "--re-execute").code == 0


@pytest.mark.usefixtures("sandbox")
def test_a_run_of_structured_runs_what_its_roles_bring_before_it_asks_for_a_verdict(
    moot: Moot, tmp_path: Path
) -> None:
    session = begin_structured(tmp_path / "run")
    play_structured(session, Planner(), run=False)
    assert moot("next", "run", "--json").json["waiting_for"] == ["experiments"]
    assert moot("run", "--resume", "run", "--seats", "host", "--experiments", "on", "--json").code == 4
    (judged,) = RunStore(tmp_path / "run").book().of(ExperimentJudged)
    assert (judged.verdict, judged.class_) == ("holds", "reproduced")
    steps = [one["step"] for one in moot("next", "run", "--json").json["steps"]]
    assert steps == ["r1.E.check1.verifier", "r1.E.check2.verifier"]
    assert "ran ×3" in moot("claims", "run").out
    assert moot("check", "run").code == 0
    assert moot("replay", "run", "--re-execute").code == 0
    assert moot("replay", "run", "--re-run").code == 0


@pytest.mark.usefixtures("sandbox")
def test_every_surface_says_what_waits_to_be_run_and_then_what_was_run(moot: Moot, tmp_path: Path) -> None:
    session = begin(tmp_path / "run", experiments="on")
    play(session, PROGRAM)
    waiting = moot("status", "run")
    assert "WAITING" in waiting.out
    assert "moot experiment run run" in waiting.out
    (asked,) = moot("status", "run", "--json").json["outcome"]["needs_you"]
    assert asked["ids"] == ["E-1-1", "E-1-2"]
    assert "run it: moot experiment run run E-1-1\n" in moot("experiment", "show", "run").out
    assert moot("experiment", "run", "run").code == 0
    ran = " ".join(moot("status", "run").out.split())
    assert "E-1-1 holds (ran ×3)" in ran
    assert "moot replay run --re-run" in ran
    play(session, PROGRAM)
    assert "E-1-1 experiment, holds, ran ×3" in moot("why", "run", "C-1-1").out
    for said in (moot("report", "run").out, _page(moot, tmp_path)):
        for part in ("ran ×3", "sys.exit(0 if made == keys else 3)", "bubblewrap", "exit 0"):
            assert part in said.replace("&#39;", "'")
        assert "moot experiment run run E-1-1 --times 3" in said


def _page(moot: Moot, tmp_path: Path) -> str:
    assert moot("report", "run", "--html", "run.html").code == 0
    return (tmp_path / "run.html").read_text()


def test_the_last_reply_before_experiments_says_what_is_waited_for(moot: Moot, tmp_path: Path) -> None:
    session = begin(tmp_path / "run", experiments="on")
    while len(asked := session.pending()) != 1 or asked[0].step.task != "D.program":
        submit(session, asked[0], PROGRAM)
    last = asked[0].step
    said = orjson.dumps(reply(session.book(), last, PROGRAM))
    (tmp_path / "last.json").write_bytes(said)
    assert "moot experiment run" in moot("submit", "run", last.id, "last.json").out


def test_without_a_sandbox_a_resumed_run_refuses_and_writes_nothing(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(begin(tmp_path / "run", experiments="on"), PROGRAM)
    nothing_holds(monkeypatch)
    before = content(tmp_path / "run")
    said = moot("run", "--resume", "run", "--seats", "host", "--experiments", "on")
    assert said.code == 2
    assert "bubblewrap" in said.err
    assert content(tmp_path / "run") == before
    assert moot("run", "--resume", "run", "--seats", "host", "--experiments", "off").code in (0, 4)
    assert not RunStore(tmp_path / "run").book().of(ExperimentRun)
