"""F-4, R-13: every tool and resource with every kind of token, on an open and on a finished run, cell by cell."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

pytest.importorskip("mcp")

from mcp import MCPError

from ledger.store import disk
from moot.app.session import session_at
from moot.errors import MootError
from moot.mcp import rights
from moot.mcp.server import build
from tests.cli.conftest import Moot, moot
from tests.mcp.conftest import connected
from tests.mcp.test_server import opened, play

__all__ = ["moot"]

ROOT: Final = Path(__file__).parents[2]
SEATS: Final = ("pro", "con", "judge")
KINDS: Final = ("none", *SEATS, "operator", "another run's", "forged")
EVERY: Final = ("none", *SEATS, "operator")
HOLDERS: Final = (*SEATS, "operator")

TABLE: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    # a tool or resource: who is let in while the run is open, and once it is finished
    "protocols": (KINDS, KINDS),  # these four take no token, so none can be wrong
    "gate": (KINDS, KINDS),
    "new": (KINDS, KINDS),
    "status": (KINDS, KINDS),
    "next": (HOLDERS, HOLDERS),
    "submit": (("pro", "operator"), ("pro", "operator")),  # a step of pro's
    "claims": (("operator",), EVERY),
    "decisions": (("operator",), EVERY),
    "check": (("operator",), EVERY),
    "signals": (("operator",), EVERY),
    "forecasts": (("operator",), EVERY),
    "log": (("operator",), EVERY),
    "show": (("operator",), EVERY),
    "why": (("operator",), EVERY),
    "diff": (("operator",), EVERY),
    "report": (("operator",), EVERY),
    "give_up": (("operator",), ("operator",)),
    "answer": (("operator",), ("operator",)),
    "override": (("operator",), ("operator",)),
    "ack": (("operator",), ("operator",)),
    "ask": (("operator",), ("operator",)),
    "note": (("operator",), ("operator",)),
    "fork": (("operator",), ("operator",)),
    "moot://runs": (KINDS, KINDS),  # a resource has no place for a token
    "moot://runs/{run}/briefs/{step}": ((), KINDS),
}
ARGUMENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "protocols": {},
    "gate": {"text": "Which storage?"},
    "new": {"question": "Which storage?", "protocol": "ratchet"},
    "submit": {"step": "r1.opening.pro", "reply": "{}"},
    "give_up": {"step": "r9.opening.pro", "reason": "gone"},
    "answer": {"question": "N-9-9", "text": "yes"},
    "show": {"id": "@0"},
    "why": {"id": "C-1-1"},
    "override": {"target": "D-9-9", "text": "no"},
    "ack": {"alarm": "FM-1", "text": "seen"},
    "note": {"text": "a remark"},
    "fork": {"round": 1},
}
WRITES: Final = frozenset({"note"})
"""Of the calls above, those that change this run when they are let in."""


async def is_let_in(client: Any, door: str, run: str, token: str | None) -> bool:
    """Whether a call gets past the rights, whatever comes of it then."""
    if door.startswith("moot:"):
        try:
            await client.read_resource(door.replace("{run}", run).replace("{step}", "r1.opening.pro"))
        except MCPError as error:
            return "(token)" not in str(error)
        return True
    arguments = dict(ARGUMENTS.get(door, {}))
    if door == "diff":
        arguments |= {"a": run, "b": run}
    elif door not in ("protocols", "gate", "new"):
        arguments["run"] = run
    result = await client.call_tool(door, arguments if token is None else {**arguments, "token": token})
    said = str(result.content[0].text) if result.is_error else ""
    return not ("(token)" in said or "`token`: Field required" in said)


def kinds_of(client_tokens: Mapping[str, str], other: Mapping[str, str]) -> dict[str, str | None]:
    return {
        "none": None,
        **{role: client_tokens[role] for role in (*SEATS, "operator")},
        "another run's": other["operator"],
        "forged": "operator." + "0" * 40,
    }


def test_the_table_names_every_door(tmp_path: Path) -> None:
    """F-4: no tool and no resource without a right."""

    async def main() -> set[str]:
        server = build(tmp_path)
        tools = {tool.name for tool in await server.list_tools()}
        uris = {str(one.uri) for one in await server.list_resources()}
        return tools | uris | {one.uri_template for one in await server.list_resource_templates()}

    assert anyio.run(main) == set(TABLE) == set(rights.RIGHT_OF)


@pytest.mark.parametrize("finished", [False, True], ids=["open", "finished"])
def test_every_door_with_every_token(finished: bool, tmp_path: Path) -> None:
    """F-4: what is allowed, cell by cell; what is refused writes nothing and makes no run."""

    async def main() -> int:
        cells = 0
        async with connected(tmp_path) as client:
            found, other = await opened(client, "debate"), await opened(client, "debate")
            run = found["run"]
            if finished:
                await play(client, tmp_path, found)
            assert session_at(tmp_path / run).book().state.finished is finished
            for door, columns in TABLE.items():
                for kind, token in kinds_of(found["tokens"], other["tokens"]).items():
                    head = session_at(tmp_path / run).run.head()
                    there = set(tmp_path.iterdir())
                    let_in = await is_let_in(client, door, run, token)
                    assert let_in is (kind in columns[finished]), (door, kind)
                    if not (let_in and door in WRITES):
                        assert session_at(tmp_path / run).run.head() == head, (door, kind)
                    if not let_in:
                        assert set(tmp_path.iterdir()) == there, (door, kind)
                    cells += 1
        return cells

    assert anyio.run(main) == len(TABLE) * len(KINDS)


def test_a_diff_takes_the_token_of_the_run_that_is_open(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            done, live, third = [await opened(client, "debate") for _ in range(3)]
            await play(client, tmp_path, done)

            async def differs(a: Any, b: Any, token: str | None) -> bool:
                said = {"a": a["run"], "b": b["run"]} | ({"token": token} if token else {})
                return not (await client.call_tool("diff", said)).is_error

            assert await differs(done, done, None)
            assert await differs(done, done, done["tokens"]["pro"])
            assert not await differs(done, done, live["tokens"]["operator"])
            for pair in ((done, live), (live, done)):
                assert await differs(*pair, live["tokens"]["operator"])
                assert not await differs(*pair, live["tokens"]["pro"])
                assert not await differs(*pair, done["tokens"]["operator"])
                assert not await differs(*pair, third["tokens"]["operator"])
                assert not await differs(*pair, None)
            assert not await differs(live, third, live["tokens"]["operator"])

    anyio.run(main)


def test_forks_of_one_round_get_names_of_their_own(tmp_path: Path) -> None:
    async def main() -> None:
        async with connected(tmp_path) as client:
            found = await opened(client, "debate")
            asked = {"run": found["run"], "round": 1, "token": found["tokens"]["operator"]}
            made = [(await client.call_tool("fork", asked)).structured_content for _ in range(3)]
            assert len({one["run"] for one in made}) == 3
            assert len({one["tokens"]["pro"] for one in made}) == 3

    anyio.run(main)


def test_the_page_says_what_the_table_says() -> None:
    """F-4: docs/agent-hosts.md repeats moot/mcp/rights.py."""
    page = (ROOT / "docs" / "agent-hosts.md").read_text("utf-8")
    said = dict(re.findall(r"^\| `([^`]+)` \| .+? \| (.+?) \|$", page, re.M))
    assert said == {door: str(right) for door, right in rights.RIGHT_OF.items()}
    names = {
        rights.EVERYBODY: "everybody",
        rights.WITH_A_TOKEN: "the seat, the operator",
        rights.OPERATOR_ALONE: "the operator",
    }
    for right in rights.Right:
        row = f"| {right} | {names[rights.WHILE_OPEN[right]]} | {names[rights.ONCE_FINISHED[right]]} |"
        assert row in page


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"00", b"0" * 62, b"0" * 63, b"x" * 64, b"\xff" * 64, b"0" * 9999]
)
def test_a_secret_that_could_be_guessed_is_refused(content: bytes, tmp_path: Path) -> None:
    """R-13: an empty or short secret makes no tokens."""
    (tmp_path / rights.SECRET_NAME).write_bytes(content)
    with pytest.raises(MootError, match="could be forged") as refused:
        build(tmp_path)
    assert "remove it" in refused.value.fix
    assert (tmp_path / rights.SECRET_NAME).read_bytes() == content


def test_the_command_refuses_a_bad_secret_in_one_line(moot: Moot, tmp_path: Path) -> None:
    """R-13: `moot mcp` ends with exit 2 before it serves."""
    (tmp_path / rights.SECRET_NAME).touch()
    said = moot("mcp", "--runs", tmp_path)
    assert (said.code, said.err.count("\n"), said.out) == (2, 1, "")
    assert "remove it" in said.err


def test_a_secret_comes_whole_and_private_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-13: a crash between creating and writing leaves no secret; the umask and another process change nothing."""
    place = tmp_path / "runs" / rights.SECRET_NAME

    def crash(descriptor: int, content: bytes) -> None:
        os.write(descriptor, content[:7])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(disk, "write_fully", crash)
        with pytest.raises(KeyboardInterrupt):
            rights.rights_in(place.parent)
    assert not place.exists()
    before = os.umask(0)
    try:
        made = rights.rights_in(place.parent)
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o600
    assert len(made.secret) == 32
    assert [one.name for one in place.parent.iterdir()] == [rights.SECRET_NAME]
    rights._make_secret(place)  # another process that found none a moment ago
    assert rights.rights_in(place.parent).secret == made.secret


def test_a_file_system_without_links_gets_its_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    made = rights.rights_in(tmp_path)
    assert rights.rights_in(tmp_path).secret == made.secret
    assert [one.name for one in tmp_path.iterdir()] == [rights.SECRET_NAME]


def test_a_pipe_is_no_secret(moot: Moot, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / rights.SECRET_NAME)
    assert moot("mcp", "--runs", tmp_path).code == 2


def test_tokens_of_a_finished_run_are_printed_too(moot: Moot, tmp_path: Path) -> None:
    """F-4: acting after the end takes the operator's token, so it can be had."""

    async def main() -> dict[str, Any]:
        async with connected(tmp_path) as client:
            found = await opened(client, "ratchet")
            await play(client, tmp_path, found)
            return found

    found = anyio.run(main)
    said = moot("mcp", "--runs", tmp_path, "--tokens", found["run"])
    assert (said.code, said.out) == (
        0,
        "".join(f"{role} {token}\n" for role, token in found["tokens"].items()),
    )
