"""F-11: whatever a client sends is answered: arguments of every type and size, and lines that are no message."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError

from moot.app.session import session_at
from moot.mcp.server import build
from tests.cli.conftest import content
from tests.mcp.test_server import call, opened

SECONDS: Final = 30
ATOMS: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 2**31, 2**53, 2**63, 2**64, 10**400, -(10**400), 0.5, 1e308,
    "", " ", "x", "\x00", "a\x00b", "\n", "\x1b[31m", "\u202e", "\u2028", "\ufffe", "\U0010ffff", "../../etc/passwd",
    "/", ".", "..", ".moot-seats", "@last", "@0", "@-1", "@99999999999999999999", "r1.draft.drafter", "r1..", "D-1-1",
    "N-1-1", "FM-1", "critic", "operator", "operator.", "critic." + "0" * 40, "{run}", "%s", "x" * 300_000,
    [], {}, [None], [[[[[]]]]], {"a": {"b": []}}, ["x"] * 2_000, {"name": "n", "text": "t"},
    [{"name": "n", "text": "t"}], [{"name": "../x", "text": "\x00"}], {"critic": {"title": "t", "charge": "c"}},
    {"rounds": "99"}, {"rounds": 99},
)  # fmt: skip
DEEP: Final[Any] = json.loads("[" * 150 + "]" * 150)
SURROGATES: Final[tuple[Any, ...]] = (
    "\ud800",
    "a\udfffb",
    ["\ud800"],
    {"\ud800": "x"},
    {"critic": {"title": "\udcff"}},
)


def wrong(rng: random.Random, names: list[str], good: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a tool of which some are right and at least one is anything at all."""
    said = {name: good[name] for name in names if name in good and rng.random() < 0.7}
    for name in rng.sample(names, min(len(names), rng.randint(1, 3))):
        said[name] = rng.choice((*ATOMS, DEEP))
    if rng.random() < 0.1:
        said[rng.choice(("", "nobody", "x" * 1_000, "\x00"))] = rng.choice(ATOMS)
    if (
        "wait_seconds" in said
    ):  # a call that waits is answered when its time is over, which may be ten minutes
        said["wait_seconds"] = rng.choice((0, -1, 0.01, "x", None, [], 0.02, True and "1", -1e308))
    return said


async def fuzzed(client: Any, runs: Path, seeds: range) -> int:
    """Call every tool wrongly; each call is answered, and a refusal is said in words. The number of refusals."""
    found = await opened(client, "ratchet")
    tools = (await client.list_tools()).tools
    refusals = 0
    for seed in seeds:
        rng = random.Random(seed)
        good = {"run": found["run"], "token": found["tokens"]["operator"], "a": found["run"], "b": found["run"],
                "question": "q", "text": "t", "step": "r1.draft.drafter", "reply": "{}", "round": 1}  # fmt: skip
        tool = rng.choice(tools)
        names = list(tool.input_schema.get("properties", {})) or ["nothing"]
        with anyio.fail_after(SECONDS):
            result = await client.call_tool(tool.name, wrong(rng, names, good))
        if result.is_error:
            refusals += 1
            said = str(result.content[0].text)
            assert said.strip(), seed
            assert "fault of moot's" not in said, (seed, tool.name, said)
            assert "Traceback" not in said, seed
            assert said.partition(": ")[2], (seed, tool.name, said)  # the SDK says nothing more after a crash
    assert found["run"] in {path.parent.name for path in runs.glob("*/head")}
    assert (await call(client, "status", run=found["run"]))["run"] == found["run"]
    return refusals


def test_any_arguments_are_answered_in_memory(tmp_path: Path) -> None:
    """F-11: through the SDK's client without a wire."""

    async def main() -> int:
        async with Client(build(tmp_path)) as client:
            return await fuzzed(client, tmp_path, range(250))

    assert anyio.run(main) > 100


