"""Results that fit into what hosts show, and arguments that no tool drops."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

pytest.importorskip("mcp")

from moot.app.session import Session
from moot.mcp.tools import RESULT_BYTES_MAX, page, size_of
from tests.long_run import long_run
from tests.mcp.conftest import connected
from tests.mcp.test_server import call, opened, refused
from tests.protocols.playing import played
from tests.rounds.openings import begin, play, rows
from tests.slowly import mostly_slow

LONG: Final = "long"
OTHER: Final = "other"
CRUX: Final = "crux"
LISTS: Final = {
    "claims": "claims",
    "decisions": "decisions",
    "check": "findings",
    "log": "events",
    "why": "nodes",
    "report": "text",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    for name, run in ((LONG, long_run()), (CRUX, played("crux"))):
        shutil.copytree(run, place / name)
    play(begin(place / OTHER, rows(8)))
    return place


def arguments(tool: str) -> dict[str, Any]:
    if tool == "diff":
        return {"a": LONG, "b": OTHER}
    run = {"run": CRUX if tool == "forecasts" else LONG}
    return run | ({"id": "D-13-1"} if tool in ("why", "show") else {})


@pytest.mark.parametrize(
    "tool",
    mostly_slow(
        (
            "claims",
            "decisions",
            "signals",
            "forecasts",
            "diff",
            "report",
            "log",
            "show",
            "why",
            "check",
            "protocols",
        ),
        quick=9,
    ),
)
def test_every_result_fits_into_what_a_host_shows(tool: str, runs: Path) -> None:
    """A token has three bytes or more of such JSON; the result goes over the wire as text and as structure."""

    async def main() -> None:
        async with connected(runs) as client:
            given = {} if tool == "protocols" else arguments(tool)
            result = await client.call_tool(tool, given)
            assert not result.is_error, result.content
            assert json.loads(result.content[0].text) == result.structured_content
            assert size_of(result.structured_content) <= RESULT_BYTES_MAX + 500
            assert len(result.model_dump_json()) < 90_000

    anyio.run(main)


@pytest.mark.parametrize(
    "tool", mostly_slow(sorted(LISTS, key=lambda tool: tool == "check"), quick=len(LISTS) - 1)
)
def test_the_pages_together_are_the_whole(tool: str, runs: Path) -> None:
    async def main() -> None:
        whole: Any = "" if tool == "report" else []
        after: Any = 0
        calls = 0
        async with connected(runs) as client:
            limit: dict[str, Any] = {"limit": 150} if tool == "log" else {}
            if tool == "log":
                limit["kind"] = "claim"
            while after is not None:
                found = await call(client, tool, **arguments(tool), **limit, after=after)
                whole += found[LISTS[tool]]
                left = found["left_out"]
                assert left is None or left["fix"]
                after, calls = left and left["after"], calls + 1
                assert calls < 60
            if tool != "check":
                assert len(whole) > 15
            few = await call(client, tool, **arguments(tool), limit=3)
            assert few[LISTS[tool]] == whole[:3] or tool == "log"
            assert few["left_out"]["after"] == 3
            assert "begin again" in await refused(client, tool, **arguments(tool), after=10**9)
            assert "`limit` 1 or more" in await refused(client, tool, **arguments(tool), limit=0)
        if tool == "claims":
            assert len({claim["id"] for claim in whole}) == len(whole) == 115

    anyio.run(main)


def test_one_entry_that_is_too_long_is_shortened_and_says_so() -> None:
    found = page(
        "claims", {"run": "r", "claims": [{"id": "C-1-1", "text": "x" * 200_000}, {"id": "C-1-2"}]}, None, 0
    )
    assert size_of(found) <= RESULT_BYTES_MAX
    assert found["left_out"]["after"] == 1
    assert "texts after 4000 characters" in found["left_out"]["what"]
    assert "after` 1; read the whole" in found["left_out"]["fix"]


def test_a_small_result_is_whole() -> None:
    assert page("claims", {"run": "r", "claims": []}, None, 0) == {"run": "r", "claims": [], "left_out": None}


def test_a_long_brief_comes_in_parts_unless_the_caller_says_how_much(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            document = {
                "name": "long.md",
                "text": "".join(f"line {n} of a long page\n" for n in range(2_500)),
            }
            found = await call(client, "new", question="Which?", protocol="ratchet", context=[document])
            said = {"run": found["run"], "token": found["tokens"]["operator"]}
            result = await client.call_tool("next", said)
            assert size_of(result.structured_content) <= RESULT_BYTES_MAX + 500
            brief, text = "", result.structured_content["steps"][0]["brief"]
            while True:
                part, _, end = text.rpartition("\n\n[characters ")
                brief += part
                if "this is its end" in end:
                    break
                begin = int(end.partition("go on with brief_from ")[2].rstrip("]"))
                text = (await call(client, "next", **said, brief_from=begin))["steps"][0]["brief"]
            assert brief == Session(tmp_path / found["run"]).open_steps()[0].brief
            assert len(brief) > RESULT_BYTES_MAX
            whole = await call(client, "next", **said, brief_max=10**6)
            assert whole["steps"][0]["brief"].startswith(brief)

    anyio.run(main)


def test_an_unknown_argument_is_an_error_that_names_the_closest(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            for tool in (await client.list_tools()).tools:
                known = list(tool.input_schema.get("properties", {}))
                wrong = f"{known[0]}s"
                said = await refused(client, tool.name, **{wrong: "x"})
                assert f"unknown argument `{wrong}` of `{tool.name}`" in said
                assert "did you mean" in said
            assert list(tmp_path.glob("*/head")) == []
            said = await refused(
                client, "new", question="Q?", protocol="single-pass", goal=["No line is lost"]
            )
            assert "unknown argument `goal` of `new`; did you mean `goals`?" in said
            assert "did you mean `claims`?" in await refused(client, "claim", run="x")

    anyio.run(main)


def test_a_wrong_argument_is_named_in_one_line(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            found = await opened(client, "ratchet")
            said = await refused(client, "next", run=found["run"], brief_max="many")
            assert "`token`: Field required" in said
            assert "`brief_max`: " in said
            assert "\n" not in said

    anyio.run(main)
