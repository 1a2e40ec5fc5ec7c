"""The `command` seat with real programs: replies, envelopes, complaints, time-outs, floods."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import orjson
import pytest

from ledger.audit.verify import verify
from ledger.redaction.words import readings
from roles.seats import command
from roles.seats.command import CommandSeat
from roles.seats.port import AttemptLost, Request, SeatFailed, SeatReply
from tests.cli.conftest import Moot, moot
from tests.rounds.openings import begin

__all__ = ["moot"]

ECHO = """\
import json, sys
said = json.load(sys.stdin)
print(json.dumps({"seat": 1, "reply": {"step": said["step"], "fields": sorted(said)}, "model": "m1",
                  "tokens_in": 3, "tokens_out": -1, "cost_usd": "0.01", "simulated": "fake"}))
"""


def ask(tmp_path: Path, program: str, seconds_max: float = 20.0) -> SeatReply:
    asked = begin(tmp_path / "run").pending()[0]
    seat = CommandSeat([sys.executable, "-c", program])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "SECONDS_MAX", seconds_max)
        return asyncio.run(seat.reply(Request(asked.step, asked.brief)))


def gone(process: int) -> bool:
    """The process has ended; who adopted it may not have collected it yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def soon_gone(process: int) -> bool:
    """The same within a minute: what was killed dies when it is next scheduled."""
    for _ in range(1_200):
        if gone(process):
            return True
        time.sleep(0.05)
    return False


def test_brief_and_schema_in_reply_and_what_is_known_out(tmp_path: Path) -> None:
    reply = ask(tmp_path, ECHO)
    fields = ["attempt", "brief", "role", "schema", "seat", "step"]
    assert orjson.loads(reply.content) == {"step": "r1.B.action", "fields": fields}
    assert (reply.model, reply.tokens_in, reply.tokens_out, reply.cost_usd) == ("m1", 3, None, "0.01")
    assert (reply.isolation, reply.simulated) == ("trusted", "fake")


def test_anything_else_on_stdout_is_the_reply(tmp_path: Path) -> None:
    assert ask(tmp_path, "print('I agree')").content == b"I agree\n"


def test_a_failing_program_is_asked_again_and_its_last_words_are_kept_without_keys(tmp_path: Path) -> None:
    with pytest.raises(AttemptLost) as lost:
        ask(tmp_path, "import sys; sys.exit('no quota for sk-ant-abcdefgh12345678')")
    assert lost.value.again
    assert lost.value.detail.startswith("exit code 1: no quota for [key]")
    assert "12345678" not in lost.value.detail


def test_keys_are_taken_out_before_the_complaint_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-3: whatever part of a key the cut would leave, and whoever made the key."""
    for name, key in (
        ("OPENAI_API_KEY", "sk-proj-0123456789abcdefghij"),
        ("GATEWAY_TOKEN", "gw/Zx81hQ+77Lmn0p4Kq"),
    ):
        monkeypatch.setenv(name, key)
        for behind in (0, 285, 290, 295, 299, 320):
            with pytest.raises(AttemptLost) as lost:
                ask(
                    tmp_path / f"{name}{behind}",
                    f"import sys; sys.exit('no quota for {key}' + 'x' * {behind})",
                )
            assert not any(key[at : at + 6] in lost.value.detail for at in range(len(key) - 5))


def test_a_key_that_a_program_prints_as_its_reply_is_kept_nowhere(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-3, F-12: neither ledger, nor blob, nor terminal has a key that a program gave back, escaped or not."""
    key = "gw/Zx81hQ+77Lmn0p4Kq"
    monkeypatch.setenv("GATEWAY_TOKEN", key)
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "command")
    escaped = "".join(f"\\\\u{ord(one):04X}" for one in key)
    program = tmp_path / "seat.py"
    program.write_text(
        "import json, sys\n"
        "said = json.load(sys.stdin)\n"
        f'print(\'{{"answer": "{escaped} {key}", "model": 1}}\')\n'
        f"sys.stderr.write('401 for {key}' + 'x' * 290)\n"
        "sys.exit(said['attempt'] == 2)\n"
    )
    said = moot("run", "-q", "Which?", "--protocol", "single-pass", "--seats", f"command:{sys.executable} {program}",
                "--out", "run")  # fmt: skip
    everything = [path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()]
    everything += [said.out.encode(), said.err.encode()]
    assert b"[key]" in b"".join(everything)
    for content in everything:
        for read in readings(content.decode("utf-8", "replace")):
            assert not any(key[at : at + 6] in read for at in range(len(key) - 5))