def test_any_arguments_are_answered_over_stdio(tmp_path: Path) -> None:
    """F-11: through the SDK's client and a process of its own."""
    server = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "moot", "mcp", "--runs", str(tmp_path)], cwd=str(Path.cwd())
    )

    async def main() -> int:
        async with Client(server) as client:
            return await fuzzed(client, tmp_path, range(1_000, 1_120))

    assert anyio.run(main) > 40


def test_a_lone_surrogate_breaks_no_tool(tmp_path: Path) -> None:
    """F-11: no wire and no client lets one through, and the tools do not depend on it."""

    async def main() -> None:
        server = build(tmp_path)
        for tool in await server.list_tools():
            for name in tool.input_schema.get("properties", {}):
                for surrogate in SURROGATES:
                    try:
                        result = await server.call_tool(tool.name, {"question": "q", name: surrogate})
                    except UnexpectedToolError:
                        pytest.fail(f"{tool.name} {name}")
                    except ToolError:
                        continue
                    assert tool.name == "gate"
                    assert result.model_dump_json()

    anyio.run(main)


def status(identity: str, run: str) -> str:
    """A call of `status` as a line, however its parts are spelled."""
    return (
        f'{{"jsonrpc":"2.0","id":{identity},"method":"tools/call",'
        f'"params":{{"name":"status","arguments":{{"run":{run}}}}}}}'
    )


def resource(identity: str, uri: str) -> str:
    """The reading of a resource as a line."""
    return f'{{"jsonrpc":"2.0","id":{identity},"method":"resources/read","params":{{"uri":"{uri}"}}}}'


LINES: Final[tuple[tuple[str, str, object], ...]] = (
    ("a lone surrogate", status("2", '"\\ud800"'), 2),
    ("its other half", status("3", '"\\udfff\\ud800"'), 3),
    ("a key that is one", status("4", '{"\\ud800":1}'), 4),
    ("an id that is text", status('"abc"', '"\\ud800"'), "abc"),
    ("an id that is one", status('"\\ud800"', '"x"'), None),
    ("an id behind what is broken", '{"params":"\\ud800","jsonrpc":"2.0","method":"ping","id":5}', 5),
    ("an id inside", '{"params":{"id":6},"x":"\\ud800","method":"ping"}', None),
    ("an id that is quoted", '{"params":"\\"id\\":7,","x":"\\ud800"}', None),
    ("nesting", status("8", "[" * 300 + "]" * 300), 8),
    ("deep nesting", status("9", "[" * 200_000), None),
    ("too many digits", status("10", "9" * 5_000), None),
    ("a comma too many", '{"jsonrpc":"2.0","id":11,"method":"ping",}', None),
    ("half a line", '{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"na', None),
    ("an id of null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
    ("a fraction as id", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None),
    ("true as id", '{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
    ("a table as id", '{"jsonrpc":"2.0","id":{},"method":"ping"}', None),
    ("a tool and an id of null", status("null", '"x"'), None),
    ("a notification for a request", '{"jsonrpc":"2.0","id":22,"method":"notifications/initialized"}', 22),
    ("two messages in a line", '{"jsonrpc":"2.0","id":23,"method":"ping"}' * 2, None),
    ("a byte order mark", '\ufeff{"jsonrpc":"2.0","id":24,"method":"nobody/knows"}', 24),
    ("a line without end", "x" * 17_000_000, None),
    ("no JSON", "nonsense", None),
    ("a number", "7", None),
    ("a list", '[{"jsonrpc":"2.0","id":13,"method":"ping"}]', None),
    ("nothing in it", "{}", None),
    ("another version", '{"jsonrpc":"1.0","id":14,"method":"ping"}', 14),
    ("a method that is none", '{"jsonrpc":"2.0","id":15,"method":7}', 15),
    ("a method that nobody knows", '{"jsonrpc":"2.0","id":16,"method":"nobody/knows"}', 16),
    ("arguments that are none", status("17", '"x"').replace('{"run":"x"}', "[]"), 17),
    ("a NUL", status("18", '"\\u0000"'), 18),
    ("NaN", status("19", "NaN"), 19),
    ("a resource with one", resource("20", "moot://runs/\\udc00"), 20),
    ("bytes of one", resource("21", "moot://runs/%ED%A0%80/briefs/r1.x"), 21),
)  # fmt: skip


@contextmanager
def served(runs: Path) -> Generator[subprocess.Popen[str]]:
    """`moot mcp` as a process, past its handshake."""
    command = [sys.executable, "-P", "-m", "moot", "mcp", "--runs", str(runs)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            }
            told(process, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}))
            assert answer(process)["id"] == 1
            told(process, '{"jsonrpc":"2.0","method":"notifications/initialized"}')
            yield process
        finally:
            process.kill()


