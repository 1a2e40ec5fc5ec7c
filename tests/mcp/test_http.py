"""The server over HTTP: who gets in, who does not, and that its token survives a restart; and a person who is asked."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

import httpx2
from mcp_types import ElicitResult

from moot.mcp.server import build
from tests.cli.conftest import Moot, moot
from tests.mcp.conftest import ROOT, Served, connected
from tests.mcp.test_server import call, opened, refused
from tests.protocols.scripts import reply as short_reply

__all__ = ["moot"]

HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}  # fmt: skip
ACCEPT = {"accept": "application/json, text/event-stream"}


def asked(url: str, headers: dict[str, str], method: str = "POST") -> httpx2.Response:
    return httpx2.request(
        method, url, json=HELLO if method == "POST" else None, headers={**ACCEPT, **headers}
    )


def test_who_brings_no_token_or_comes_from_elsewhere_is_refused(tmp_path: Path) -> None:
    with Served(tmp_path) as served:
        good = {"authorization": served.header}
        here = served.url.removesuffix("/mcp")
        run_token = "critic." + "0" * 40
        cases: list[tuple[dict[str, str], int]] = [
            ({}, 401),
            ({"authorization": "Bearer"}, 401),
            ({"authorization": served.header.replace("server.", "operator.")}, 401),
            ({"authorization": f"Bearer {run_token}"}, 401),
            ({"authorization": served.header.removeprefix("Bearer ")}, 401),
            ({**good, "origin": "https://example.org"}, 403),
            ({**good, "origin": "null"}, 403),
            ({**good, "origin": here.replace("127.0.0.1", "localhost")}, 403),
            ({**good, "host": "example.org"}, 421),
            ({**good, "host": "rebound.example.org:" + here.rpartition(":")[2]}, 421),
            (good, 200),
            ({**good, "origin": here}, 200),
        ]
        for method in ("GET", "POST", "DELETE"):
            for headers, code in cases:
                if code != 200:
                    assert asked(served.url, headers, method).status_code == code, (method, headers)
        for headers, code in cases:
            answer = asked(served.url, headers)
            assert answer.status_code == code, headers
            assert code != 401 or answer.headers["www-authenticate"] == 'Bearer realm="moot"'
            assert served.header.removeprefix("Bearer ") not in answer.text


def test_its_token_survives_a_restart_and_is_of_one_directory(tmp_path: Path) -> None:
    found = []
    for runs in (tmp_path / "one", tmp_path / "one", tmp_path / "two"):
        with Served(runs) as served:
            found.append(served.header)
            assert served.url.startswith("http://127.0.0.1:")
    assert found[0] == found[1] != found[2]


def test_the_server_token_opens_no_seat(tmp_path: Path) -> None:
    """What a client may do is decided call by call, as over stdio."""

    async def main() -> None:
        with Served(tmp_path) as served:
            token = served.header.removeprefix("Bearer ")
        async with connected(tmp_path) as client:
            found = await opened(client, "ratchet")
            said = await refused(client, "next", run=found["run"], token=token)
            assert "no token of run" in said

    anyio.run(main)


def test_words_that_are_for_http_alone_are_refused_over_stdio(moot: Moot, tmp_path: Path) -> None:
    for words in (("--port", "1"), ("--host", "0.0.0.0")):
        said = moot("mcp", "--runs", tmp_path, *words)
        assert (said.code, "add --http" in said.err) == (2, True)


async def waiting(client: Any, runs: Path) -> tuple[str, dict[str, str], list[str]]:
    """A run of jugalbandi that waits for a person: its name, its tokens, its questions."""
    from moot.app.session import session_at

    found = await opened(client, "jugalbandi")
    run, tokens = found["run"], found["tokens"]
    while not (await call(client, "status", run=run))["awaits"]:
        for step in (await call(client, "next", run=run, token=tokens["operator"]))["steps"]:
            session = session_at(runs / run)
            one = next(one for one in session.asked() if one.step.id == step["step"])
            content = short_reply(session.book(), one.step, one.brief.saw).decode()
            said = {"step": step["step"], "reply": content, "token": tokens[step["role"]]}
            await call(client, "submit", run=run, **said)
    return run, tokens, (await call(client, "status", run=run))["awaits"]


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_a_person_is_asked_by_the_client(action: Any, mode: Any, tmp_path: Path) -> None:
    shown: list[str] = []

    async def person(context: Any, asked: Any) -> ElicitResult:
        del context
        shown.append(asked.message)
        content: Any = {"answer": "Build the smaller one.", "name": "Ada"} if action == "accept" else None
        return ElicitResult(action=action, content=content)

    async def main() -> None:
        async with connected(tmp_path, mode=mode, elicitation_callback=person) as client:
            run, tokens, questions = await waiting(client, tmp_path)
            assert "operator" in await refused(client, "ask", run=run, token=tokens["challenger"])
            assert shown == []
            told = await call(client, "ask", run=run, token=tokens["operator"])
            while action == "accept" and (await call(client, "status", run=run))["awaits"]:
                more = await call(client, "ask", run=run, token=tokens["operator"])
                told["events"] += more["events"]
            left = (await call(client, "status", run=run))["awaits"]
            if action == "accept":
                assert told["events"]
                assert len(shown) == len(questions)
                assert left == []
                decided = await call(client, "decisions", run=run, token=tokens["operator"])
                assert "Build the smaller one." in str(decided)
                said = await refused(client, "ask", run=run, token=tokens["operator"])
                assert "waits for nobody" in said
            else:
                assert (told["events"], len(shown), left) == ([], 1, questions)
            assert shown[0].startswith(f"{questions[0]} of {run}: ")

    anyio.run(main)


def test_a_client_that_cannot_ask_is_told_what_to_do(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            run, tokens, _ = await waiting(client, tmp_path)
            said = await refused(client, "ask", run=run, token=tokens["operator"])
            assert "this client cannot ask a person" in said
            assert "call `answer`" in said

    anyio.run(main)


def test_a_run_that_asks_for_programs_gets_none_before_a_person_says_so(tmp_path: Path) -> None:
    async def main() -> str:
        async with connected(tmp_path) as client:
            return str((await opened(client, "crux", experiments={"run": "sandbox"}))["run"])

    from moot.app.session import session_at

    assert not session_at(tmp_path / anyio.run(main)).book().state.runs_programs


def test_the_page_says_how_it_is_reached() -> None:
    page = (ROOT / "docs/agent-hosts.md").read_text("utf-8")
    assert "moot mcp --http" in page
    assert inspect.getdoc(build)
