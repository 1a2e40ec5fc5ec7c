"""A start that must fail makes no run, and one that fails with nothing paid leaves none: dead runs once led `list`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Moot
from tests.fake_api.faults import status
from tests.fake_api.server import FakeApi

ASK = ("run", "-q", "Which storage?", "--protocol", "single-pass", "--no-live", "--out", "runs/new")
KEYS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENROUTER_API_KEY",
)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MOOT_OFFLINE", raising=False)


def empty(_: str, __: dict[str, Any]) -> str:
    """A reply that nobody reads."""
    return "{}"


def closed_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(
    ("seats", "says"),
    [
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("openrouter:maker/model", "OPENROUTER_API_KEY"),
        ("command:./no-such-program --fast", "no program ./no-such-program"),
        ("openai:m@http://127.0.0.1:{port}/v1", "refused"),
        ("openai:m@http://127.0.0.1:99999/v1", "is not an address"),
        ("ollama:qwen3", "refused"),
        ("tape:nowhere", "no run 'nowhere'"),
    ],
)
def test_what_is_known_beforehand_makes_no_run(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, seats: str, says: str
) -> None:
    port = closed_port()
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{port}")
    said = moot(*ASK, "--seats", seats.format(port=port))
    assert said.code in (2, 5), said
    assert says in said.err
    assert said.err.count("\n") == 1
    assert not Path("runs/new").exists()


def test_a_missing_program_for_one_role_is_known_too(moot: Moot) -> None:
    said = moot(
        "run", "-q", "Which?", "--seats", "host", "--seat", "critic=command:no-such-program", "--out", "new"
    )
    assert (said.code, "seat of critic" in said.err) == (5, True)
    assert not Path("new").exists()


def test_a_wrong_key_leaves_no_run_and_says_so(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeApi(empty, fault=lambda _: status(401)) as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong-00")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        said = moot(*ASK, "--seats", "anthropic")
    assert said.code == 5
    assert "the key was not accepted" in said.err
    assert "the run was removed" in said.err
    assert not Path("runs/new").exists()


@pytest.mark.parametrize(
    ("spec", "meant"),
    [
        ("gpt-5", "openai:gpt-5"),
        ("claude-opus-5", "anthropic:claude-opus-5"),
        ("qwen3:8b", "ollama:qwen3:8b"),
        ("meta/llama-3", "openrouter:meta/llama-3"),
        ("opneai", "openai"),
    ],
)
def test_a_bare_model_name_suggests_its_provider(moot: Moot, spec: str, meant: str) -> None:
    for seats in (spec, f"mix:{spec},host"):
        said = moot(*ASK, "--seats", seats)
        assert said.code == 2
        assert meant in said.err


@pytest.mark.parametrize(
    ("seats", "key", "address"),
    [
        ("anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com"),
        ("openai:m", "OPENAI_API_KEY", "https://api.openai.com/v1"),
        ("openrouter:maker/model", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1"),
    ],
)
def test_a_proxy_that_cannot_be_is_said_in_one_line(
    tmp_path: Path, seats: str, key: str, address: str
) -> None:
    """A process of its own: a client that was half built once left a traceback when the interpreter ended."""
    environment = {**os.environ, key: "k", "ALL_PROXY": "foo://x:1", "HTTPS_PROXY": "foo://x:1"}
    ended = subprocess.run(
        [sys.executable, "-m", "moot", *ASK, "--seats", seats, "--max-usd", "3"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 5
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith(f"moot: cannot reach {address} through the proxy")
    assert list(tmp_path.iterdir()) == []