def told(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    found: dict[str, Any] = json.loads(process.stdout.readline())
    return found


def test_a_line_that_is_no_message_is_answered(tmp_path: Path) -> None:
    """F-11: with the id that it carries; the next good call is answered as ever. An empty line asks nothing."""
    with served(tmp_path) as process:
        for what, line, identity in LINES:
            told(process, "")
            told(process, line)
            told(process, status('"next"', '"x"'))
            said = [answer(process), answer(process)]
            assert {str(one["id"]) for one in said} == {str(identity), "next"}, what
            (ours,) = [one for one in said if one["id"] != "next"]
            assert "error" in ours or ours["result"]["isError"], what


UNANSWERED: Final = (
    b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"protocols","arguments":{}}}',
    b'{"jsonrpc":"2.0","method":"ping"}',
    b'{"jsonrpc":"2.0","method":"nobody/knows"}',
    b'{"jsonrpc":"2.0","id":99,"result":{}}',
    b'{"jsonrpc":"2.0","id":99,"result":7}',
    b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}',
    b"\r",
    b" ",
)
"""Lines that ask for no answer: notifications, whatever they name, and answers to what nobody asked."""


@pytest.mark.slow
def test_what_asks_for_no_answer_gets_none(tmp_path: Path) -> None:
    with served(tmp_path) as process:
        assert process.stdin is not None
        for line in UNANSWERED:
            told(process, line.decode())
            told(process, status('"next"', '"x"'))
            assert answer(process)["id"] == "next", line


@pytest.mark.slow
def test_bytes_that_are_not_utf_8_are_refused_and_not_replaced(tmp_path: Path) -> None:
    with served(tmp_path) as process:
        assert process.stdin is not None
        os.write(process.stdin.fileno(), status("2", '"caf\xe9"').encode("latin-1") + b"\n")
        assert answer(process) == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32700, "message": "this line is not UTF-8 (byte 95)"},
        }


@pytest.mark.slow
def test_an_id_that_is_used_twice_at_once_is_answered_twice(tmp_path: Path) -> None:
    with served(tmp_path) as process:
        told(process, status("7", '"x"') + "\n" + status("7", '"y"'))
        assert [answer(process)["id"], answer(process)["id"]] == [7, 7]


@pytest.mark.slow
@pytest.mark.parametrize("keeps_writing", [True, False])
def test_a_host_that_goes_away_ends_the_server_quietly(tmp_path: Path, keeps_writing: bool) -> None:
    """Also when it keeps its end of the other pipe open, and whether or not a call is answered at that moment."""
    with served(tmp_path) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdout.close()
        told(process, status("2", '"x"'))
        if not keeps_writing:
            process.stdin.close()
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_a_host_that_writes_before_it_reads_waits_for_nothing(tmp_path: Path) -> None:
    """Both pipes are full at once: the server reads on while nobody takes its answers."""
    with served(tmp_path) as process:
        lines = "\n".join(
            f'{{"jsonrpc":"2.0","id":{n},"method":"tools/call","params":{{"name":"protocols","arguments":{{}}}}}}'
            for n in range(100, 140)
        )
        told(process, lines)
        told(process, "x" * 1_000_000)
        ids = {str(answer(process)["id"]) for _ in range(41)}
    assert ids == {*map(str, range(100, 140)), "None"}


