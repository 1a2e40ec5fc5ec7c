"""Command-line agents as seats: `claude`, `codex`, `gemini`, `llm`, each asked once without a conversation.

Each program runs the way its documentation describes for scripts: prompt on standard input, answer on standard output.
It starts in an empty temporary directory and with as few tools as it allows. Isolation is trusted, not enforced: such
a program may read its settings, its memory and, for some, files of the machine.
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

from roles.seats.command import CommandSeat, error_text
from roles.seats.port import AttemptLost, Request, Seat, SeatReply, Used, counted, named
from roles.seats.prompt import prompt_of
from roles.seats.registry import MAKERS, PROVIDERS, Wanted, declared_of
from roles.seats.reply_text import objects_in
from roles.seats.server_words import member, members_of

VERSION_SECONDS_MAX: Final = 10.0


@dataclass(frozen=True, slots=True)
class Preset:
    """Definition of a program: its arguments and the reader of its output."""

    name: str
    arguments: tuple[str, ...]
    last: tuple[str, ...] = ()
    read: Callable[[bytes], dict[str, Any]] = lambda out: {"content": out}

    def command(self, model: str | None) -> tuple[str, ...]:
        """Return the command line, with the model flag if a model is named."""
        chosen = ("--model", model) if model else ()
        return (self.name, *self.arguments, *chosen, *self.last)


def _claude(out: bytes) -> dict[str, Any]:
    """Read the output of `--output-format json`: one object, or the last of an array of events."""
    result = _object(out, "result", "is_error")
    usage = member(result, "usage")
    if result.get("is_error") is True or not isinstance(result.get("result"), str):
        raise AttemptLost("unavailable", f"claude: {error_text(out)}", Used())
    read, written = (
        counted(member(usage, "cache_read_input_tokens")),
        counted(member(usage, "cache_creation_input_tokens")),
    )
    # Claude reports cached tokens apart from `input_tokens`; a ledger's `tokens_in` is the whole prompt.
    fresh = counted(member(usage, "input_tokens"))
    return {
        "content": result["result"].encode(),
        "model": named(next(iter(members_of(member(result, "modelUsage"))), None)),
        "tokens_in": None if fresh is None else fresh + (read or 0) + (written or 0),
        "tokens_cached": read,
        "tokens_cache_write": written,
        "tokens_out": counted(member(usage, "output_tokens")),
        "cost_usd": _usd(result.get("total_cost_usd")),
        "stop_reason": named(result.get("stop_reason")),
    }


def _gemini(out: bytes) -> dict[str, Any]:
    """Read the single object of `--output-format json`."""
    result = _object(out, "response", "error")
    if result.get("error") is not None or not isinstance(result.get("response"), str):
        raise AttemptLost("unavailable", f"gemini: {error_text(out)}", Used())
    models = members_of(member(member(result, "stats"), "models"))
    # Gemini CLI may call a second model for routing, so the tokens of all of them are added up.
    tokens = [member(model, "tokens") for model in models.values()]
    return {
        "content": result["response"].encode(),
        "model": named(next(iter(models), None)),
        "tokens_in": _total(tokens, "prompt"),
        "tokens_cached": _total(tokens, "cached"),
        "tokens_out": _total(tokens, "candidates"),
    }


PRESETS: Final[Mapping[str, Preset]] = {
    preset.name: preset
    for preset in (
        Preset(
            "claude",
            (
                "-p",
                "--output-format",
                "json",
                "--tools",
                "",
                # No tools, no MCP servers and no session file: the prompt is all that the seat should see.
                "--strict-mcp-config",
                "--no-session-persistence",
            ),
            read=_claude,
        ),
        Preset(
            "codex",
            # The directory is empty and no repository, which Codex refuses without this flag.
            ("exec", "--sandbox", "read-only", "--skip-git-repo-check", "--ephemeral", "--color", "never"),
            ("-",),
        ),
        Preset(
            "gemini",
            ("--output-format", "json"),
            # Gemini CLI appends `--prompt` to standard input, so it only has to point there.
            ("--prompt", "Answer what is asked above."),
            _gemini,
        ),
        Preset(
            "llm",
            ("prompt", "--no-stream", "--no-log"),
        ),
    )
}


class PresetSeat(CommandSeat):
    """Seat of a command-line agent, for one or more roles."""

    def __init__(self, preset: Preset, model: str | None = None) -> None:
        super().__init__(preset.command(model))
        self._preset = preset
        self._model = model
        self.declared = declared_of(f"{preset.name}:{model}" if model else preset.name)

    async def reply(self, request: Request) -> SeatReply:
        """Run the program once, in an empty temporary directory."""
        with TemporaryDirectory(prefix="moot-seat-") as place:
            return await self._run(request, place)

    def _input(self, request: Request) -> bytes:
        return prompt_of(request.brief).encode()

    def _read(self, out: bytes, latency_ms: int) -> SeatReply:
        reply = SeatReply(
            content=out,
            seat="command",
            isolation="trusted",
            provider=MAKERS.get(PROVIDERS[self._preset.name].family or ""),
            model=self._model,
            latency_ms=latency_ms,
        )
        # A field that the program does not report must not overwrite what is known, such as the requested model.
        fields = {name: value for name, value in self._preset.read(out).items() if value is not None}
        return msgspec.structs.replace(reply, **fields)


def seat_of(wanted: Wanted) -> Seat:
    """Return a seat for a command-line agent."""
    return PresetSeat(PRESETS[wanted.row.name], wanted.rest or None)


def found_version(name: str) -> str | None:
    """Return the first line of `NAME --version`; empty when it prints nothing, None when there is no such program."""
    path = which(name)
    if path is None:
        return None
    # A program that is installed but hangs or crashes still counts as installed.
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
    """Return the last JSON object in an output that has one of `fields`; log lines may surround it."""
    objects = [value for value, _ in objects_in(out.decode("utf-8", "replace"))]
    if not objects:
        raise AttemptLost("malformed", f"no JSON came: {error_text(out)}", Used())
    return next((value for value in reversed(objects) if any(name in value for name in fields)), objects[-1])


def _total(parts: list[Any], name: str) -> int | None:
    counts = [count for part in parts if (count := counted(member(part, name))) is not None]
    # Without any count the total is unknown (None), which is not the same as zero.
    return sum(counts) if counts else None


def _usd(value: object) -> str | None:
    """Format dollars for the ledger, with six decimals; None for anything but a finite amount."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return f"{value:.6f}" if 0 <= value < 1_000_000 else None
