"""`moot run`: opened with host seats, played from a tape, stopped by a budget, resumed, interrupted."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from ledger.events import Amendment, RunClosed
from ledger.store.store import RunStore
from moot.api import open_run
from moot.app.opening import open_run_at, seats_again
from moot.app.seats import SeatChoice
from moot.app.session import Session
from moot.cli import BY_NAME, moved
from moot.cli.command import command_of
from moot.errors import MootError
from roles.seats.port import Answer
from rounds.setup.deliberation import checked, parse
from rounds.setup.opening import resolve
from tests.cli.conftest import Moot
from tests.recorded import EXAMPLES
from tests.rounds.openings import play
from tests.rounds.scripted import Script

PLAN = """\
[deliberation]
question = "Which storage keeps every line?"
goals = ["No line is lost"]

[[round]]
n = 1

[[round]]
n = 2
absent = "critic"
"""


@pytest.fixture
def file(moot: Moot, tmp_path: Path) -> Path:
    """A deliberation file of two rounds, in the directory that `moot` is called in."""
    del moot
    path = tmp_path / "plan.toml"
    path.write_text(PLAN)
    return path


@pytest.fixture(scope="session")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of `PLAN`."""
    path = tmp_path_factory.mktemp("tape") / "run"
    deliberation = parse(PLAN.encode())
    session = open_run_at(path, resolve(deliberation, {}, moot="0.0.0"), {}).inner
    assert play(session, Script(seed=5)).state == "finished"
    return path


def test_host_seats_open_the_run_and_wait(moot: Moot, file: Path) -> None:
    said = moot("run", file, "--seats", "host", "--json")
    assert said.code == 4
    assert (said.json["state"], said.json["waiting"]) == ("waiting", ["r1.B.action"])
    path = Path(said.json["run"])
    assert path.parent == Path("runs")
    assert re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-[a-z]{4}", path.name)
    assert moot("status", "@last", "--json").json["run"] == str(path)
    assert moot("status", path.name).code == 0


def test_the_resolved_file_beside_the_ledger_is_accepted_again(moot: Moot, file: Path) -> None:
    Path("notes.md").write_text("one\ntwo\n")
    assert (
        moot("run", file, "--seats", "host", "--out", "a", "--context", "notes.md", "--goal", "Be quick").code
        == 4
    )
    kept = tomllib.loads(Path("a/deliberation.toml").read_text())
    assert kept["context"][0]["name"] == "notes.md"
    assert moot("run", "a/deliberation.toml", "--out", "b").code == 4
    first, second = open_run("a").events[0], open_run("b").events[0]
    assert first.__class__ is second.__class__
    assert [getattr(first, name) for name in ("goals", "plan", "cast", "context", "predict", "stop")] == [
        getattr(second, name) for name in ("goals", "plan", "cast", "context", "predict", "stop")
    ]


def test_flags_say_what_a_file_would(moot: Moot, file: Path) -> None:
    del file
    said = moot(
        "run", "-q", "Which?", "--seats", "host", "--out", "a", "--plan", "minimum-8", "--option", "one",
        "--option", "two", "--rule", "domain=code review", "--rule", "profile=published",
        "--rule", "check-every=2", "--rule", "stress=off",
        "--max-calls", "9", "--max-usd", "1.50", "--rule", "cast=research",
    )  # fmt: skip
    assert said.code == 4
    opened = open_run("a").state.opened
    assert opened is not None
    assert [option.text for option in opened.options] == ["one", "two"]
    assert (opened.stop.profile, opened.stop.check_every, len(opened.plan)) == ("published", 2, 8)
    assert (opened.budgets.calls, opened.budgets.usd) == (9, "1.50")
    assert opened.cast[0].title == "Experimentalist"
    assert "\nWAIVED stress: " in moot("status", "a").out
    assert moot("check", "a").out.startswith("WAIVED stress: ")
    assert "\nWAIVED stress: " in moot("decisions", "a").out


def test_one_seat_can_differ_from_the_rest(moot: Moot, file: Path, tape: Path) -> None:
    said = moot("run", file, "--seats", f"tape:{tape}", "--seat", "critic=host", "--out", "a", "--json")
    assert (said.code, said.json["waiting"]) == (4, ["r1.C.critic"])


def test_a_tape_plays_the_run_to_its_end(moot: Moot, file: Path, tape: Path) -> None:
    said = moot("run", file, "--seats", f"tape:{tape}", "--out", "a")
    assert said.code == 0, said
    assert "is finished" in said.out
    assert moot("diff", tape, "a", "--json").json["claims"]["changed"] == []
    assert moot("check", "a", "--quiet").code == 0
    assert moot("replay", "a", "--re-execute", "--quiet").code == 0


