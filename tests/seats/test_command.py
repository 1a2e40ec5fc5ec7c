"""The `command` seat with real programs: replies, envelopes, complaints, time-outs, floods."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import orjson
import pytest

from roles.seats.command import CommandSeat
from roles.seats.port import AttemptLost, Request, SeatFailed, SeatReply
from tests.rounds.openings import begin

ECHO = """\
import json, sys
said = json.load(sys.stdin)
print(json.dumps({"seat": 1, "reply": {"step": said["step"], "fields": sorted(said)}, "model": "m1",
                  "tokens_in": 3, "tokens_out": -1, "cost_usd": "0.01", "simulated": "fake"}))
"""


def ask(tmp_path: Path, program: str, seconds_max: float = 20.0) -> SeatReply:
    asked = begin(tmp_path / "run").asked()[0]
    seat = CommandSeat([sys.executable, "-c", program], seconds_max=seconds_max)
    return asyncio.run(seat.reply(Request(asked.step, asked.brief)))


def gone(process: int) -> bool:
    """The process has ended; who adopted it may not have collected it yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


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
    assert lost.value.detail.startswith("exit code 1: no quota for sk-[key]")
    assert "12345678" not in lost.value.detail


def test_time_is_up_for_the_program_and_its_children(tmp_path: Path) -> None:
    names, kept = tmp_path / "names", tmp_path / "kept"
    child = f"import os, time; open({str(names)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
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
    assert gone(int(names.read_text()))


def test_a_flood_is_cut(tmp_path: Path) -> None:
    with pytest.raises(AttemptLost, match="more than"):
        ask(tmp_path, "import sys\nwhile True: sys.stdout.write('x' * 65536)")


def test_no_such_program(tmp_path: Path) -> None:
    asked = begin(tmp_path / "run").asked()[0]
    with pytest.raises(SeatFailed) as failed:
        asyncio.run(CommandSeat(["no-such-program-here"]).reply(Request(asked.step, asked.brief)))
    assert failed.value.gone
