"""The process that holds a local model: requests as lines of JSON on stdin, one answer at a time on stdout.

    in   {"messages":[…],"max_tokens":n,"response_format":{…}}            as llama.cpp's chat completions take it
    out  {"ready":true} once; per request {"words":"…"}* and then {"stop":"…","in":n,"cached":n,"out":n}
         or {"refused":"exceed_context_size_error","told":"…","in":n}; {"failed":"…"} when the model cannot be loaded

A process of its own, because native code that aborts ends its process, and because a call is broken off by ending it.
It imports nothing of moot and ends when its stdin does, so that it never outlives who started it. llama.cpp serves on
a socket, whether anybody wants it or not: here on one that has lost its name before the first request.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import sys
import tempfile
import threading
from typing import IO, Any


def main(model: str, context: int, threads: int) -> None:
    """Answer until stdin ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the library prints is no answer
    try:
        server = _served(model, context, threads)
    except (RuntimeError, ValueError, OSError) as error:
        _say(out, {"failed": str(error)})
        return
    _say(out, {"ready": True})
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    while True:
        _answer(server, json.loads(lines.get()), out)


def _served(model: str, context: int, threads: int) -> Any:
    library: Any = importlib.import_module("xllamacpp")
    wanted = library.CommonParams()
    wanted.model.path = model
    wanted.n_ctx, wanted.n_parallel, wanted.fit_params = context, 1, False
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    wanted.offline, wanted.ui, wanted.warmup, wanted.verbosity = True, False, False, -1
    with tempfile.TemporaryDirectory(prefix="moot-local-") as directory:
        wanted.hostnames, wanted.port = [f"{directory}/model.sock"], 0
        return library.Server(wanted)


def _read(lines: queue.Queue[str]) -> None:
    """Requests in order; the end of stdin ends the process, also in the middle of an answer."""
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)


def _answer(server: Any, request: dict[str, Any], out: IO[str]) -> None:
    end: dict[str, Any] = {"stop": None, "in": None, "cached": None, "out": None}

    def take(piece: dict[str, Any]) -> bool:
        if "error" in piece:
            fault = piece["error"]
            end.update(refused=fault.get("type"), told=fault.get("message"))
            end["in"] = fault.get("n_prompt_tokens")
        for choice in piece.get("choices", ()):
            if words := choice.get("delta", {}).get("content"):
                _say(out, {"words": words})
            end["stop"] = choice.get("finish_reason") or end["stop"]
        if usage := piece.get("usage"):
            end["in"], end["out"] = usage["prompt_tokens"], usage["completion_tokens"]
            end["cached"] = usage.get("prompt_tokens_details", {}).get("cached_tokens")
        return False  # go on

    try:
        server.handle_chat_completions(
            {**request, "stream": True, "stream_options": {"include_usage": True}}, take
        )
    except (RuntimeError, ValueError) as error:
        end.update(refused="invalid_request_error", told=str(error))
    _say(out, end)


def _say(out: IO[str], said: dict[str, Any]) -> None:
    out.write(json.dumps(said) + "\n")
    out.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