def test_plain_lines_tell_what_is_committed(moot: Moot, file: Path, tape: Path) -> None:
    said = moot("run", file, "--seats", f"tape:{tape}", "--out", "a", "--no-live")
    assert said.code == 0
    assert "D-" in said.out
    assert "\x1b" not in said.out


def test_a_tape_of_another_question_fails_for_good_and_says_what_differs(moot: Moot, tape: Path) -> None:
    said = moot("run", "-q", "Another question?", "--seats", f"tape:{tape}", "--out", "a")
    assert said.code == 5
    assert said.err.splitlines()[-1].startswith("moot: a seat failed for good")
    assert "the run was removed" in said.err
    assert not Path("a").exists(), "nothing was answered or paid"


def test_a_budget_stops_the_run_resumably_and_a_larger_one_goes_on(
    moot: Moot, file: Path, tape: Path
) -> None:
    said = moot("run", file, "--seats", f"tape:{tape}", "--out", "a", "--max-calls", "7", "--json")
    assert (said.code, said.json["state"], said.json["reason"]) == (4, "stopped", "budget_calls")
    assert moot("status", "a", "--json").json["state"] == "stopped"
    again = moot("run", "--resume", "a", "--seats", f"tape:{tape}", "--json")
    assert (again.code, again.json["reason"]) == (4, "budget_calls")
    on = moot("run", "--resume", "a", "--seats", f"tape:{tape}", "--max-calls", "500", "--json")
    assert (on.code, on.json["state"]) == (0, "finished")
    events = RunStore("a").events()
    assert [
        event.reason for event in events if isinstance(event, RunClosed) and event.state == "stopped"
    ] == ["budget_calls"]
    amended = [event for event in events if isinstance(event, Amendment) and event.what == "budget"]
    assert [(change.path, change.from_, change.to) for change in amended[0].change] == [
        ("budgets.calls", 7, 500)
    ]
    assert moot("check", "a", "--quiet").code == 0
    assert moot("replay", "a", "--re-execute", "--quiet").code == 0


def test_a_pause_advises_only_what_works(moot: Moot, file: Path, tape: Path) -> None:
    """C-4: `moot signals` was advised where it exits 2, and `--pause round` after `--pause phase`."""
    crux = EXAMPLES / "crux-balance"
    played = {"rounds": (file, tape), "sealed": (crux / "deliberation.toml", crux)}
    for out, (deliberation, recording) in played.items():
        said = moot("run", deliberation, "--seats", f"tape:{recording}", "--out", out, "--pause", "phase")
        assert said.code == 4
        assert f"go on: moot run --resume {out} --pause phase " in said.out
        assert said.out.count("looked at") == 1, "the outcome is shown once"
        assert (f"moot signals {out}\n" in said.out) == (moot("signals", out).code != 2)


def test_max_rounds_below_the_plan_leaves_the_synthesis_out(moot: Moot, file: Path, tape: Path) -> None:
    said = moot("run", file, "--seats", f"tape:{tape}", "--out", "a", "--max-rounds", "1", "--json")
    assert (said.code, said.json["reason"]) == (4, "budget_rounds")
    assert all(event.phase != "S" for event in open_run("a").events)


def test_a_run_at_its_limit_is_told_to_go_on_with_a_larger_one(moot: Moot, file: Path, tape: Path) -> None:
    """R-12: the command that was named stopped again at once."""
    said = moot("run", file, "--seats", f"tape:{tape}", "--out", "a", "--max-rounds", "1")
    assert "go on: moot run --resume a --max-rounds MORE" in said.out
    assert "`moot run --resume a --max-rounds MORE` goes on" in moot("next", "a").out
    same = moot("run", "--resume", "a", "--seats", f"tape:{tape}", "--json")
    assert (same.code, same.json["reason"]) == (4, "budget_rounds")
    more = moot("run", "--resume", "a", "--seats", f"tape:{tape}", "--max-rounds", "9", "--json")
    assert more.json["reason"] != "budget_rounds"


def test_a_finished_run_is_finished(moot: Moot, tape: Path) -> None:
    said = moot("run", "--resume", tape, "--seats", "host", "--json")
    assert (said.code, said.json["state"]) == (0, "finished")


def test_the_library_runs_a_deliberation_too(moot: Moot, file: Path, tape: Path) -> None:
    import moot as library

    del moot
    run = library.run_deliberation(file, f"tape:{tape}", "a")
    assert run.state.finished
    waiting = library.run_deliberation({"deliberation": {"question": "Which?"}}, "host", "b")
    assert waiting.state.round == 1
    assert not waiting.state.finished


