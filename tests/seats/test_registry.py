"""A new provider is a row and an adapter: the product is copied, two files are changed, and everything knows it."""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from roles.seats.registry import PROVIDERS
from tests.fake_api.openai_rules import COMPATIBLE, KEY
from tests.fake_api.openai_server import FakeOpenAI

ROOT: Final = Path(__file__).parents[2]
PRODUCT: Final = ("ledger", "roles", "rounds", "validators", "detectors", "schemas", "moot")
REGISTRY: Final = "roles/seats/registry.py"
ROW: Final = """\
ROWS: Final = (
    Provider(
        name="parrot",
        help="a parrot, for tests",
        runs="api",
        seat="parrot",
        adapter="roles.seats.parrot",
        example="parrot:MODEL",
        is_rest_needed=True,
        key="PARROT_KEY",
        address="http://parrots.example/v1",
        address_variable="PARROT_URL",
    ),
    Provider(
        name="together",
        help="a server that speaks the Chat Completions API, for tests",
        runs="api",
        seat="openai",
        adapter=OPENAI,
        example="together:MODEL",
        is_rest_needed=True,
        sdk=OPENAI_SDK,
        key="TOGETHER_KEY",
        needs_key=True,
        address="http://together.example/v1",
        address_variable="TOGETHER_URL",
    ),
"""
ADAPTER: Final = '''
"""An adapter with an API of its own: the reply stands in the environment. Scripted, for tests."""

import os

from roles.seats.port import SeatReply
from roles.seats.registry import declared_of


class Parrot:
    def __init__(self, wanted):
        self.kind, self.model = wanted.row.seat, wanted.rest
        self.declared = declared_of(f"{wanted.row.name}:{wanted.rest}")

    async def reply(self, request):
        text = os.environ["PARROT_REPLY"].encode()
        return SeatReply(content=text, seat=self.kind, isolation="enforced", provider="parrot", model=self.model)


def seat_of(wanted):
    return Parrot(wanted)
'''
REPLY: Final = {
    "plan": "Use server-sent events over one HTTP connection for each user.",
    "assumptions": [{"text": "Messages flow one way.", "unrequested": True}],
    "criticisms": [
        {
            "claim": f"Weakness {n}.",
            "text": "A proxy closes idle streams after 60 seconds.",
            "disposition": "accepted",
            "reason": "It is known to do it.",
            "revision": "A comment line is sent every 20 seconds.",
            "question": None,
        }
        for n in range(3)
    ],
    "decision": "Use server-sent events with a heartbeat.",
    "revised": "Use server-sent events with a heartbeat comment and a resume id.",
    "confidence": 4,
    "falsifiers": ["A client needs to send more than one message per second."],
    "requirements": [],
}


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """A copy of the product with two more providers, made in two files."""
    copy = tmp_path / "product"
    for package in PRODUCT:
        shutil.copytree(ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__"))
    registry = copy / REGISTRY
    text = registry.read_text()
    assert text.count("ROWS: Final = (\n") == 1
    registry.write_text(text.replace("ROWS: Final = (\n", ROW))
    (copy / "roles/seats/parrot.py").write_text(ADAPTER)
    return copy


def changed(copy: Path) -> set[str]:
    """The files of the copy that are not those of the product."""
    return {
        str(path.relative_to(copy))
        for package in PRODUCT
        for path in (copy / package).rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and not _is_same(path, ROOT / path.relative_to(copy))
    }


def _is_same(path: Path, original: Path) -> bool:
    return original.exists() and filecmp.cmp(path, original, shallow=False)


def moot(copy: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the moot of the copy."""
    here = {
        "PYTHONPATH": str(copy),
        "NO_COLOR": "1",
        "MOOT_OFFLINE": "",
        "XDG_CONFIG_HOME": str(copy),
        "PARROT_REPLY": json.dumps(REPLY),
    }
    return subprocess.run(
        [sys.executable, "-m", "moot", *arguments],
        cwd=copy,
        env={**os.environ, **here, **environment},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def _lines(stream: Path) -> list[Any]:
    return [json.loads(line) for line in stream.read_text().splitlines()]


ASK: Final = ("run", "-q", "SSE or websockets?", "--protocol", "single-pass", "--yes", "--no-live")


@pytest.mark.slow
def test_a_new_provider_is_a_row_and_an_adapter(product: Path) -> None:
    answered = moot(product, *ASK, "--seats", "parrot:grey-1", "--out", "run")
    assert answered.returncode == 0, answered.stderr
    lines = [line for stream in ("claims", "decisions") for line in _lines(product / f"run/{stream}.jsonl")]
    calls = [line.get("call") for line in lines]
    assert {(call["seat"], call["provider"], call["model"]) for call in calls if call} == {
        ("parrot", "parrot", "grey-1")
    }
    for verb in ("verify", "check", "status"):
        assert moot(product, verb, "run").returncode == 0, verb
    again = moot(product, "replay", "run", "--re-execute")
    assert again.returncode == 0, again.stderr

    listed = moot(product, *ASK).stderr
    assert "parrot:MODEL" in listed
    assert "a parrot, for tests" in listed
    assert "parrot:MODEL" in moot(product, "run", "--help", COLUMNS="200").stdout
    assert "write parrot:MODEL" in moot(product, *ASK, "--seats", "parrot").stderr
    examined = {
        row["name"]: row
        for row in json.loads(moot(product, "doctor", "--json", PARROT_KEY="p").stdout)["examined"]
    }
    assert "PARROT_URL" in examined["endpoint parrot"]["found"]
    assert "PARROT_KEY" in json.dumps(examined["key"])
    offline = moot(product, *ASK, "--seats", "parrot:grey-1", MOOT_OFFLINE="1")
    assert "a parrot seat leaves this machine" in offline.stderr
    assert (
        "--max-usd"
        in moot(
            product, *(word for word in ASK if word != "--yes"), "--seats", "parrot:g", "--max-usd", "1"
        ).stderr
    )
    assert json.loads(moot(product, *ASK, "--dry-run", "--seats", "parrot:g", "--json").stdout)["usd"] is None
    # "grey" may belong to a family of its own: the opening tells it, as of every provider of many families.
    opened = next(line for line in lines if line["kind"] == "run_opened")
    assert [member["seat"] for member in opened["cast"]] == ["parrot:grey"]
    assert changed(product) == {REGISTRY, "roles/seats/parrot.py"}


@pytest.mark.slow
def test_a_server_of_the_chat_completions_api_is_a_row_alone(product: Path) -> None:
    (product / "roles/seats/parrot.py").unlink()
    with FakeOpenAI(lambda *_: json.dumps(REPLY), dialect=COMPATIBLE) as api:
        where = {"TOGETHER_URL": api.base_url}
        lacking = moot(product, *ASK, "--seats", "together:gpt-6.2-sol", "--out", "none", **where)
        assert "export TOGETHER_KEY" in lacking.stderr
        answered = moot(
            product, *ASK, "--seats", "together:gpt-6.2-sol", "--out", "run", TOGETHER_KEY=KEY, **where
        )
    assert answered.returncode == 0, answered.stderr
    assert any(
        (line.get("call") or {}).get("provider") == "fake" for line in _lines(product / "run/claims.jsonl")
    )
    assert changed(product) == {REGISTRY}


def test_every_row_is_whole() -> None:
    for name, row in PROVIDERS.items():
        assert row.name == name
        assert row.help
        assert row.example.startswith(f"{name}:") or not row.is_rest_needed
        assert (row.runs == "api") == bool(row.sdk) == bool(row.address)
        assert row.key or not row.needs_key