def test_time_is_up_for_the_program_and_its_children(tmp_path: Path) -> None:
    names, kept = tmp_path / "names", tmp_path / "kept"
    named = f"open({str(names)!r} + '.tmp', 'w') as file: file.write(str(os.getpid()))"
    child = (
        f"import os, time\nwith {named}\nos.rename({str(names)!r} + '.tmp', {str(names)!r})\ntime.sleep(600)"
    )
    program = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); open({str(kept)!r}, 'w')"
    )
    seconds_max = 0.5
    while not names.exists():  # the child has begun: on a busy machine that takes longer than the seat waits
        with pytest.raises(AttemptLost) as lost:
            ask(tmp_path / f"within-{seconds_max:g}", program, seconds_max=seconds_max)
        assert lost.value.reason == "timeout"
        seconds_max *= 2
    assert not kept.exists()
    assert soon_gone(int(names.read_text()))


def test_a_flood_is_cut(tmp_path: Path) -> None:
    with pytest.raises(AttemptLost, match="more than"):
        ask(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 65536)")


def test_no_such_program(tmp_path: Path) -> None:
    asked = begin(tmp_path / "run").pending()[0]
    with pytest.raises(SeatFailed) as failed:
        asyncio.run(CommandSeat(["no-such-program-here"]).reply(Request(asked.step, asked.brief)))
    assert failed.value.gone


# ---------------------------------------------------------------- programs as they are


def program(tmp_path: Path, body: str) -> tuple[str, ...]:
    """A real program that reads its request and then does `body`."""
    file = tmp_path / "program.py"
    file.write_text(f"import os, subprocess, sys, time\nsys.stdin.read()\n{body}\n")
    return (sys.executable, str(file))


@pytest.mark.parametrize(
    "body",
    [
        "subprocess.Popen(['sh', '-c', 'sleep 60; touch late']); print('{}')",
        "subprocess.Popen(['sh', '-c', 'sleep 20; touch late'], start_new_session=True); print('{}')",
        "print('{}'); sys.stdout.flush(); os.close(1); time.sleep(60); open('late', 'w')",
        "sys.stderr.write('trace line\\n' * 300_000); print('{}')",
    ],
    ids=["helper", "helper-in-its-own-group", "closed-stdout", "talkative-stderr"],
)
def test_a_reply_is_whole_when_the_program_has_said_it(tmp_path: Path, body: str) -> None:
    start = f"import os, subprocess, sys, time; os.chdir({str(tmp_path)!r}); sys.stdin.read(); "
    reply = ask(tmp_path, start + body)
    assert reply.content.strip() == b"{}"
    assert not (tmp_path / "late").exists(), "the step waited for what the program left behind"


def test_an_envelope_is_found_behind_a_line_about_the_program_itself(tmp_path: Path) -> None:
    said = (
        """print('Loading {model}'); print('{"seat": 1, "reply": {"a": 1}, "model": "m", "tokens_in": -3}')"""
    )
    reply = ask(tmp_path, said)
    assert (reply.content, reply.model, reply.tokens_in) == (b'{"a":1}', "m", None)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("sys.stdout.write('x' * 100_000_000)", "more than 1000000 bytes"),
        ("sys.stdout.write('{}'); sys.exit(3)", "exit code 3"),
        ("os.kill(os.getpid(), 9)", "exit code -9"),
    ],
    ids=["100-megabytes", "reply-with-exit-code", "killed"],
)
def test_a_program_that_fails_loses_the_attempt_and_nothing_else(
    tmp_path: Path, body: str, reason: str
) -> None:
    with pytest.raises(AttemptLost, match=reason):
        ask(tmp_path, f"import os, sys; sys.stdin.read(); {body}")