INTERRUPTED = """
import sys
from moot.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(("number", "noted"), [(signal.SIGINT, ""), (signal.SIGTERM, "; SIGTERM")])
def test_a_signal_closes_the_run_and_it_can_go_on(
    number: signal.Signals, noted: str, moot: Moot, file: Path, tape: Path
) -> None:
    """A signal that another program sent was recorded as a person's stop alone."""
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, "run", str(file), "--seats", f"tape:{tape}", "--out", "a"],
        env={**os.environ, "MOOT_TAPE_DELAY_SECONDS": "0.2", "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 20
    while (
        not (Path("a/claims.jsonl").exists() and Path("a/claims.jsonl").stat().st_size)
        and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 4, err
    assert err.splitlines()[-1].startswith("moot: interrupted")
    assert "Traceback" not in err
    status = moot("status", "a", "--json").json
    assert status["state"] == "stopped"
    assert status["outcome"]["status_why"] == f"a person or a signal stopped it{noted}"
    assert moot("run", "--resume", "a", "--seats", f"tape:{tape}", "--quiet").code == 0
    assert moot("check", "a", "--quiet").code == 0


def test_two_drivers_do_not_share_a_run(moot: Moot, file: Path, tape: Path) -> None:
    from ledger.store.lock import DriverLease

    assert moot("run", file, "--seats", "host", "--out", "a").code == 4
    with DriverLease(Path("a")):
        said = moot("run", "--resume", "a", "--seats", f"tape:{tape}")
    assert said.code == 2
    assert "already drives this run" in said.err


def test_a_run_goes_on_with_the_seats_that_it_names(moot: Moot, file: Path) -> None:
    assert moot("run", file, "--seats", "host", "--out", "a").code == 4
    again = moot("run", "--resume", "a", "--json")
    assert (again.code, again.json["waiting"]) == (4, ["r1.B.action"])


def test_what_a_run_cannot_name_is_the_line_to_say(moot: Moot, file: Path, tape: Path) -> None:
    assert moot("run", file, "--seats", f"tape:{tape}", "--out", "a", "--max-calls", "3", "--quiet").code == 4
    said = moot("run", "--resume", "a")
    assert said.code == 2
    assert "say it again: moot run --resume a --seats tape:RUN" in said.err
    one = moot("run", "--resume", "a", "--seat", "critic=host")
    assert "--seat action=tape:RUN --seat guardian=tape:RUN" in one.err
    assert "critic" not in one.err
    assert "no role 'judge'" in moot("run", "--resume", "a", "--seat", "judge=host").err


def test_a_model_is_the_one_that_answered_last(tmp_path: Path) -> None:
    table = {"deliberation": {"question": "Which?", "protocol": "tribunal"}}
    kinds = {"utility": "anthropic", "accuracy": "anthropic", "safety": "command:judge"}
    opening = resolve(checked(table, name="test"), {}, moot="0.0.0", seats=kinds)
    run = open_run_at(tmp_path / "run", opening, {}).inner
    view = b'{"reasoning": "No.", "confidence": 80, "risk": 20}'
    run.submit("r1.analyse.utility", view, Answer("anthropic", "enforced", model="some-model-1"))
    session = Session(tmp_path / "run")
    with pytest.raises(MootError) as refused:
        seats_again("run", session, SeatChoice(None, {}))
    assert refused.value.fix == "say it again: moot run --resume run --seat safety=command:PROGRAM"
    said = SeatChoice(None, {"safety": "host"})
    assert seats_again("run", session, said) == {
        "utility": "anthropic:some-model-1",
        "accuracy": "anthropic",
        "safety": "host",
    }


def test_run_has_at_most_thirty_options(moot: Moot) -> None:
    """--help included, and one place left."""
    later = {"--repeat", "--on-wait", "--on-end"}
    options = {
        name
        for parameter in command_of(BY_NAME["run"]).params
        for name in parameter.opts
        if name.startswith("--")
    } - later
    assert len(options | {"--help"}) < 30
    panels = [
        line for line in moot("run", "--help").out.splitlines() if line.endswith(":") and line[0] != " "
    ]
    assert panels == ["Arguments:", "What to ask:", "Who answers:", "How:", "Limits:", "Output:"]


@pytest.mark.parametrize(("option", "instead"), moved.OPTIONS.items())
def test_an_option_that_moved_is_an_error_that_says_where(moot: Moot, option: str, instead: str) -> None:
    said = moot("run", "-q", "Which?", option, "3")
    assert said.code == 2
    assert instead in said.err


def test_settings_under_rule_are_checked(moot: Moot) -> None:
    for rule in ("seed=x", "check-every=0", "stress=maybe", "seed", "seed=", "context-bytes=-1"):
        said = moot("run", "-q", "Which?", "--seats", "host", "--rule", rule)
        assert said.code == 2, rule
        assert said.err.count("\n") == 1
    assert moot("run", "-q", "Which?", "--seats", "host", "--rule", "seed=1", "--rule", "seed=2").code == 2
    assert not Path("runs").exists()
