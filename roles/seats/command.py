"""The `command` seat: a program that reads the brief as JSON on stdin and writes its reply on stdout.

    in   {"seat":1,"step":"r3.D.critic","role":"critic","attempt":1,"brief":"…","schema":{…}}
    out  the reply itself; or {"seat":1,"reply":{…}} with, as far as known, "model", "provider", "tokens_in",
         "tokens_out", "cost_usd" ("0.01"), "stop_reason", and "simulated":"fake" when no model answered

The program is started without a shell, once per attempt, in a process group of its own that is ended with the step.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import which
from typing import Any, Final
from uuid import uuid4

import orjson

from ledger.events.envelope import SeatKind
from ledger.redaction.masking import masked
from roles.seats.port import (
    AttemptLost,
    Request,
    Seat,
    SeatFailed,
    SeatReply,
    Used,
    counted,
    named,
)
from roles.seats.registry import Wanted
from roles.seats.reply_text import objects_in

SECONDS_MAX: Final = 600.0
OUTPUT_BYTES_MAX: Final = 1_000_000
ERROR_BYTES_KEPT: Final = 65_536
SECONDS_TO_END: Final = 2.0
SECONDS_BETWEEN_LOOKS: Final = 0.02
TOLD_CHARACTERS: Final = 300
MARK: Final = "MOOT_SEAT_PROCESS"
"""A variable that tells the processes of one attempt from all others."""
DECIMAL: Final = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]{1,6})?")


class CommandSeat:
    """A program for one or more roles; what else it reads is trusted, not enforced."""

    kind: SeatKind = "command"

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        seconds_max: float = SECONDS_MAX,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._arguments = tuple(arguments)
        self._seconds_max = seconds_max
        self._monotonic = monotonic

    def unready(self) -> str | None:
        """Return that there is no such program; None when there is."""
        program = self._arguments[0]
        return None if which(program) else f"there is no program {program} to start"

    async def reply(self, request: Request) -> SeatReply:
        """Run the program once. Raises `SeatFailed` when there is no such program, `AttemptLost` when it fails."""
        return await self._run(request)

    async def _run(self, request: Request, place: str | None = None) -> SeatReply:
        """The same in a directory, the present one unless one is named."""
        began, mark = self._monotonic(), uuid4().hex
        try:
            process = await asyncio.create_subprocess_exec(
                *self._arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                cwd=place,
                env={**os.environ, MARK: mark},
            )
        except OSError as error:
            what = f"{self._arguments[0]} cannot be started: {(error.strerror or str(error)).lower()}"
            raise SeatFailed("unavailable", what, gone=True) from None
        try:
            async with asyncio.timeout(self._seconds_max):
                out, err, code = await _exchanged(process, self._asking(request))
        except TimeoutError:
            what = f"no answer in {self._seconds_max:g} seconds"
            _kill_marked(mark)
            raise AttemptLost("timeout", what, Used(), again=False) from None
        except asyncio.CancelledError:
            _kill_marked(mark)
            raise
        finally:
            await _ended(process)
        latency = round((self._monotonic() - began) * 1000)
        if len(out) > OUTPUT_BYTES_MAX:
            raise AttemptLost("malformed", f"more than {OUTPUT_BYTES_MAX} bytes", Used(), again=False)
        if code != 0:
            what = f"exit code {code}: {told(err or out)}"
            raise AttemptLost("unavailable", what, Used(latency_ms=latency))
        return self._read(out, latency)

    def _asking(self, request: Request) -> bytes:
        """What is written to the program."""
        return asking(request)

    def _read(self, out: bytes, latency_ms: int) -> SeatReply:
        """The reply in what it printed."""
        return _read(out, latency_ms)


def asking(request: Request) -> bytes:
    """A request as one JSON object."""
    return orjson.dumps(
        {
            "seat": 1,
            "step": request.step.id,
            "role": request.step.role,
            "attempt": request.attempt,
            "brief": request.brief.text,
            "schema": request.brief.schema,
        }
    )


def seat_of(wanted: Wanted) -> Seat:
    """Return a seat for a program with its arguments, written as for a shell."""
    return CommandSeat(shlex.split(wanted.rest))


async def _exchanged(process: asyncio.subprocess.Process, request: bytes) -> tuple[bytes, bytes, int]:
    """Write the request and return stdout, the end of stderr, and the exit code.

    The reply is whole when the program ends or closes its stdout, whatever helpers that it left behind still hold.
    """
    stdin, stdout, stderr = _pipes(process)
    out, err = bytearray(), bytearray()

    async def write() -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(request)
            await stdin.drain()
        stdin.close()  # a program need not read its input

    async def read_out() -> None:
        while more := await stdout.read(65_536):
            out.extend(more[: OUTPUT_BYTES_MAX + 1 - len(out)])
            if len(out) > OUTPUT_BYTES_MAX:
                _kill(process)

    async def read_err() -> None:
        while more := await stderr.read(65_536):
            err.extend(more)
            del err[:-ERROR_BYTES_KEPT]  # read to the end, or the program would wait for room in the pipe

    reading = asyncio.create_task(read_out())
    others = [asyncio.create_task(write()), asyncio.create_task(read_err())]
    try:
        # `process.wait` would wait for the pipes as well, which a helper may hold.
        while process.returncode is None and not reading.done():
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        is_closed = process.returncode is None
        await asyncio.wait([reading], timeout=SECONDS_TO_END)
        for _ in range(round(SECONDS_TO_END / SECONDS_BETWEEN_LOOKS)):
            if process.returncode is not None:
                break
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    finally:
        for task in (reading, *others):
            task.cancel()
        await asyncio.gather(reading, *others, return_exceptions=True)
    code = process.returncode
    if code is None and is_closed and out:
        code = 0  # it said everything, and is ended now
    return bytes(out), bytes(err), -signal.SIGKILL if code is None else code


def _pipes(
    process: asyncio.subprocess.Process,
) -> tuple[asyncio.StreamWriter, asyncio.StreamReader, asyncio.StreamReader]:
    assert process.stdin is not None, "stdin is a pipe"
    assert process.stdout is not None, "stdout is a pipe"
    assert process.stderr is not None, "stderr is a pipe"
    return process.stdin, process.stdout, process.stderr


async def _ended(process: asyncio.subprocess.Process) -> None:
    """End the program and what it started; nothing is left running when a step is over."""
    _kill(process)
    _, stdout, stderr = _pipes(process)
    with suppress(TimeoutError):  # a grandchild in a group of its own may hold the pipes open
        async with asyncio.timeout(SECONDS_TO_END):
            while await stdout.read(65_536) or await stderr.read(65_536):
                pass
            await process.wait()
    # The pipes of such a grandchild would stay open, and be complained of, until the garbage is collected.
    process._transport.close()  # type: ignore[attr-defined]  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue, reportUnknownMemberType]


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_marked(mark: str) -> None:
    """Kill what a program started that left its process group, as agents do that run on in the background.

    Only after a program that was broken off: one that ended by itself may have left a server running on purpose. The
    mark is in the environment of whatever it started, which only Linux shows.
    """
    wanted = f"{MARK}={mark}".encode()
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if wanted in place.read_bytes().split(b"\0"):
                os.kill(int(place.parent.name), signal.SIGKILL)


def _read(out: bytes, latency_ms: int) -> SeatReply:
    """The reply in an output; the rest of an envelope says who answered, as far as it is well formed."""
    content = out
    envelopes = [
        value
        for value, _ in objects_in(out.decode("utf-8", "replace"))
        if value.get("seat") == 1 and "reply" in value
    ]
    said: dict[str, Any] = envelopes[0] if len(envelopes) == 1 else {}
    if said:
        inner = said["reply"]
        content = inner.encode("utf-8", "replace") if isinstance(inner, str) else orjson.dumps(inner)
    return SeatReply(
        content=content,
        seat="command",
        isolation="trusted",
        provider=named(said.get("provider")),
        model=named(said.get("model")),
        tokens_in=counted(said.get("tokens_in")),
        tokens_out=counted(said.get("tokens_out")),
        cost_usd=_usd(said.get("cost_usd")),
        latency_ms=latency_ms,
        stop_reason=named(said.get("stop_reason")),
        simulated="fake" if said.get("simulated") == "fake" else None,
    )


def _usd(value: object) -> str | None:
    return value if isinstance(value, str) and DECIMAL.fullmatch(value) else None


def told(err: bytes) -> str:
    """The end of what a program complained of, on one line, masked before it is cut."""
    return " ".join(masked(err.decode("utf-8", "replace")).split())[-TOLD_CHARACTERS:] or "it said nothing"
