"""Agents' command lines as seats, by programs that take what the documentation of their namesakes says, and no more."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

import orjson
import pytest

from roles.seats.port import AttemptLost, Request, SeatFailed, SeatReply
from roles.seats.presets import PRESETS, PresetSeat, found_version
from roles.seats.registry import MAKERS, PROVIDERS
from tests.cli.conftest import Moot, moot
from tests.rounds.openings import begin

__all__ = ["moot"]

REPLY: Final = '{"sections": []}'
PROGRAM: Final = """\
#!{python}
import json, os, sys
name, flags, switches, words = {name!r}, {flags!r}, {switches!r}, {words!r}
given, rest = sys.argv[1:], []
if given == ["--version"]:
    print(name, "9.8.7"); print("more"); sys.exit(0)
said = {{}}
while given:
    word = given.pop(0)
    if word in switches: said[word] = True
    elif word in flags: said[word] = given.pop(0)
    elif word in words: rest.append(word)
    else: sys.exit(name + ": unknown argument " + word)
prompt = sys.stdin.read()
assert "Reply schema of this step" in prompt, "the prompt comes on standard input"
with open({log!r}, "w") as log:
    json.dump({{"said": said, "rest": rest, "here": os.listdir("."), "cwd": os.getcwd()}}, log)
{tell}
"""
CLAUDE: Final = """
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": REPLY,
  "stop_reason": "end_turn", "total_cost_usd": 0.0123, "modelUsage": {"claude-opus-5-5": {}},
  "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 2,
            "output_tokens": 7}}))"""
GEMINI: Final = """
print(json.dumps({"response": REPLY, "stats": {"models": {"gemini-3-pro": {"tokens":
  {"prompt": 20, "candidates": 4, "total": 24, "cached": 3}}}}}))"""
DOCUMENTED: Final = {
    "claude": (
        ["--output-format", "--tools", "--model"],
        ["-p", "--strict-mcp-config", "--no-session-persistence"],
        [],
        CLAUDE,
    ),
    "codex": (
        ["--sandbox", "--color", "--model"],
        ["--skip-git-repo-check", "--ephemeral"],
        ["exec", "-"],
        "print(REPLY)",
    ),
    "gemini": (["--output-format", "--prompt", "--model"], [], [], GEMINI),
    "llm": (["--model"], ["--no-stream", "--no-log"], ["prompt"], "print(REPLY)"),
}
"""Name → options with a value, switches, words, and what it prints."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of programs that comes first on the path."""
    found = tmp_path / "bin"
    found.mkdir()
    monkeypatch.setenv("PATH", f"{found}{os.pathsep}{os.environ['PATH']}")
    return found


def program(place: Path, name: str, tell: str | None = None) -> Path:
    """A program of that name; the file that it leaves."""
    flags, switches, words, usual = DOCUMENTED[name]
    log = place.parent / f"{name}.json"
    told = f"REPLY = {REPLY!r}\n{usual if tell is None else tell}"
    text = PROGRAM.format(
        python=sys.executable, name=name, flags=flags, switches=switches, words=words, log=str(log), tell=told
    )
    (place / name).write_text(text)
    (place / name).chmod(0o755)
    return log


def ask(tmp_path: Path, name: str, model: str | None = None) -> SeatReply:
    asked = begin(tmp_path / "run").pending()[0]
    return asyncio.run(PresetSeat(PRESETS[name], model).reply(Request(asked.step, asked.brief)))


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("model", [None, "some-model-1"])
def test_each_is_started_as_documented_in_an_empty_directory_that_is_gone_afterwards(
    tmp_path: Path, place: Path, name: str, model: str | None
) -> None:
    log = program(place, name)
    reply = ask(tmp_path, name, model)
    assert reply.content.strip() == REPLY.encode()
    assert (reply.seat, reply.isolation) == ("command", "trusted")
    assert reply.provider == MAKERS.get(PROVIDERS[name].family or "")
    left = orjson.loads(log.read_bytes())
    assert left["said"].get("--model") == model
    assert left["here"] == []
    assert not Path(left["cwd"]).exists()


def test_what_they_say_of_tokens_models_and_dollars_is_kept(tmp_path: Path, place: Path) -> None:
    program(place, "claude")
    program(place, "gemini")
    claude = ask(tmp_path / "a", "claude")
    assert (claude.model, claude.tokens_in, claude.tokens_cached) == ("claude-opus-5-5", 17, 5)
    assert (claude.tokens_out, claude.cost_usd, claude.stop_reason) == (7, "0.012300", "end_turn")
    gemini = ask(tmp_path / "b", "gemini", "pro")
    assert (gemini.model, gemini.tokens_in, gemini.tokens_out, gemini.cost_usd) == (
        "gemini-3-pro",
        20,
        4,
        None,
    )


def test_claude_is_given_no_tools_and_codex_a_read_only_sandbox(tmp_path: Path, place: Path) -> None:
    logs = {name: program(place, name) for name in ("claude", "codex")}
    for name in logs:
        ask(tmp_path / name, name)
    said = {name: orjson.loads(log.read_bytes())["said"] for name, log in logs.items()}
    assert said["claude"]["--tools"] == ""
    assert said["claude"]["--strict-mcp-config"]
    assert said["codex"]["--sandbox"] == "read-only"


@pytest.mark.parametrize(
    ("name", "tell", "reason"),
    [
        (
            "claude",
            'print(json.dumps({"is_error": True, "result": "Credit balance is too low"}))',
            "unavailable",
        ),
        ("claude", 'print("Welcome!")', "malformed"),
        ("gemini", 'print(json.dumps({"error": {"message": "quota"}}))', "unavailable"),
        ("llm", 'sys.exit("Error: no key sk-proj-planted-0123456789")', "unavailable"),
    ],
)
def test_a_program_that_fails_loses_the_attempt_and_no_key_is_kept(
    tmp_path: Path, place: Path, name: str, tell: str, reason: str
) -> None:
    program(place, name, tell)
    with pytest.raises(AttemptLost) as lost:
        ask(tmp_path, name)
    assert lost.value.reason == reason
    assert "planted" not in lost.value.detail


def test_a_program_that_is_not_there_is_gone_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SeatFailed, match="claude cannot be started") as failed:
        ask(tmp_path, "claude")
    assert failed.value.gone


def test_doctor_says_which_are_here_with_version_and_isolation(moot: Moot, place: Path) -> None:
    for name in ("codex", "llm"):
        program(place, name)
    assert found_version("codex") == "codex 9.8.7"
    said = {one["name"]: one for one in moot("doctor", "--json").json["examined"]}
    for name in ("codex", "llm"):
        assert said[f"seat {name}"]["found"].startswith(f"{name} 9.8.7; isolation trusted: ")
        assert PROVIDERS[name].open_to_it in said[f"seat {name}"]["found"]


def test_a_preset_of_a_file_needs_the_person_s_word(
    moot: Moot, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-5: a program that a file names is started by the person, by name or not."""
    log = program(place, "llm")
    file = tmp_path / "sent.toml"
    file.write_text('[deliberation]\nquestion = "Which?"\nprotocol = "council"\n[cast.solo]\nseat = "llm"\n')
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "command")
    said = moot("run", file, "--out", "run")
    assert said.code == 2
    assert "--allow-commands" in said.err
    assert not log.exists()
    moot("run", file, "--out", "run", "--allow-commands")
    assert log.exists()
