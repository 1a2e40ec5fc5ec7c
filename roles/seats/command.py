"""The `command` seat: a program that reads the brief as JSON on stdin and writes its reply to stdout.

    in   {"seat":1,"step":"r3.D.critic","role":"critic","attempt":1,"brief":"…","schema":{…}}
    out  the reply itself; or {"seat":1,"reply":{…}} with, if known, "model", "provider", "tokens_in",
         "tokens_out", "cost_usd" ("0.01"), "stop_reason", and "simulated":"fake" when no model answered

The program runs without a shell, once per attempt, in its own process group, which is killed at the end of the step.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import time
from collections.abc import Sequence
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
"""Environment variable that identifies the processes of one attempt."""
DECIMAL: Final = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]{1,6})?")


class CommandSeat:
    """Seat of a program, for one or more roles. Isolation is trusted: the program may read more than its prompt."""

    kind: SeatKind = "command"

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = tuple(arguments)

    def unready(self) -> str | None:
        """Return an error when the program does not exist, else None."""
        program = self._arguments[0]
        return None if which(program) else f"there is no program {program} to start"

    async def reply(self, request: Request) -> SeatReply:
        """Run the program once. Raises `SeatFailed` when it cannot be started, `AttemptLost` when it fails."""
        return await self._run(request)

    async def _run(self, request: Request, place: str | None = None) -> SeatReply:
        """Run the program in the directory `place` (default: the current one)."""
        began, mark = time.monotonic(), uuid4().hex
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
        # `unready` checked that the program exists; it may have been removed or may not be executable.
        except OSError as error:
            what = f"{self._arguments[0]} cannot be started: {(error.strerror or str(error)).lower()}"
            raise SeatFailed("unavailable", what, gone=True) from None
        try:
            async with asyncio.timeout(SECONDS_MAX):
                out, err, code = await _exchanged(process, self._input(request))
        except TimeoutError:
            what = f"no answer in {SECONDS_MAX:g} seconds"
            _kill_marked(mark)
            raise AttemptLost("timeout", what, Used(), again=False) from None
        # A canceled run must not leave agents behind that keep spending money.
        except asyncio.CancelledError:
            _kill_marked(mark)
            raise
        finally:
            await _ended(process)
        latency = round((time.monotonic() - began) * 1000)
        if len(out) > OUTPUT_BYTES_MAX:
            raise AttemptLost("malformed", f"more than {OUTPUT_BYTES_MAX} bytes", Used(), again=False)
        if code != 0:
            what = f"exit code {code}: {error_text(err or out)}"
            raise AttemptLost("unavailable", what, Used(latency_ms=latency))
        return self._read(out, latency)

    def _input(self, request: Request) -> bytes:
        """Return the bytes for the stdin of the program: the request as one JSON object."""
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

    def _read(self, out: bytes, latency_ms: int) -> SeatReply:
        """Return the reply in an output, with the metadata of its envelope; malformed metadata is ignored."""
        content = out
        envelopes = [
            value
            for value, _ in objects_in(out.decode("utf-8", "replace"))
            if value.get("seat") == 1 and "reply" in value
        ]
        # With two envelopes it is unclear which one is meant, so the output is left to `reply_in`.
        envelope: dict[str, Any] = envelopes[0] if len(envelopes) == 1 else {}
        cost = envelope.get("cost_usd")
        if envelope:
            inner = envelope["reply"]
            content = inner.encode("utf-8", "replace") if isinstance(inner, str) else orjson.dumps(inner)
        return SeatReply(
            content=content,
            seat="command",
            isolation="trusted",
            provider=named(envelope.get("provider")),
            model=named(envelope.get("model")),
            tokens_in=counted(envelope.get("tokens_in")),
            tokens_out=counted(envelope.get("tokens_out")),
            cost_usd=cost if isinstance(cost, str) and DECIMAL.fullmatch(cost) else None,
            latency_ms=latency_ms,
            stop_reason=named(envelope.get("stop_reason")),
            simulated="fake" if envelope.get("simulated") == "fake" else None,
        )


def seat_of(wanted: Wanted) -> Seat:
    """Return a seat for a program and its arguments, in shell syntax."""
    return CommandSeat(shlex.split(wanted.rest))


async def _exchanged(process: asyncio.subprocess.Process, request: bytes) -> tuple[bytes, bytes, int]:
    """Write the request and return stdout, the end of stderr, and the exit code.

    The reply is complete when the program ends or closes its stdout, even if its helper processes still run.
    """
    stdin, stdout, stderr = _pipes(process)
    out, err = bytearray(), bytearray()

    async def write() -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(request)
            await stdin.drain()
        # A program may end without reading its input, which breaks the pipe. That is not an error.
        stdin.close()

    async def read_out() -> None:
        while more := await stdout.read(65_536):
            # One byte over the limit is kept, so that the caller can tell that the output was too long.
            out.extend(more[: OUTPUT_BYTES_MAX + 1 - len(out)])
            if len(out) > OUTPUT_BYTES_MAX:
                _kill(process)

    async def read_err() -> None:
        while more := await stderr.read(65_536):
            err.extend(more)
            # Stderr is read to its end, or the program would block on a full pipe; only the tail is kept.
            del err[:-ERROR_BYTES_KEPT]

    reading = asyncio.create_task(read_out())
    others = [asyncio.create_task(write()), asyncio.create_task(read_err())]
    try:
        # `process.wait` would also wait for the pipes, which a helper process may hold open.
        while process.returncode is None and not reading.done():
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        is_closed = process.returncode is None
        await asyncio.wait([reading], timeout=SECONDS_TO_END)
        # A program that closed its stdout gets a moment to exit by itself, so that its exit code counts.
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
        # It closed its stdout, so the reply is complete, and the caller kills it.
        code = 0
    return bytes(out), bytes(err), -signal.SIGKILL if code is None else code


def _pipes(
    process: asyncio.subprocess.Process,
) -> tuple[asyncio.StreamWriter, asyncio.StreamReader, asyncio.StreamReader]:
    assert process.stdin is not None, "stdin is a pipe"
    assert process.stdout is not None, "stdout is a pipe"
    assert process.stderr is not None, "stderr is a pipe"
    return process.stdin, process.stdout, process.stderr


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Kill the program and its process group, so that nothing keeps running after the step."""
    _kill(process)
    _, stdout, stderr = _pipes(process)
    # A grandchild in a process group of its own may hold the pipes open, so reading them to the end has a time limit.
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS_TO_END):
            while await stdout.read(65_536) or await stderr.read(65_536):
                pass
            await process.wait()
    # asyncio has no public call that closes the pipes. They would stay open until garbage collection, with a warning.
    process._transport.close()  # type: ignore[attr-defined]  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue, reportUnknownMemberType]


def _kill(process: asyncio.subprocess.Process) -> None:
    # The group may be gone already; macOS reports a group of zombies as a permission error.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_marked(mark: str) -> None:
    """Kill the descendants of a program that left its process group, such as background agents.

    Called only after a timeout or a cancellation: a program that ended by itself may have left a server running on
    purpose. Descendants are recognized by the mark in their environment, which only Linux shows.
    """
    wanted = f"{MARK}={mark}".encode()
    for place in Path("/proc").glob("[0-9]*/environ"):
        # Processes of other users cannot be read, and any process may end between these two lines.
        with suppress(OSError):
            if wanted in place.read_bytes().split(b"\0"):
                os.kill(int(place.parent.name), signal.SIGKILL)


def error_text(err: bytes) -> str:
    """Return the tail of a program's error output on one line. It is masked before it is cut."""
    # Cutting first could split a key, and half of a key is not recognized.
    return " ".join(masked(err.decode("utf-8", "replace")).split())[-TOLD_CHARACTERS:] or "it said nothing"
