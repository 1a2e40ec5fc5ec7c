"""Nothing of somebody else's starts a program or is asked over a network without the person's word (`consent.py`)."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledger.events import ExperimentRun
from ledger.store.store import RunStore
from moot.app import driving as api
from moot.app.opening import open_run_at
from moot.app.seats import WATCHED, bench_for, declared_seats, make_seats, was_opened_here
from moot.errors import MootError
from moot.studies.definition import read_study
from moot.studies.units import jobs_of
from rounds.setup.deliberation import checked
from rounds.setup.opening import cast_roles, resolve
from tests.cli.conftest import Moot, moot
from tests.cli.test_asking import Terminal
from tests.cli.test_experiment import PLAN, PROGRAM
from tests.protocols.crux_seats import begin, play
from tests.rounds.experimenting import READS, WORLD, sandbox_or_skip, with_claims
from tests.studies.scripted import arm, written

__all__ = ["moot"]
ROOT = Path(__file__).resolve().parents[2]
SEATS = ("anthropic", "openai", "openai:x", "openai:x@URL", "ollama:x", "openrouter:a/x",
         "claude", "codex", "gemini", "llm", "command:sh -c 'touch started'")  # fmt: skip
REACHED = "a seat of the file was asked"


@pytest.fixture
def listener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An address that every model seat would ask, and programs that would leave a file: neither may happen."""
    monkeypatch.delenv("MOOT_OFFLINE")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST"):
            monkeypatch.setenv(name, url)
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"):
            monkeypatch.setenv(name, "sk-test-000000")
        (tmp_path / "bin").mkdir()
        for name in ("claude", "codex", "gemini", "llm"):
            (tmp_path / "bin" / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
            (tmp_path / "bin" / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}/bin", prepend=":")
        yield url
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not (tmp_path / "started").exists(), REACHED


def sent_file(place: Path, seat: str) -> Path:
    text = f'[deliberation]\nquestion = "Which?"\nprotocol = "council"\n[cast.solo]\nseat = "{seat}"\n'
    place.write_text(text)
    return place


@pytest.mark.parametrize("seat", SEATS)
@pytest.mark.parametrize("flags", [[], ["--json", "--yes"]])
def test_a_seat_that_only_a_file_names_is_not_asked(
    moot: Moot, tmp_path: Path, listener: str, seat: str, flags: list[str]
) -> None:
    file = sent_file(tmp_path / "sent.toml", seat.replace("URL", f"{listener}/v1"))
    said = moot("run", file, "--out", "run", *flags)
    assert said.code == 2, said
    assert "--allow-commands" in said.out + said.err
    assert not Path("run").exists()


@pytest.mark.parametrize("seat", [*SEATS, "mix:host,openai:x"])
def test_a_seat_that_only_a_study_names_is_not_asked(
    moot: Moot, tmp_path: Path, listener: str, seat: str
) -> None:
    url = f"{listener}/v1"
    study = tmp_path / "study"
    written(study, arm("single", "single-pass", f'seats = "{seat.replace("URL", url)}"'))
    said = moot("study", "run", study, "--yes")
    assert said.code == 2
    assert "--allow-commands" in said.err
    assert not (study / "runs").exists()


@pytest.mark.usefixtures("listener")
def test_a_judge_that_only_a_study_names_is_not_asked(moot: Moot, tmp_path: Path) -> None:
    more = arm("best", "single-pass", "best_of = 2") + '[judging]\nseats = "openai:x"\n'
    written(tmp_path / "study", arm("single", "single-pass") + more)
    said = moot("study", "run", tmp_path / "study")
    assert said.code == 2
    assert "openai:x" in said.err


@pytest.mark.usefixtures("listener")
@pytest.mark.parametrize("seat", ["anthropic", "openai:x", "ollama:x", "openrouter:a/x"])
def test_a_seat_that_only_a_ledger_names_is_not_asked(moot: Moot, tmp_path: Path, seat: str) -> None:
    """Somebody sent a run whose models would be asked with this person's keys."""
    deliberation = checked({"deliberation": {"question": "Which?", "protocol": "council"}})
    seats = make_seats(dict.fromkeys(cast_roles(deliberation, "sent"), seat))
    opening = resolve(deliberation, {}, moot="0.0.0", seats=declared_seats(seats))
    open_run_at(tmp_path / "run", opening, seats)
    said = moot("run", "--resume", "run")
    assert said.code == 2
    assert "--allow-commands" in said.err or "--seats" in said.err
    with pytest.raises(MootError):
        api.resume(tmp_path / "run")


def test_what_the_person_names_needs_no_other_word(moot: Moot, tmp_path: Path) -> None:
    file = sent_file(tmp_path / "sent.toml", "openai:x")
    assert moot("run", file, "--out", "run", "--seats", "host").code == 4
    assert moot("run", sent_file(tmp_path / "h.toml", "host"), "--out", "other").code == 4


# ---------------------------------------------------------------- programs of replies


def ran(run: Path) -> int:
    return len(RunStore(run).book().of(ExperimentRun))


def test_a_ledger_that_says_on_is_not_the_person_s_word(moot: Moot, tmp_path: Path) -> None:
    play(begin(tmp_path / "run", experiments="on"), PROGRAM)
    said = moot("run", "--resume", "run", "--seats", "host")
    assert said.code == 2
    assert "--experiments on" in said.err
    assert ran(tmp_path / "run") == 0
    api.resume(tmp_path / "run", "host")
    assert ran(tmp_path / "run") == 0, "a library's call runs them with programs=True alone"


@pytest.mark.parametrize(("word", "runs"), [("", False), ("n", False), ("y", True)])
@pytest.mark.usefixtures("moot")
def test_on_a_terminal_the_person_is_asked(tmp_path: Path, word: str, runs: bool) -> None:
    sandbox_or_skip()
    play(begin(tmp_path / "run", experiments="on"), PROGRAM)
    terminal = Terminal(tmp_path, "run", "--resume", "run", "--seats", "host")
    terminal.expect("Run them?")
    terminal.type(word)
    code, said = terminal.end()
    assert (code == 2) is not runs, said
    assert (ran(tmp_path / "run") > 0) is runs


def test_with_the_word_they_are_run(moot: Moot, tmp_path: Path) -> None:
    sandbox_or_skip()
    play(begin(tmp_path / "run", experiments="on"), PROGRAM)
    assert moot("run", "--resume", "run", "--seats", "host", "--experiments", "on").code in (0, 4)
    assert ran(tmp_path / "run") > 0
    play(begin(tmp_path / "other", experiments="on"), PROGRAM)
    api.resume(tmp_path / "other", "host", programs=True)
    assert ran(tmp_path / "other") > 0


def test_a_run_that_was_opened_here_goes_on_without_asking_again_and_a_copy_of_it_does_not(
    moot: Moot, tmp_path: Path
) -> None:
    sandbox_or_skip()
    asked = ("-q", "Which?", "--protocol", "crux", "--seats", "host", "--out", "run", "--experiments", "on")
    assert moot("run", *asked).code == 4
    assert was_opened_here(tmp_path / "run")
    assert moot("run", "--resume", "run").code == 4
    shutil.copytree(tmp_path / "run", tmp_path / "sent")
    assert not was_opened_here(tmp_path / "sent")
    assert moot("run", "--resume", "sent").code == 2
    assert moot("fork", "run", "--here", "--out", "forked").code == 0
    assert was_opened_here(tmp_path / "forked")
    assert not RunStore(tmp_path / "forked").state().runs_programs


@pytest.mark.slow
def test_programs_of_a_study_need_the_word(moot: Moot, tmp_path: Path) -> None:
    study = tmp_path / "study"
    written(study, arm("single", "single-pass") + arm("crux", "crux", 'experiments = "on"'))
    said = moot("study", "run", study, "--workers", 1)
    assert said.code == 2
    assert "--experiments on" in said.err
    assert not (study / "runs").exists()
    sandbox_or_skip()
    assert moot("study", "run", study, "--workers", 1, "--experiments", "on").code == 4
    assert (study / "runs").exists()


@pytest.mark.slow
def test_a_run_that_came_with_a_study_runs_no_program_that_the_study_does_not_ask_for(
    moot: Moot, tmp_path: Path
) -> None:
    study = tmp_path / "study"
    written(study, arm("single", "crux"), items=["one"])
    (job,) = jobs_of(read_study(str(study)))
    play(begin(study / "runs" / job.name, experiments="on"), PROGRAM)
    assert moot("study", "run", study, "--workers", 1).code == 4
    assert ran(study / "runs" / job.name) == 0


# ---------------------------------------------------------------- limits that are only watched


@pytest.fixture(params=["memory of all processes together", "number of files"])
def watched(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """As on a machine where moot may make no control group, or may not mount; the limit that it names."""
    limit: str = request.param
    sandbox_or_skip()
    monkeypatch.delenv(WATCHED, raising=False)

    def none(_: int) -> None:
        return None

    if limit == "number of files":
        monkeypatch.setattr("rounds.experiments.bubblewrap.limits_files", lambda: False)
    else:
        monkeypatch.setattr("rounds.experiments.bench.control_group", none)
    return limit


@pytest.mark.usefixtures("watched")
def test_where_a_limit_is_only_watched_every_door_asks_first(moot: Moot, tmp_path: Path) -> None:
    for name, text in {"test.py": READS, "data.txt": "good", "bad.txt": "bad", "other.txt": " good "}.items():
        (tmp_path / name).write_text(text)
    play(with_claims(tmp_path / "run"), WORLD)
    assert moot("experiment", "plan", "run", *PLAN).code == 0
    play(begin(tmp_path / "on", experiments="on"), PROGRAM)
    written(tmp_path / "study", arm("single", "crux", 'experiments = "on"'))
    new = ("-q", "Which?", "--protocol", "crux", "--seats", "host", "--out", "new")
    doors = [
        ("experiment", "run", "run"),
        ("run", *new, "--experiments", "on"),
        ("run", "--resume", "on", "--seats", "host", "--experiments", "on"),
        ("study", "run", "study", "--experiments", "on"),
    ]
    for door in doors:
        said = moot(*door)
        assert said.code == 2, door
        assert f"{WATCHED}=1" in said.err, door
    assert not Path("new").exists()
    assert not Path("study/runs").exists()
    assert not Path("run/checks").exists()
    assert ran(tmp_path / "on") == 0


@pytest.mark.slow
def test_the_word_for_watched_limits(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, watched: str
) -> None:
    asked: list[str] = []

    def agreed(about: str, question: str) -> bool:
        asked.append(about + question)
        return len(asked) > 1

    monkeypatch.setenv(WATCHED, "0")
    with pytest.raises(MootError):
        bench_for(agreed)
    assert bench_for(agreed) is not None
    assert f"cannot enforce it: {watched}" in asked[1]
    assert bench_for(None) is not None, "the word holds for the process"
    monkeypatch.setenv(WATCHED, "1")
    play(begin(tmp_path / "on", experiments="on"), PROGRAM)
    assert moot("run", "--resume", "on", "--seats", "host", "--experiments", "on").code in (0, 4)
    assert ran(tmp_path / "on") > 0
    monkeypatch.setenv(WATCHED, "")
    assert moot("replay", "on", "--re-run").code == 2


def test_programs_are_run_through_one_function() -> None:
    """`bench_here` gives a sandbox to whoever asks; `bench_for` asks the person first where that is needed."""
    users = {
        path.relative_to(ROOT).as_posix()
        for package in ("moot", "rounds", "roles", "ledger")
        for path in (ROOT / package).rglob("*.py")
        if "bench_here(" in path.read_text("utf-8")
    }
    assert users == {"rounds/experiments/bench.py", "moot/app/seats.py"}
    # `bench_for` is one use, and the seats of a run that asks later are the other.
    assert (ROOT / "moot/app/seats.py").read_text("utf-8").count("bench_here()") == 2
