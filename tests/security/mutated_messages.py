"""Damaged messages of MCP to a server in a process of its own: it survives each line and answers the next one."""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from moot.mcp.rights import rights_in
from tests.protocols import playing
from tests.security.hostile_bytes import HOSTILE_JSON
from tests.security.mutated_files import PEAK_KIBIBYTES_MAX, damage
from tests.security.sample_files import ROOT

ANSWER_SECONDS_MAX: Final = 60
"""How long an answer may take on a busy machine."""
CPU_SECONDS_MAX: Final = 5.0
RUN: Final = "run"


def _messages(token: str) -> list[dict[str, Any]]:
    """Return good messages of every method, with the operator's token."""
    tools: dict[str, dict[str, Any]] = {
        "protocols": {}, "gate": {"question": "Which storage?"}, "status": {"run": RUN},
        "next": {"run": RUN, "token": token}, "log": {"run": RUN, "token": token},
        "claims": {"run": RUN, "token": token},
        "show": {"run": RUN, "id": "@1", "token": token}, "why": {"run": RUN, "id": "@1", "token": token},
        "submit": {"run": RUN, "step": "r1.draft.drafter", "reply": "{}", "token": token},
        "note": {"run": RUN, "text": "a remark", "token": token}, "signals": {"run": RUN, "token": token},
        "new": {"question": "Which?", "protocol": "ratchet", "context": [{"name": "facts.md", "text": "one writer"}]},
        "report": {"run": RUN, "token": token}, "diff": {"a": RUN, "b": RUN, "token": token},
        "fork": {"run": RUN, "round": 1, "token": token}, "ask": {"run": RUN, "token": token},
        "give_up": {"run": RUN, "step": "r1.draft.drafter", "reason": "gone", "token": token},
    }  # fmt: skip
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    calls = [("tools/call", {"name": name, "arguments": words}) for name, words in tools.items()]
    others: list[tuple[str, dict[str, Any]]] = [
        ("initialize", hello), ("tools/list", {}), ("resources/list", {}), ("prompts/list", {}), ("ping", {}),
        ("resources/read", {"uri": f"moot://runs/{RUN}/briefs/r1.draft.drafter"}), ("resources/templates/list", {}),
        ("prompts/get", {"name": "stage-1-question"}), ("logging/setLevel", {"level": "debug"}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}}),
    ]  # fmt: skip
    return [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        for number, (method, params) in enumerate([*calls, *others])
    ] + [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {"answer": "yes"}}},
    ]


class _Server:
    """`moot mcp` as a process, past its handshake."""

    def __init__(self, runs: Path) -> None:
        playing.begin(runs / RUN, "ratchet")
        self.messages: Final = _messages(rights_in(runs).token(RUN, "operator"))
        self._errors: Final = (runs / "stderr").open("w+b")
        self._process: Final = subprocess.Popen(
            [sys.executable, "-m", "moot", "mcp", "--runs", str(runs)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in: Final = self._process.stdin.fileno()
        self._out: Final = self._process.stdout.fileno()
        self._rest = b""
        hello = next(message for message in self.messages if message.get("method") == "initialize")
        self.send(json.dumps({**hello, "id": "hello"}).encode())
        self.answers_until("hello")
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def send(self, line: bytes) -> None:
        """Write a line while reading what comes back, as a host does. Raises `BrokenPipeError`."""
        left = memoryview(line + b"\n")
        while left:
            readable, writable, _ = select.select([self._out], [self._in], [], ANSWER_SECONDS_MAX)
            if readable:
                self._read()
            if writable:
                left = left[os.write(self._in, left[:4_096]) :]
            assert readable or writable, "the server neither reads nor writes"

    def _read(self) -> None:
        part = os.read(self._out, 1 << 20)
        assert part, "the server has gone"
        self._rest += part

    def answers_until(self, identity: str) -> list[dict[str, Any]]:
        """Return the answers up to the one with that id."""
        answers: list[dict[str, Any]] = []
        deadline = time.monotonic() + ANSWER_SECONDS_MAX
        while not any(answer.get("id") == identity for answer in answers):
            assert time.monotonic() < deadline, f"no answer for {ANSWER_SECONDS_MAX} seconds"
            if b"\n" not in self._rest:
                if select.select([self._out], [], [], 1.0)[0]:
                    self._read()
                continue
            *lines, self._rest = self._rest.split(b"\n")
            answers += [json.loads(line) for line in lines]
        return answers

    def peak_kibibytes(self) -> int:
        """Return the most memory that the process has had."""
        text = Path(f"/proc/{self._process.pid}/status").read_text("ascii")
        return int(text.split("VmHWM:")[1].split()[0])

    def cpu_seconds(self) -> float:
        """Return the processor time of the process so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> str:
        """End the process and return what it wrote to stderr."""
        self._process.kill()
        self._process.communicate()
        with self._errors:
            self._errors.seek(0)
            return self._errors.read().decode(errors="replace")


def tried(folder: Path, seeds: range) -> tuple[Counter[str], list[str]]:
    """Send a damaged message for each seed: what was counted, and every fault in words."""
    server, counts, faults = _Server(folder), Counter[str](), list[str]()
    for seed in seeds:
        rng = random.Random(f"message {seed}")
        line = damage(rng, json.dumps(rng.choice(server.messages)).encode(), HOSTILE_JSON)
        before = server.cpu_seconds()
        try:
            server.send(line)
            server.send(b'{"jsonrpc":"2.0","id":"end-%d","method":"ping"}' % seed)
            answers = server.answers_until(f"end-{seed}")
        except (AssertionError, OSError) as problem:
            faults.append(f"message, seed {seed}: {problem}: {line[:300]!r}: {server.stop()[-1_500:]}")
            return counts, faults
        if "fault of moot's" in json.dumps(answers):
            faults.append(f"message, seed {seed}: {line[:300]!r}: {answers}")
        if server.cpu_seconds() - before > CPU_SECONDS_MAX:
            faults.append(
                f"message, seed {seed}: more than {CPU_SECONDS_MAX:g} s of processor time: {line[:300]!r}"
            )
        counts += Counter({"files": 1, "messages answered": len(answers) - 1})
    peak = server.peak_kibibytes()
    if peak > PEAK_KIBIBYTES_MAX:
        faults.append(f"messages {seeds}: {peak} KiB of memory")
    if "Traceback" in (errors := server.stop()):
        faults.append(f"messages {seeds}: {errors[-1_500:]}")
    return counts, faults
