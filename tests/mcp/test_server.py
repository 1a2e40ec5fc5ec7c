"""The server with the SDK's own client: whole runs through the tools alone, and every refusal in words."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from mcp import Client, StdioServerParameters

from moot.app.session import session_at
from rounds.protocols import PROTOCOLS
from tests.cli.conftest import Moot, moot
from tests.mcp.conftest import connected
from tests.protocols.scripts import reply as short_reply
from tests.rounds.scripted import Script
from tests.slowly import mostly_slow

__all__ = ["moot"]

MODES = ("auto", "legacy")
SHORT = ("crux", "debate", "ratchet", *sorted(PROTOCOLS.keys() - {"crux", "debate", "ratchet", "structured"}))


async def call(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a tool that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] = result.structured_content
    return found


async def refused(client: Any, tool: str, **arguments: Any) -> str:
    """What a tool says when it refuses."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return str(result.content[0].text)


async def resource(client: Any, uri: str) -> str:
    """The text of a resource."""
    return str((await client.read_resource(uri)).contents[0].text)


async def opened(client: Any, protocol: str, **more: Any) -> dict[str, Any]:
    options = ["three streams", "one journal"] if protocol in ("comparative", "priority") else []
    document = {"name": "facts.md", "text": "one writer\nmany readers\nno lost line\n"}
    return await call(
        client,
        "new",
        question="Which storage keeps every line?",
        protocol=protocol,
        goals=["No line is lost", "Easy to read"],
        options=options,
        context=[document],
        **more,
    )


async def play(client: Any, runs: Path, found: dict[str, Any], steps: int = 10_000) -> int:
    """Answer open steps seat by seat through the tools; returns how many."""
    run, tokens, done = found["run"], found["tokens"], 0
    script = Script()
    while done < steps and (await call(client, "status", run=run))["state"] == "running":
        asked = await call(client, "next", run=run, token=tokens["operator"])
        if asked["done"]:
            break
        if not asked["steps"]:  # what only a person can say: the person's host answers
            questions = (await call(client, "status", run=run))["awaits"]
            for question in questions:
                said = {"question": question, "text": "Build the smaller one.", "token": tokens["operator"]}
                await call(client, "answer", run=run, **said)
            assert questions, "nobody is asked, and the run does not end"
        for step in asked["steps"]:
            book = session_at(runs / run).book()
            mine = await call(client, "next", run=run, token=tokens[step["role"]])
            assert {one["role"] for one in mine["steps"]} == {step["role"]}
            brief = next(one for one in session_at(runs / run).pending() if one.step.id == step["step"])
            content = (
                script.reply(book, brief.step, brief.brief.saw)
                if found["protocol"] == "structured"
                else short_reply(book, brief.step, brief.brief.saw)
            )
            said = await call(
                client,
                "submit",
                run=run,
                step=step["step"],
                reply=content.decode(),
                token=tokens[step["role"]],
            )
            assert said["accepted"], said
            done += 1
            if done >= steps:
                break
    return done


@pytest.mark.parametrize("mode", mostly_slow(MODES, quick=1))
@pytest.mark.parametrize("protocol", mostly_slow(SHORT, quick=3))
def test_a_short_protocol_through_the_tools_alone(protocol: str, mode: Any, tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path, mode=mode) as client:
            found = await opened(client, protocol)
            await play(client, tmp_path, found)
            assert (await call(client, "status", run=found["run"]))["finished"]
            assert (await call(client, "check", run=found["run"]))["ok"]
            assert (await call(client, "report", run=found["run"]))["text"].startswith("# Which storage")

    anyio.run(main)


@pytest.mark.slow  # a whole run in processes
def test_minimum_8_killed_in_the_middle_goes_on_at_the_same_step(tmp_path: Path) -> None:
    """Over stdio, in a process of its own, which is killed."""
    server = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "moot", "mcp", "--runs", str(tmp_path)], cwd=str(Path.cwd())
    )

    async def main() -> None:
        async with Client(server) as client:
            found = await opened(client, "structured", plan="minimum-8")
            assert await play(client, tmp_path, found, steps=9) == 9
            before = (await call(client, "status", run=found["run"]))["open"]
        async with Client(server) as client:
            assert (await call(client, "status", run=found["run"]))["open"] == before
            await play(client, tmp_path, found)
            assert (await call(client, "status", run=found["run"]))["finished"]
            assert (await call(client, "check", run=found["run"]))["ok"]
            assert "signals" in await call(client, "signals", run=found["run"])

    anyio.run(main)