@pytest.mark.slow
def test_a_prompt_is_refused_with_the_fix_and_nothing_is_logged(tmp_path: Path) -> None:
    """Nor for a notification that is none: the log of a host is for its person."""
    with served(tmp_path) as process:
        said: list[str] = []
        for params in ({"name": "stage-1"}, {"name": "stage-1-question", "arguments": {"a": "b"}}):
            line = {"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": params}
            told(process, json.dumps(line))
            said.append(answer(process)["error"]["message"])
        told(process, '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}')
        told(process, '{"jsonrpc":"2.0","method":"notifications/progress","params":7}')
        told(process, '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{}}}')
        assert process.stdin is not None
        process.stdin.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert said == [
        "no prompt `stage-1`; did you mean `stage-1-question`?",
        "`stage-1-question` takes no arguments; leave them out",
    ]


def test_an_unknown_role_is_refused_before_the_waiting(tmp_path: Path) -> None:
    async def main() -> Any:
        async with Client(build(tmp_path)) as client:
            run = await opened(client, "ratchet")
            with anyio.fail_after(SECONDS):
                return await client.call_tool(
                    "next",
                    {
                        "run": run["run"],
                        "token": run["tokens"]["operator"],
                        "role": "nobody",
                        "wait_seconds": 600,
                    },
                )

    assert "no role 'nobody'" in anyio.run(main).content[0].text


@pytest.mark.slow
def test_a_disk_that_is_full_ends_the_server_with_a_write_error(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "moot", "mcp", "--runs", str(tmp_path)]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            command, input=b"nonsense\n", stdout=full, stderr=subprocess.PIPE, timeout=SECONDS, check=False
        )
    assert ended.returncode == 3
    assert b"no space left on device" in ended.stderr


def test_refused_calls_write_nothing(tmp_path: Path) -> None:
    """F-11: a wrong call leaves the run as it was, byte for byte."""

    async def main() -> None:
        async with Client(build(tmp_path)) as client:
            found = await opened(client, "ratchet")
            run = tmp_path / found["run"]
            before = content(run)
            for text in ("", "\x00", "\x1b", "x" * 2_000_000):
                said = {"run": found["run"], "token": found["tokens"]["operator"]}
                assert (await client.call_tool("note", {**said, "text": text})).is_error, text[:9]
                assert (
                    await client.call_tool("fork", {**said, "round": 1, "without": f"../{text}"})
                ).is_error
                assert (await client.call_tool("fork", {**said, "round": 10**30})).is_error
                assert content(run) == before
            assert session_at(run).book().state.round == 1
            assert len(list(tmp_path.glob("*/head"))) == 1

    anyio.run(main)


@pytest.mark.parametrize("text", ["", "  ", "\x00", "\x1b[31m", "x" * 8_001])
def test_words_that_no_ledger_keeps_are_refused(text: str, tmp_path: Path) -> None:
    """F-7: what a person says over MCP is held to what the command line takes; a lone fault of moot's is none."""

    async def main() -> None:
        async with Client(build(tmp_path)) as client:
            found = await opened(client, "debate")
            said = {"run": found["run"], "token": found["tokens"]["operator"]}
            head = session_at(tmp_path / found["run"]).run.head()
            for tool, more in (
                ("note", {"text": text}),
                ("ack", {"alarm": "FM-1", "text": text}),
                ("answer", {"question": "N-1-1", "text": text}),
                ("override", {"target": "D-1-1", "text": text}),
                ("give_up", {"step": found["open"][0], "reason": text}),
            ):
                result = await client.call_tool(tool, {**said, **more})
                assert result.is_error
                assert "words" in str(result.content), tool
            assert session_at(tmp_path / found["run"]).run.head() == head

    anyio.run(main)