def test_a_program_that_says_nothing_gives_an_empty_reply_which_is_repaired(tmp_path: Path) -> None:
    assert ask(tmp_path, "import os; os.close(1); os.close(2)").content == b""


def test_a_program_need_not_read_its_input(tmp_path: Path) -> None:
    assert ask(tmp_path, "import os; os.close(0); print('{}')").content.strip() == b"{}"
    assert (
        ask(tmp_path / "b", "import time; print('{}', flush=True); time.sleep(0.3)").content.strip() == b"{}"
    )


DEAF: Final = "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15)]; "
NOTED: Final = "open(note, 'a').write(f'{os.getpid()} '); "
DAEMON: Final = "subprocess.Popen([sys.executable, '-c', daemon], start_new_session=True); "


@pytest.mark.parametrize(
    ("numbers", "before", "pids"),
    [
        ([signal.SIGTERM], "", 1),
        ([signal.SIGHUP], "", 1),
        ([signal.SIGINT], "", 1),
        ([signal.SIGQUIT], "", 1),
        ([signal.SIGINT, signal.SIGINT], "", 1),
        ([signal.SIGINT, signal.SIGTERM, signal.SIGINT], DEAF, 1),
        ([signal.SIGHUP, signal.SIGTERM], "", 1),
        ([signal.SIGTERM], DEAF, 1),
        ([signal.SIGTERM], DAEMON, 2),
        ([signal.SIGINT], DAEMON + DEAF, 2),
    ],
    ids=[
        "term",
        "hup",
        "int",
        "quit",
        "int-twice",
        "all-deaf",
        "hup-then-term",
        "term-deaf",
        "term-daemon",
        "int-daemon-deaf",
    ],
)
def test_a_signal_ends_the_programs_and_keeps_the_run(
    tmp_path: Path, numbers: list[int], before: str, pids: int
) -> None:
    note = tmp_path / "pid"
    daemon = f"import os, time; open({str(note)!r}, 'a').write(f'{{os.getpid()}} '); time.sleep(60)"
    body = f"import signal; note, daemon = {str(note)!r}, {daemon!r}; {before}{NOTED}time.sleep(60)"
    seat = shlex.join(program(tmp_path, body))
    run = tmp_path / "run"
    arguments = ["run", "-q", "Q?", "--protocol", "single-pass", "--seats", f"command:{seat}"]
    moot = subprocess.Popen(
        [sys.executable, "-m", "moot", *arguments, "--out", str(run), "--yes", "--no-live"],
        env={name: value for name, value in os.environ.items() if name != "MOOT_OFFLINE"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    for _ in range(600):
        if (note.exists() and len(note.read_text().split()) == pids) or moot.poll() is not None:
            break
        time.sleep(0.05)
    assert moot.poll() is None, moot.stderr and moot.stderr.read()
    processes = [int(word) for word in note.read_text().split()]
    for number in numbers:
        moot.send_signal(number)
    while moot.poll() is None and len(numbers) > 1:  # whenever a further signal comes, it changes nothing
        moot.send_signal(numbers[-1])
        time.sleep(0.001)
    _, err = moot.communicate(timeout=30)
    assert moot.returncode == 4, err
    assert b"moot run --resume" in err
    assert all(soon_gone(process) for process in processes)
    assert verify(run).ok


def test_a_server_that_a_program_leaves_running_on_purpose_stays(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    started = "subprocess.Popen(['sleep', '60'], start_new_session=True)"
    noted = f"open({str(note)!r}, 'w').write(str({started}.pid))"
    ask(tmp_path, f"import subprocess, sys; sys.stdin.read(); {noted}; print('{{}}')")
    process = int(note.read_text())
    assert not gone(process)
    os.kill(process, signal.SIGKILL)
