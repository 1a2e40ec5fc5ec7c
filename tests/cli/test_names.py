"""R-11: a run's name tells nothing of what is asked, unless a person gives one; a seat in the dark stays there."""

from __future__ import annotations

import re
import shutil
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pytest

from moot.app.runs import LETTERS, fork_directory, new_directory
from moot.app.session import session_at
from rounds.protocols import PROTOCOLS
from tests.cli.conftest import Moot
from tests.protocols.scripts import reply
from tests.protocols.test_isolation import WITHOUT_QUESTION

QUESTION = "Which zirconium kettle boils fastest for the ombudsman?"
WORDS = ("which", "zirconium", "kettle", "boils", "fastest", "ombudsman")
TODAY = date(2026, 3, 4)


def tells(text: object) -> list[str]:
    """Words of the question in a text."""
    return [word for word in WORDS[1:] if word in str(text).casefold()]


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_no_name_that_moot_makes_holds_a_word_of_the_question(protocol: str, moot: Moot) -> None:
    options = ("--option", "a blue one", "--option", "a red one")
    said = moot("run", "-q", QUESTION, *options, "--protocol", protocol, "--seats", "host", "--json")
    assert said.code == 4, said
    name = Path(said.json["run"]).name
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\d-[{LETTERS}]{{4}}", name)
    assert moot("status", "@last", "--json").json["run"] == said.json["run"]
    assert moot("status", name, "--json").json["run"] == said.json["run"]


@pytest.mark.parametrize("protocol", sorted(WITHOUT_QUESTION))
def test_a_seat_that_must_not_see_the_question_does_not_get_it_with_its_step(
    protocol: str, moot: Moot
) -> None:
    """R-11: neither with the brief, nor in the run's name, nor while it waits, nor when its reply is refused."""
    run = moot("run", "-q", QUESTION, "--protocol", protocol, "--seats", "host", "--json").json["run"]
    blind, asked = WITHOUT_QUESTION[protocol], set[str]()
    while steps := session_at(Path(run)).pending():
        for role in blind:
            for form in (("--json",), ()):
                assert tells(moot("next", run, "--role", role, *form)) == []
        step = steps[0].step
        asked.add(step.role)
        if step.role in blind:
            Path("reply.json").write_text("{}")
            refused = moot("submit", run, step.id, "reply.json", "--json")
            assert refused.code == 1
            assert tells(refused) == []
        content = reply(session_at(Path(run)).book(), step, steps[0].brief.saw)
        Path("reply.json").write_bytes(content)
        assert moot("submit", run, step.id, "reply.json").code == 0
    assert set(blind) <= asked


@pytest.mark.parametrize("protocol", sorted(WITHOUT_QUESTION))
def test_nor_over_the_tools(protocol: str, tmp_path: Path) -> None:
    """R-11: everything that a seat's own token opens, and what is told without a token."""
    pytest.importorskip("mcp")
    from mcp import Client

    from moot.mcp.server import build
    from tests.mcp.test_server import call, refused, resource

    async def main() -> None:
        async with Client(build(tmp_path)) as client:
            found = await call(client, "new", question=QUESTION, protocol=protocol)
            run = found["run"]
            while steps := session_at(tmp_path / run).pending():
                for role in WITHOUT_QUESTION[protocol]:
                    token = found["tokens"][role]
                    heard: list[Any] = [
                        await call(client, "next", run=run, token=token),
                        await call(client, "status", run=run),
                        await resource(client, "moot://runs"),
                        await refused(client, "next", run="nothing", token=token),
                        await refused(client, "decisions", run=run, token=token),
                        await refused(client, "submit", run=run, step="r9.x.y", reply="{}", token=token),
                    ]
                    assert tells(heard) == []
                content = reply(session_at(tmp_path / run).book(), steps[0].step, steps[0].brief.saw)
                mine = found["tokens"][steps[0].step.role]
                await call(
                    client, "submit", run=run, step=steps[0].step.id, reply=content.decode(), token=mine
                )

    anyio.run(main)


def test_a_person_may_give_the_name(moot: Moot) -> None:
    said = moot("run", "-q", QUESTION, "--out", "runs/kettle", "--seats", "host", "--json")
    assert said.json["run"] == "runs/kettle"
    assert moot("status", "kettle").code == 0
    again = moot("run", "-q", QUESTION, "--out", "runs/kettle", "--seats", "host")
    assert (again.code, "there is a run already" in again.err) == (2, True)
    assert moot("run", "--resume", "kettle", "--out", "runs/a", "--seats", "host").code == 2
    assert sorted(path.name for path in Path("runs").glob("[!.]*")) == ["kettle"]


def test_a_name_that_is_taken_is_not_given_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = iter(("bbbb", "bbbb", "cccc"))
    (tmp_path / "2026-03-04-bbbb").mkdir()
    monkeypatch.setattr("moot.app.runs.drawn", lambda: next(draws))
    assert new_directory(tmp_path, TODAY).name == "2026-03-04-cccc"


def test_a_fork_takes_over_its_parents_name(tmp_path: Path) -> None:
    assert fork_directory(tmp_path, "storage", "r7-again").name == "storage.r7-again"
    (tmp_path / "storage.r7-again").mkdir()
    assert fork_directory(tmp_path, "storage", "r7-again").name == "storage.r7-again-2"


def test_a_fork_of_an_example_goes_where_runs_go(moot: Moot, opened: Path, tmp_path: Path) -> None:
    """R-21: recorded examples are left as they are."""
    example = tmp_path / "runs" / "examples" / "one"
    example.parent.mkdir(parents=True)
    shutil.copytree(opened, example)
    made = moot("fork", example, "--round", 1, "--json").json["run"]
    assert Path(made) == Path("runs/one.r1-again")
    assert [path.name for path in example.parent.iterdir()] == ["one"]
