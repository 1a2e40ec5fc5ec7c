"""A person who is asked by the client, and what no agent may decide for one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from mcp_types import ElicitResult

from tests.mcp.conftest import connected
from tests.mcp.test_server import call, opened, refused
from tests.protocols.scripts import reply as short_reply


async def waiting(client: Any, runs: Path) -> tuple[str, dict[str, str], list[str]]:
    """A run of jugalbandi that waits for a person: its name, its tokens, its questions."""
    from moot.app.session import session_at

    found = await opened(client, "jugalbandi")
    run, tokens = found["run"], found["tokens"]
    while not (await call(client, "status", run=run))["awaits"]:
        for step in (await call(client, "next", run=run, token=tokens["operator"]))["steps"]:
            session = session_at(runs / run)
            one = next(one for one in session.pending() if one.step.id == step["step"])
            content = json.loads(short_reply(session.book(), one.step, one.brief.saw))
            if "dispositions" in content:  # two questions to a person, not one alone
                asks = {"disposition": "escalated", "revision": None, "question": "until when?"}
                content["dispositions"][0] |= asks
            said = {"step": step["step"], "reply": json.dumps(content), "token": tokens[step["role"]]}
            await call(client, "submit", run=run, **said)
    return run, tokens, (await call(client, "status", run=run))["awaits"]


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


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_answer_goes_to_the_question_that_the_form_showed(mode: Any, tmp_path: Path) -> None:
    """While the form is open, somebody else answers the question; then nothing is written, and no other question is."""
    from moot.app.session import Session

    run = ""
    shown: list[str] = []

    async def person(context: Any, asked: Any) -> ElicitResult:
        del context
        shown.append(asked.message)
        if len(shown) == 1:
            Session(tmp_path / run).answer(asked.message.split()[0], "Said elsewhere.")
        return ElicitResult(action="accept", content={"answer": "Meant for the first.", "name": ""})

    async def main() -> None:
        nonlocal run
        async with connected(tmp_path, mode=mode, elicitation_callback=person) as client:
            run, tokens, questions = await waiting(client, tmp_path)
            assert len(questions) > 1
            result = await client.call_tool("ask", {"run": run, "token": tokens["operator"]})
            session = Session(tmp_path / run)
            texts = [getattr(event, "text", "") for event in session.inner.book().events]
            if len(shown) == 1:
                said = str(result.content[0].text)
                assert result.is_error
                assert f"the run no longer waits for {questions[0]}" in said
                assert "the person said: Meant for the first." in said
                assert "Meant for the first." not in texts
                assert list(session.questions) == questions[1:]
            else:  # the protocol asks again before the tool runs, and then shows the next question
                assert shown[1].startswith(f"{questions[1]} of {run}: ")
                assert list(session.questions) == questions[2:]

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
            return str((await opened(client, "crux", experiments={"run": "on"}))["run"])

    from moot.app.session import session_at

    assert not session_at(tmp_path / anyio.run(main)).book().state.runs_programs
