"""Bad input of every kind: one clear line with the fix, the exit code of FORMAT 13, and an untouched ledger."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.format.canonical import Head, line_hash
from ledger.store.streams import head_bytes
from moot.errors import MootError
from tests.campaign.calls import Real, Watched
from tests.cli.conftest import Moot, Said, content
from tests.rounds.openings import begin, rows
from tests.rounds.scripted import Script

GOOD = {"sections": [{"name": "main", "text": "One stream."}], "responds_to": [], "options": []}


def one_line(said: Said, code: int) -> str:
    """The complaint: one line on stderr that says what, and after a semicolon how to fix it."""
    assert said.code == code, said
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) == 1, said.err
    assert lines[0].startswith("moot: ")
    assert "; " in lines[0], lines[0]
    assert "Traceback" not in said.err
    return lines[0]


def refused(moot: Moot, run: Path, code: int, *arguments: object) -> str:
    """The line of a refused call that leaves the run as it was; with --json the same error as an object."""
    before = content(run)
    line = one_line(moot(*arguments), code)
    as_json = moot(*arguments, "--json")
    assert as_json.code == code
    assert as_json.err == ""
    said = as_json.json
    if "error" in said:
        assert set(said["error"]) == {"code", "what", "where", "mend"}
        assert said["error"]["what"] in line
    else:
        assert (said["accepted"], said["events"]) == (False, [])
        assert said["errors"]
    assert content(run) == before
    return line


def reply(path: Path, value: object) -> Path:
    path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
    return path


# ---------------------------------------------------------------- malformed replies


MALFORMED: list[object] = [
    b"",
    b"not json",
    b"[]",
    b"\xff\xfe\x00",
    b'{"sections": []} trailing',
    {},
    {**GOOD, "extra": 1},
    {**GOOD, "sections": []},
    {**GOOD, "sections": "text"},
    {**GOOD, "sections": [{"name": "Main Section", "text": "x"}]},
    {**GOOD, "options": ["O-9"]},
    b'{"sections":[{"name":"main","text":"\\u0007"}],"responds_to":[],"options":[]}',
]


@pytest.mark.parametrize("value", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_reply_writes_nothing(moot: Moot, opened: Path, tmp_path: Path, value: object) -> None:
    file = reply(tmp_path / "reply.json", value)
    before = content(opened)
    said = moot("submit", opened, "r1.B.action", file)
    assert said.code == 1
    first = said.err.splitlines()[0]
    assert first.startswith("moot: the reply to r1.B.action is refused: ")
    assert "fix the reply and submit it again" in first
    machine = moot("submit", opened, "r1.B.action", file, "--json")
    assert (machine.code, machine.json["accepted"], machine.json["events"]) == (1, False, [])
    assert machine.json["errors"]
    assert machine.json["next"] == ["r1.B.action"]
    assert content(opened) == before


# ---------------------------------------------------------------- steps that take no reply


STEPS = [
    ("r1.B.guardian", "not open"),
    ("r1.C.action", "not open"),
    ("r1.D.critic", "not open"),
    ("r2.B.action", "not open"),
    ("r99.B.action", "not open"),
    ("r0.B.action", "over"),
    ("r1.B.judge", "no role 'judge'"),
    ("r1.E.check1.verifer", "no role 'verifer'"),
    ("nonsense", "no step id"),
    ("r1.B", "no step id"),
    ("r1.B.Action", "no step id"),
    ("", "no step id"),
]


@pytest.mark.parametrize(("step", "why"), STEPS, ids=[step or "empty" for step, _ in STEPS])
def test_an_unknown_or_closed_step_takes_no_reply(
    moot: Moot, opened: Path, tmp_path: Path, step: str, why: str
) -> None:
    file = reply(tmp_path / "reply.json", GOOD)
    assert why in refused(moot, opened, 1, "submit", opened, step, file)


@pytest.mark.parametrize("step", ["r1.B.guardian", "r9.C.critic", "r1.B.judge", "nonsense"])
def test_such_a_step_cannot_be_given_up_either(moot: Moot, opened: Path, step: str) -> None:
    refused(moot, opened, 1, "submit", opened, step, "--give-up", "no time")


def test_a_step_of_a_round_that_is_over_is_stale(moot: Moot, tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(2))
    script = Script()
    while session.book().state.round == 1:
        for asked in session.pending():
            said = moot(
                "submit",
                session.run.path,
                asked.step.id,
                reply(tmp_path / "r.json", script.reply(session.book(), asked.step, asked.brief.saw)),
            )
            assert said.code == 0, said
    file = reply(tmp_path / "late.json", GOOD)
    assert "already answered" in refused(
        moot, session.run.path, 1, "submit", session.run.path, "r1.B.action", file
    )
    assert "round 1 is over" in refused(
        moot, session.run.path, 1, "submit", session.run.path, "r1.H.verifier", file
    )


@pytest.mark.parametrize("text", ["other words", "again other words", "a third time"])
def test_a_second_reply_is_refused_and_the_same_bytes_are_not(
    moot: Moot, opened: Path, tmp_path: Path, text: str
) -> None:
    file = reply(tmp_path / "first.json", GOOD)
    first = moot("submit", opened, "r1.B.action", file, "--json")
    assert first.code == 0
    before = content(opened)
    again = moot("submit", opened, "r1.B.action", file, "--json")
    assert (again.code, again.json) == (0, first.json)
    assert content(opened) == before
    other = reply(tmp_path / "other.json", {**GOOD, "sections": [{"name": "main", "text": text}]})
    assert "already answered with another reply" in refused(
        moot, opened, 1, "submit", opened, "r1.B.action", other
    )


@pytest.mark.parametrize("context", ["critic", "c0", "c01", "c", "C1", "c1 ", "c1\n", "/tmp/c1", "1", ""])
def test_a_context_id_is_opaque(moot: Moot, opened: Path, tmp_path: Path, context: str) -> None:
    file = reply(tmp_path / "reply.json", GOOD)
    refused(moot, opened, 2, "submit", opened, "r1.B.action", file, "--context-id", context)


def test_a_context_serves_one_role(moot: Moot, opened: Path, tmp_path: Path) -> None:
    file = reply(tmp_path / "reply.json", GOOD)
    assert moot("submit", opened, "r1.B.action", file, "--context-id", "c1").code == 0
    line = refused(moot, opened, 1, "submit", opened, "r1.C.critic", file, "--context-id", "c1")
    assert "c1 serves action" in line


# ---------------------------------------------------------------- usage


USAGE = [
    ["next", "{run}", "--role", "judge"],
    ["next", "{run}", "--wait", "soon"],
    ["next", "{run}", "--wait", "-1"],
    ["next"],
    ["submit", "{run}"],
    ["status", "{run}", "--jsn"],
    ["status", "{run}", "too", "many"],
    ["log", "{run}", "--kind", "claimz"],
    ["log", "{run}", "--round", "one"],
    ["log", "{run}", "--stream", "events"],
    ["claims", "{run}", "--status", "open"],
    ["check", "{run}", "--format", "xml"],
    ["check", "{run}", "--phase", "Q"],
    ["signals", "{run}", "--profile", "loud"],
    ["signals", "{run}", "--at", "-1"],
    ["verify", "{run}", "--checkpoint", "12"],
    ["replay", "{run}", "--re-execute", "--to", "3"],
    ["export", "{run}", "out", "--to", "pdf"],
    ["export", "{run}", "out"],
    ["import", "pdf", "{run}", "--out", "new"],
    ["import", "skill", "nothing-here", "--out", "new"],
    ["run", "--resume", "{run}", "-q", "Another question?"],
    ["run", "--resume", "{run}", "--seats", "psychic"],
    ["run", "--resume", "{run}", "--seat", "judge=host"],
    ["run", "--resume", "{run}", "--seat", "host"],
    ["run", "--resume", "{run}", "--max-calls", "0"],
    ["run", "--resume", "{run}", "--seats", "host", "--max-usd", "much"],
    ["submit", "{run}", "r1.B.action", "--give-up", " "],
    ["note", "{run}", ""],
    ["note", "{run}", "bell \x07"],
]


@pytest.mark.parametrize("arguments", USAGE, ids=[" ".join(call).replace("{run} ", "") for call in USAGE])
def test_a_call_that_makes_no_sense_is_one_line(moot: Moot, opened: Path, arguments: list[str]) -> None:
    refused(moot, opened, 2, *[word.replace("{run}", str(opened)) for word in arguments])


@pytest.mark.parametrize("following", [(), ("--json",), ("--quiet",)])
def test_a_reason_that_was_left_out_is_not_the_next_option(
    moot: Moot, opened: Path, following: tuple[str, ...]
) -> None:
    before = content(opened)
    assert moot("submit", opened, "r1.B.action", "--give-up", *following).code == 2
    assert content(opened) == before


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("stauts", "status"),
        ("sumbit", "submit"),
        ("signal", "signals"),
        ("reply", "replay"),
        ("verfy", "verify"),
    ],
)
def test_an_unknown_verb_suggests_the_nearest(moot: Moot, word: str, meant: str) -> None:
    assert f"did you mean `moot {meant}`?" in one_line(moot(word), 2)


# ---------------------------------------------------------------- runs that are none


WITH_A_RUN = [
    "status",
    "next",
    "log",
    "claims",
    "decisions",
    "signals",
    "check",
    "verify",
    "replay",
    "report",
]


@pytest.mark.parametrize("verb", WITH_A_RUN)
def test_a_missing_run_is_said_with_the_runs_that_there_are(moot: Moot, opened: Path, verb: str) -> None:
    shutil.copytree(opened, Path("runs/one-run"))
    shutil.copytree(opened, Path("runs/another"))
    assert "did you mean 'one-run'?" in one_line(moot(verb, "one-rnu"), 2)
    assert "runs there: " in one_line(moot(verb, "qqq"), 2)


@pytest.mark.parametrize("verb", WITH_A_RUN)
def test_what_is_no_run_is_refused(moot: Moot, verb: str) -> None:
    Path("empty").mkdir()
    Path("file").touch()
    one_line(moot(verb, "empty"), 2)
    one_line(moot(verb, "file"), 2)
    one_line(moot(verb, ""), 2)
    one_line(moot(verb, "@last"), 2)


@pytest.mark.parametrize("verb", WITH_A_RUN)
def test_a_run_of_a_newer_format_names_the_version(moot: Moot, opened: Path, verb: str) -> None:
    stream = opened / "decisions.jsonl"
    *lines, last = stream.read_bytes().splitlines()
    newer = last.replace(b'"v":3,', b'"v":4,')
    stream.write_bytes(b"".join(line + b"\n" for line in (*lines, newer)))
    (opened / "head").write_bytes(
        head_bytes(Head(len(lines), line_hash(newer)), (opened / "blobs.jsonl").stat().st_size)
    )
    assert "newer moot" in one_line(moot(verb, opened), 2)


@pytest.mark.parametrize("verb", [verb for verb in WITH_A_RUN if verb != "verify"])
def test_damage_is_said_before_any_output(moot: Moot, opened: Path, verb: str) -> None:
    head = opened / "head"
    head.write_bytes(head.read_bytes().replace(b'"seq":1', b'"seq":7'))
    assert "damaged" in one_line(moot(verb, opened), 3)


def test_verify_says_all_that_is_damaged(moot: Moot, opened: Path) -> None:
    (opened / "decisions.jsonl").write_bytes((opened / "decisions.jsonl").read_bytes()[:-40])
    said = moot("verify", opened, "--json")
    assert (said.code, said.json["ok"], said.json["damaged"]) == (3, False, True)
    assert said.json["problems"]


# ---------------------------------------------------------------- files


FILES: dict[str, Callable[[Path], object]] = {
    "missing": lambda _: None,
    "directory": lambda path: path.mkdir(),
    "not utf-8": lambda path: path.write_bytes(b"[deliberation]\nquestion = '\xe9'\n"),
    "not toml": lambda path: path.write_text("[deliberation\n"),
    "empty": lambda path: path.touch(),
    "no question": lambda path: path.write_text("[deliberation]\ndomain = 'x'\n"),
    "unknown key": lambda path: path.write_text("[deliberation]\nquestion = 'x'\nquestoin = 'y'\n"),
    "unknown role": lambda path: path.write_text(
        "[deliberation]\nquestion = 'x'\n[cast.judge]\ntitle = 'y'\n"
    ),
    "unknown plan": lambda path: path.write_text("[deliberation]\nquestion = 'x'\nplan = 'long'\n"),
    "wrong type": lambda path: path.write_text("[deliberation]\nquestion = 3\n"),
    "lost document": lambda path: path.write_text(
        "[deliberation]\nquestion = 'x'\n[[context]]\nname = 'd'\npath = 'nowhere.md'\n"
    ),
    "binary document": lambda path: (
        path.write_text("[deliberation]\nquestion = 'x'\n[[context]]\nname = 'd'\npath = 'd.bin'\n"),
        path.with_name("d.bin").write_bytes(b"\xff\xff"),
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_bad_deliberation_file_opens_nothing(moot: Moot, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "plan.toml"
    FILES[kind](file)
    one_line(moot("run", file, "--seats", "host", "--out", "new"), 2)
    assert not Path("new").exists()
    assert not Path("runs").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_one_line(moot: Moot, opened: Path, tmp_path: Path) -> None:
    file = reply(tmp_path / "reply.json", GOOD)
    file.chmod(0)
    assert "permission denied" in refused(moot, opened, 2, "submit", opened, "r1.B.action", file)


@pytest.mark.parametrize("name", ["nowhere.json", "."])
def test_an_unreadable_reply_is_one_line(moot: Moot, opened: Path, name: str) -> None:
    assert "cannot read" in refused(moot, opened, 2, "submit", opened, "r1.B.action", name)


def test_a_run_is_never_opened_over_another(moot: Moot, opened: Path) -> None:
    assert "there is a run already" in refused(
        moot, opened, 2, "run", "-q", "What?", "--seats", "host", "--out", opened
    )


def test_nobody_to_answer_is_said_with_the_ways_forward(moot: Moot) -> None:
    said = moot("run", "-q", "What?")
    assert said.code == 2
    assert all(f"--seats {seat}" in said.err for seat in ("anthropic", "host", "human", "tape:RUN"))
    assert said.err.splitlines()[-1].startswith("moot: no seat")
    assert moot("run", "-q", "What?", "--json").json["error"]["code"] == "no_seat"
    assert not Path("runs").exists()


@pytest.mark.parametrize("kind", ["anthropic", "anthropic:some-model", "command:cat"])
def test_offline_refuses_what_could_leave_the_machine(moot: Moot, kind: str) -> None:
    assert "offline" in one_line(moot("run", "-q", "What?", "--seats", kind), 2)
    assert not Path("runs").exists()


# ---------------------------------------------------------------- faults of moot's own


def test_a_fault_of_moot_s_is_one_line_and_debug_shows_where(
    moot: Moot, opened: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import moot.cli.reading as module

    def broken(_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(module, "open_run", broken)
    assert "fault of moot's" in one_line(moot("status", opened), 70)
    said = moot("status", opened, "--debug")
    assert said.code == 70
    assert "Traceback" in said.err
    assert "ZeroDivisionError" in said.err


def forbidden() -> Any:
    """The file system lets nobody write."""

    def see(said: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        how = arguments[1] if said == "open" and len(arguments) > 1 else "r"
        opens = "w" in how if isinstance(how, str) else bool(how & (os.O_CREAT | os.O_WRONLY))
        if opens or said in ("mkdir", "rename"):
            raise PermissionError(errno.EACCES, "Permission denied", str(arguments[0]))
        return real(*arguments, **named)

    return see


@pytest.mark.parametrize(
    "call",
    [
        ("seal", "--new-key", "keys/alice.key"),
        ("seal", "RUN", "--key", "alice.key"),
        ("seal", "RUN", "--key", "alice.key", "--out", "note"),
        ("mcp", "--install-skill", "skills"),
        ("report", "RUN", "--out", "report.md"),
        ("report", "RUN", "--html", "report.html"),
        ("export", "RUN", "exported", "--to", "skill"),
        ("new", "d.toml", "-q", "Which?"),
    ],
    ids=" ".join,
)
def test_permission_denied_while_writing_is_a_failed_write(
    moot: Moot, finished: Path, tmp_path: Path, call: tuple[str, ...]
) -> None:
    """F-14: it said "cannot read", exit code 2."""
    run = shutil.copytree(finished, tmp_path / "run")
    assert moot("seal", "--new-key", "alice.key").code == 0
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    with Watched(forbidden()):
        said = moot(*(str(run) if word == "RUN" else word for word in call))
    assert said.code == 3, said
    assert "cannot write" in said.err
    assert "read" not in said.err.split(";")[0].replace("alread", "")
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("prefix", "line"),
    [
        ("/home/a/.local/share/pipx/venvs/moot-ledger", "pipx inject moot-ledger 'openai>=3.54'"),
        ("/home/a/.local/share/uv/tools/moot-ledger", "uv tool install moot-ledger --with 'openai>=3.54'"),
        ("/srv/app/.venv", "pip install 'openai>=3.54'"),
    ],
)
def test_what_is_to_be_installed_is_said_for_the_tool_that_installed_moot(
    monkeypatch: pytest.MonkeyPatch, prefix: str, line: str
) -> None:
    """Old: it named pip, whose environment is another one under pipx and uv."""
    monkeypatch.setattr("sys.prefix", prefix)
    assert MootError("sdk_missing", "no SDK", "seat", "pip install 'openai>=3.54'").fix == line


@pytest.mark.parametrize("question", ["", "   "])
def test_an_empty_question_is_named_before_a_missing_seat(moot: Moot, question: str) -> None:
    said = moot("run", "-q", question)
    assert said.code == 2
    assert "deliberation.question" in said.err
    assert "no seat" not in said.err
    assert "no seat" in moot("run").err
    assert "no seat" in moot("run", "-q", "Which one?").err
