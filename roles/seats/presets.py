"""Agents' command lines as seats: `claude`, `codex`, `gemini`, `llm`, each asked once without a conversation.

Each is started as its own documentation says for scripts: the prompt on standard input, the answer on standard output,
in an empty directory of its own that is gone afterwards, and with as few tools as the program can be started with. What
else such a program reads (its settings, its memory, with some the machine's files) is trusted, not enforced.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from roles.seats.command import CommandSeat, told
from roles.seats.port import AttemptLost, Request, Seat, SeatReply, Used, counted, named
from roles.seats.prompt import prompt_of
from roles.seats.registry import MAKERS, PROVIDERS, Wanted, declared_of
from roles.seats.reply_text import objects_in
from roles.seats.server_words import member, members_of

VERSION_SECONDS_MAX: Final = 10.0


@dataclass(frozen=True, slots=True)
class Preset:
    """A program: how it is started, how a model is named, and how its answer is read."""

    name: str
    arguments: tuple[str, ...]
    model_flag: str
    last: tuple[str, ...]
    read: Callable[[bytes], dict[str, Any]]

    def command(self, model: str | None) -> tuple[str, ...]:
        """The arguments that start it."""
        chosen = (self.model_flag, model) if model else ()
        return (self.name, *self.arguments, *chosen, *self.last)


def _plain(out: bytes) -> dict[str, Any]:
    return {"content": out}


def _claude(out: bytes) -> dict[str, Any]:
    """The result of `--output-format json`: one object, or the last of an array of events."""
    said = _object(out, "result", "is_error")
    usage = member(said, "usage")
    if said.get("is_error") is True or not isinstance(said.get("result"), str):
        raise AttemptLost("unavailable", f"claude: {told(out)}", Used())
    read, written = (
        counted(member(usage, "cache_read_input_tokens")),
        counted(member(usage, "cache_creation_input_tokens")),
    )
    fresh = counted(member(usage, "input_tokens"))
    return {
        "content": said["result"].encode(),
        "model": named(next(iter(members_of(member(said, "modelUsage"))), None)),
        "tokens_in": None if fresh is None else fresh + (read or 0) + (written or 0),
        "tokens_cached": read,
        "tokens_cache_write": written,
        "tokens_out": counted(member(usage, "output_tokens")),
        "cost_usd": _usd(said.get("total_cost_usd")),
        "stop_reason": named(said.get("stop_reason")),
    }


def _gemini(out: bytes) -> dict[str, Any]:
    """The one object of `--output-format json`."""
    said = _object(out, "response", "error")
    if said.get("error") is not None or not isinstance(said.get("response"), str):
        raise AttemptLost("unavailable", f"gemini: {told(out)}", Used())
    models = members_of(member(member(said, "stats"), "models"))
    tokens = [member(model, "tokens") for model in models.values()]
    return {
        "content": said["response"].encode(),
        "model": named(next(iter(models), None)),
        "tokens_in": _total(tokens, "prompt"),
        "tokens_cached": _total(tokens, "cached"),
        "tokens_out": _total(tokens, "candidates"),
    }


PRESETS: Final[Mapping[str, Preset]] = {
    one.name: one
    for one in (
        Preset(
            "claude",
            (
                "-p",
                "--output-format",
                "json",
                "--tools",
                "",
                "--strict-mcp-config",
                "--no-session-persistence",
            ),
            "--model",
            (),
            _claude,
        ),
        Preset(
            "codex",
            ("exec", "--sandbox", "read-only", "--skip-git-repo-check", "--ephemeral", "--color", "never"),
            "--model",
            ("-",),
            _plain,
        ),
        Preset(
            "gemini",
            ("--output-format", "json"),
            "--model",
            ("--prompt", "Answer what is asked above."),
            _gemini,
        ),
        Preset(
            "llm",
            ("prompt", "--no-stream", "--no-log"),
            "--model",
            (),
            _plain,
        ),
    )
}


class PresetSeat(CommandSeat):
    """An agent's command line for one or more roles."""

    def __init__(self, preset: Preset, model: str | None = None, **options: Any) -> None:
        super().__init__(preset.command(model), **options)
        self._preset = preset
        self._model = model
        self.declared = declared_of(f"{preset.name}:{model}" if model else preset.name)

    async def reply(self, request: Request) -> SeatReply:
        """Run the program once, in an empty directory of its own."""
        with TemporaryDirectory(prefix="moot-seat-") as place:
            return await self._run(request, place)

    def _asking(self, request: Request) -> bytes:
        return prompt_of(request.brief).encode()

    def _read(self, out: bytes, latency_ms: int) -> SeatReply:
        said = SeatReply(
            content=out,
            seat="command",
            isolation="trusted",
            provider=MAKERS.get(PROVIDERS[self._preset.name].family or ""),
            model=self._model,
            latency_ms=latency_ms,
        )
        found = {name: value for name, value in self._preset.read(out).items() if value is not None}
        return msgspec.structs.replace(said, **found)


def seat_of(wanted: Wanted) -> Seat:
    """Return a seat for an agent's command line."""
    return PresetSeat(PRESETS[wanted.row.name], wanted.rest or None)


def found_version(name: str) -> str | None:
    """What a program says of its version, in a line; None when there is no such program. Empty when it says nothing."""
    path = which(name)
    if path is None:
        return None
    with suppress(OSError, subprocess.SubprocessError):
        ran = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_SECONDS_MAX,
            check=False,
        )
        lines = ran.stdout.decode("utf-8", "replace").strip().splitlines()
        return lines[0][:80] if lines else ""
    return ""


def _object(out: bytes, *fields: str) -> dict[str, Any]:
    """Return the last object of an output that has one of `fields`; lines of a program about itself may surround it."""
    objects = [value for value, _ in objects_in(out.decode("utf-8", "replace"))]
    if not objects:
        raise AttemptLost("malformed", f"no JSON came: {told(out)}", Used())
    return next((value for value in reversed(objects) if any(name in value for name in fields)), objects[-1])


def _total(parts: list[Any], name: str) -> int | None:
    found = [count for part in parts if (count := counted(member(part, name))) is not None]
    return sum(found) if found else None


def _usd(value: object) -> str | None:
    """A number of dollars as a ledger holds it."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return f"{value:.6f}" if 0 <= value < 1_000_000 else None