def test_a_seat_sees_its_own_steps_and_nothing_else(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            found = await opened(client, "debate")
            run, tokens = found["run"], found["tokens"]
            for role in ("pro", "con", "judge"):
                for other in ("pro", "con", "judge"):
                    if role == other:
                        mine = await call(client, "next", run=run, token=tokens[role], role=other)
                        assert {one["role"] for one in mine["steps"]} <= {role}
                    else:
                        said = await refused(client, "next", run=run, token=tokens[role], role=other)
                        assert f"this token is {role}'s" in said
                for verb in ("claims", "decisions", "check", "report"):
                    assert "operator" in await refused(client, verb, run=run, token=tokens[role])
                    assert "operator" in await refused(client, verb, run=run)
                assert "operator" in await refused(client, "note", run=run, text="x", token=tokens[role])
            said = await refused(
                client, "submit", run=run, step="r1.opening.con", reply="{}", token=tokens["pro"]
            )
            assert "opens none of con's steps" in said
            assert "no token of run" in await refused(client, "next", run=run, token="pro.0000")
            second = await opened(client, "debate")
            assert "no token of run" in await refused(client, "next", run=run, token=second["tokens"]["pro"])
            assert (await call(client, "claims", run=run, token=tokens["operator"]))["claims"] == []

    anyio.run(main)


def test_every_refusal_says_what_to_do(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            found = await opened(client, "ratchet")
            run, operator = found["run"], found["tokens"]["operator"]
            for name in ("nothing", "../etc", "a/b", "", "x" * 500, run + "/../" + run, ".moot-seats"):
                assert "open one with `new`" in await refused(client, "next", run=name, token=operator)
            step = "r1.draft.drafter"
            submit = {"run": run, "token": operator}
            said = await refused(client, "submit", step="r9.none.drafter", reply="{}", **submit)
            assert "moot next" in said or "next" in said
            bad = await call(client, "submit", step=step, reply='{"text": 7}', **submit)
            assert not bad["accepted"]
            assert "text" in bad["errors"][0]
            huge = await call(client, "submit", step=step, reply="x" * 10_000_000, **submit)
            assert not huge["accepted"]
            assert "bytes" in huge["errors"][0]
            good = json.dumps({"text": "One draft."})
            assert (await call(client, "submit", step=step, reply=good, **submit))["accepted"]
            assert (await call(client, "submit", step=step, reply=good, **submit))["accepted"]
            again = await refused(
                client, "submit", step=step, reply=json.dumps({"text": "Another."}), **submit
            )
            assert "already answered" in again
            assert "did you mean" in await refused(client, "new", question="q", protocol="ratchett")
            assert "no stop signals" in await refused(client, "signals", run=run, token=operator)
            assert "no context id" in await refused(
                client, "submit", step="r1.critique.critic", reply="{}", context_id="/tmp", **submit
            )

    anyio.run(main)


def test_resources_and_prompts(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            found = await opened(client, "ratchet")
            run = found["run"]
            assert run in await resource(client, "moot://runs")
            with pytest.raises(Exception, match="operator"):
                await client.read_resource(f"moot://runs/{run}/briefs/r1.critique.critic")
            await play(client, tmp_path, found)
            events = (await call(client, "log", run=run))["events"]
            assert events[0]["kind"] == "run_opened"
            brief = await resource(client, f"moot://runs/{run}/briefs/r1.critique.critic")
            assert "exactly 3 critiques" in brief
            prompts = (await client.list_prompts()).prompts
            assert [prompt.name[:7] for prompt in prompts] == [f"stage-{n}" for n in range(1, 6)]
            said = await client.get_prompt(prompts[1].name)
            assert "critic" in str(said.messages[0].content)

    anyio.run(main)


def test_a_wait_ends_when_a_step_opens_or_the_time_is_over(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            found = await opened(client, "ratchet")
            run, tokens = found["run"], found["tokens"]
            empty = await call(client, "next", run=run, token=tokens["critic"], wait_seconds=0.3)
            assert empty["steps"] == []
            results: list[dict[str, Any]] = []

            async def wait() -> None:
                results.append(await call(client, "next", run=run, token=tokens["critic"], wait_seconds=20))

            async with anyio.create_task_group() as group:
                group.start_soon(wait)
                await anyio.sleep(0.3)
                await play(client, tmp_path, found, steps=1)
            assert [one["step"] for one in results[0]["steps"]] == ["r1.critique.critic"]

    anyio.run(main)


def test_an_opening_says_cast_variants_and_waivers(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            cast = {"critic": {"title": "Auditor", "charge": "Find the line that is lost."}}
            found = await opened(client, "structured", plan="minimum-8", cast=cast, no_stress=True)
            assert found["cast"]["critic"] == cast["critic"]
            assert found["replies"] > 142
            assert found["documents"] == ["facts.md"]
            assert found["rules"]["positions"] == "beliefs"
            assert found["rounds"] == 8
            state = session_at(tmp_path / found["run"]).book().state
            assert state.opened is not None
            assert not any(row.absent for row in state.opened.plan)
            assert [waiver.what for waiver in state.opened.waived]
            assert (await call(client, "status", run=found["run"]))["phase"] == "B"

    anyio.run(main)


def test_the_operator_can_have_the_tokens_printed(moot: Moot, tmp_path: Path) -> None:
    async def main() -> dict[str, Any]:
        async with connected(tmp_path) as client:
            return await opened(client, "ratchet")

    found = anyio.run(main)
    lines = "".join(f"{role} {token}\n" for role, token in found["tokens"].items())
    for said in (found["run"], str(tmp_path / found["run"])):
        result = moot("mcp", "--runs", str(tmp_path), "--tokens", said)
        assert (result.code, result.out) == (0, lines)


def test_a_long_brief_is_read_in_parts(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            found = await opened(client, "ratchet")
            seat = {"run": found["run"], "token": found["tokens"]["drafter"]}
            whole = (await call(client, "next", **seat))["steps"][0]["brief"]
            read, begin = "", 0
            while True:
                part = (await call(client, "next", **seat, brief_from=begin, brief_max=700))["steps"][0][
                    "brief"
                ]
                text, _, said = part.rpartition("\n\n[characters ")
                read += text
                assert said.startswith(f"{begin} to {len(read)} of {len(whole)}")
                if said.endswith("this is its end]"):
                    break
                begin = len(read)
            assert read == whole
            assert begin > 0
            assert "characters" in await refused(client, "next", **seat, brief_from=len(whole), brief_max=10)
            assert "brief_max" in await refused(client, "next", **seat, brief_max=0)

    anyio.run(main)


def test_a_run_that_is_stopped_says_so_to_its_seats(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            found = await opened(client, "structured", plan="minimum-8", max_rounds=1)
            await play(client, tmp_path, found)
            told = await call(client, "status", run=found["run"])
            assert (told["state"], told["stopped_by"], told["finished"]) == (
                "stopped",
                "budget_rounds",
                False,
            )
            token = found["tokens"]["critic"]
            said = await refused(client, "next", run=found["run"], token=token, wait_seconds=60)
            assert "stopped, as the budget of rounds was used up" in said

    anyio.run(main)


def test_a_lost_step_is_told_with_every_result(tmp_path: Path) -> None:
    """R-2: over the tools too, a run that nobody answered does not end well."""

    async def main() -> list[dict[str, Any]]:
        async with connected(tmp_path) as client:
            found = await opened(client, "jugalbandi")
            mine: dict[str, Any] = {"run": found["run"], "token": found["tokens"]["operator"]}
            given_up = await call(client, "give_up", step="r1.plan.proposer", reason="nobody plans", **mine)
            status = await call(client, "status", run=found["run"])
            return [given_up, status, await call(client, "decisions", **mine)]

    for result in anyio.run(main):
        outcome = result["quorum"]
        assert (outcome["kind"], outcome["actual"], outcome["declared"]) == ("unanswered", 0, 1)
        assert outcome["told"].startswith("0 of 1 requested reply accepted; no reply answered what decides")
