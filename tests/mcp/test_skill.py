"""The skill keeps the format's rules, names only what exists, and is installed and removed without harm."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")


from ledger.events import Concern, Decision, RunOpened
from ledger.store.store import RunStore
from moot.cli import VERBS
from moot.mcp.server import build
from rounds.protocols import PROTOCOLS
from rounds.protocols.debate_judging import RUBRICS
from rounds.run import responses
from rounds.setup.deliberation import Deliberation, Subject, checked
from rounds.setup.opening import resolve
from rounds.setup.size import replies_of
from tests.cli.conftest import Said, moot
from tests.mcp.conftest import connected

__all__ = ["moot"]

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "integrations" / "plugin"
SKILL = PLUGIN / "skills" / "structured-deliberation"
TEXT = (SKILL / "SKILL.md").read_text("utf-8")


def front() -> dict[str, str]:
    block = TEXT.split("---\n")[1]
    return dict(
        line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(" ")
    )


def test_the_front_matter_keeps_the_rules() -> None:
    said = front()
    assert said["name"] == SKILL.name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", said["name"])
    assert len(said["name"]) <= 64
    assert 1 <= len(said["description"]) <= 1024
    assert "Use when" in said["description"]
    assert len(said["compatibility"]) <= 500
    assert len(TEXT.splitlines()) < 500


def test_every_reference_is_there() -> None:
    linked = set(re.findall(r"\(references/([a-z-]+\.md)\)", TEXT))
    assert linked == {path.name for path in (SKILL / "references").iterdir()}


def test_every_tool_that_is_named_exists(tmp_path: Path) -> None:
    tools = {tool.name for tool in anyio.run(build(tmp_path).list_tools)}
    named = set(re.findall(r"`([a-z_]+)`", TEXT)) & {verb.name for verb in VERBS}
    assert named - {"mcp"} <= tools


def test_the_table_of_protocols_is_complete() -> None:
    table = (SKILL / "references" / "protocols.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.M)) == set(PROTOCOLS)


def test_the_plugin_names_the_server_and_the_skill() -> None:
    plugin = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    market = json.loads((PLUGIN / ".claude-plugin" / "marketplace.json").read_text())
    assert plugin["name"] == market["plugins"][0]["name"] == "moot"
    assert json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["moot"]["args"] == ["mcp"]


def test_files_changed_by_hand_are_not_overwritten(moot: object, tmp_path: Path) -> None:
    def call(*arguments: object) -> Said:
        return moot("mcp", "--install-skill", tmp_path / "skills", *arguments)  # type: ignore[operator,no-any-return]

    assert call().code == 0
    target = tmp_path / "skills" / "structured-deliberation"
    assert (target / "SKILL.md").read_text("utf-8") == TEXT
    assert call().code == 0
    (target / "SKILL.md").write_text("mine")
    assert call().code == 2
    assert (target / "SKILL.md").read_text() == "mine"


def test_the_worked_examples_open_as_they_stand(tmp_path: Path) -> None:
    page = (SKILL / "references" / "set-up.md").read_text("utf-8")
    examples = [json.loads(block) for block in re.findall(r"```json\n(.+?)```", page, re.S)]
    assert [one["protocol"] for one in examples] == ["structured", "adversarial", "priority"]

    async def main() -> None:
        async with connected(tmp_path) as client:
            for example in examples:
                result = await client.call_tool("new", example)
                assert not result.is_error, result.content
                found: Any = result.structured_content
                assert found["open"]
                assert found["held_up"] == []
                for role, part in example.get("cast", {}).items():
                    assert found["cast"][role] == part
                assert found["rules"].items() >= example.get("rules", {}).items()

    anyio.run(main)


def test_the_tables_name_the_arguments_that_tools_take(tmp_path: Path) -> None:
    tools = {
        tool.name: set(tool.input_schema["properties"]) for tool in anyio.run(build(tmp_path).list_tools)
    }
    page = (SKILL / "references" / "set-up.md").read_text("utf-8")
    before, after = page.split("## The other tools")
    said = re.findall(r"`([a-z_]+)`", " ".join(re.findall(r"^\| (.+?) \|", before, re.M)))
    assert set(said) == tools["new"]
    named: set[str] = set()
    for names, arguments in re.findall(r"^\| (`.+?) \| (.+?) \|$", after, re.M):
        words = set(re.findall(r"[a-z_]+", arguments))
        for name in re.findall(r"`([a-z_]+)`", names):
            named.add(name)
            assert words >= tools[name], name
    assert named == set(tools) - {"new"}


def test_every_variant_is_explained() -> None:
    page = (SKILL / "references" / "protocols.md").read_text("utf-8")
    table = page.split("## Variants")[1].split("## The gate")[0]
    named = set(re.findall(r"`([a-z]+)`:", table))
    assert named == {variant for protocol in PROTOCOLS.values() for variant in protocol.variants}
    for protocol in PROTOCOLS.values():
        for variant, values in protocol.variants.items():
            (row,) = [line for line in table.splitlines() if f"`{variant}`:" in line]
            assert protocol.name in row
            assert all(value in row or (value.isdigit() and " to " in row) for value in values), (
                variant,
                values,
            )


def test_the_alarms_are_those_that_the_code_raises() -> None:
    """R-26: FM-4 was described as something else; every response of the code stands in its row."""
    page = (SKILL / "references" / "alarms.md").read_text("utf-8")
    rows = {
        code: (means, does)
        for code, means, does in re.findall(r"^\| (FM-\d) \| (.+?) \| (.+?) \|", page, re.M)
    }
    assert sorted(rows) == [f"FM-{n}" for n in (1, 2, 3, 4, 5, 6, 7, 9)]
    wording = {
        "harden_critic": "hardens the critic",
        "safety_valve": "fair failed attack",
        "resurface_goals": "goals again",
        "share_the_frame": "shared frame",
        "cap_claims": "caps",
        "raise_claims": "raises",
        "deepen_evidence": "exact places",
    }
    for (mode, _), (_, name) in responses.RESPONSES.items():
        assert wording[name] in rows[mode][1], (mode, name)
    for mode, role in responses.STRESSED.items():
        assert ("without" in rows[mode][1]) or mode == "FM-7", (mode, role)
    named = {"FM-4": "dominates", "FM-5": "inflate"}
    assert all(word in rows[mode][0] for mode, word in named.items())


def test_the_rubrics_weigh_as_they_are_said_to() -> None:
    """R-26: no rubric is "out of 30" or "out of 40"."""
    page = (SKILL / "references" / "protocols.md").read_text("utf-8")
    for rubric, weights in RUBRICS.items():
        said = page.split(f"{rubric} ", 2)[-1 if rubric == "evidence40" else 1]
        assert [int(share) for share in re.findall(r"(\d+) %", said)][: len(set(weights.values()))] == sorted(
            {int(100 * weight) for weight in weights.values()}, reverse=True
        )
    assert "out of" not in page
    assert "briefing" not in page


def test_the_replies_that_it_names_are_asked_for() -> None:
    """R-26: the numbers of the tables, from the protocols themselves."""
    page = (SKILL / "references" / "protocols.md").read_text("utf-8")
    for name, replies in re.findall(r"^\| `([a-z-]+)` \| [^|]+ \| ([^|]+) \|", page, re.M):
        table: dict[str, Any] = {"question": "Which?", "protocol": name}
        if PROTOCOLS[name].options_wanted[0]:
            table["options"] = ["a", "b"]
        opening = resolve(checked({"deliberation": table}), {}, moot="0.0.0")
        assert str(replies_of(opening.event).total()) in re.findall(r"\d+", replies), name


def test_new_takes_every_key_of_a_deliberation_file(tmp_path: Path) -> None:
    """R-26: rows, stress, drift, profile and budgets could not be set by MCP."""
    tools = {
        tool.name: set(tool.input_schema["properties"]) for tool in anyio.run(build(tmp_path).list_tools)
    }
    keys = set(Subject.model_fields) | (set(Deliberation.model_fields) - {"deliberation"})
    assert tools["new"] == keys | {"max_rounds"}


def test_new_passes_every_key_on(tmp_path: Path) -> None:
    """R-26: and what is said there is what the run is opened with."""
    said: dict[str, Any] = {
        "question": "Which of two?",
        "profile": "published",
        "check_every": 2,
        "not_before": 6,
        "positions": "off",
        "round": [{"n": 1}, {"n": 2, "absent": "critic", "focus": "cost"}, {"n": 3, "drift": True}],
        "predict": [{"role": "critic", "code": "no_broken", "text": "nobody attacks"}],
        "budget": {"usd": "2.50", "minutes": 90},
        "max_rounds": 3,
    }

    async def main() -> RunOpened:
        async with connected(tmp_path) as client:
            found = await client.call_tool("new", said)
            assert not found.is_error, found.content
            for question, protocol in (("Should we move?", "crux"), ("Rewrite this letter.", "ratchet")):
                routed = (await client.call_tool("new", {"question": question})).structured_content
                gated = (await client.call_tool("gate", {"text": question})).structured_content
                assert routed is not None
                assert gated is not None
                assert routed["protocol"] == gated["protocol"] == protocol
                assert routed["gate"] == gated["reason"]
            named = await client.call_tool("new", {"question": "Should we move?", "protocol": "debate"})
            assert named.structured_content is not None
            assert named.structured_content["gate"] is None
            refused = await client.call_tool(
                "new", {"question": "Is it so?", "context": [{"name": "a", "path": "/etc/hostname"}]}
            )
            assert refused.is_error
            assert "document by path" in str(refused.content)
            assert found.structured_content is not None
            opened = RunStore(tmp_path / found.structured_content["run"]).state().opened
            assert opened is not None
            return opened

    opened = anyio.run(main)
    assert (opened.stop.profile, opened.stop.check_every, opened.stop.not_before) == ("published", 2, 6)
    assert [(row.absent, row.drift, row.focus) for row in opened.plan[:2]] == [
        (None, False, None),
        ("critic", False, "cost"),
    ]
    assert opened.plan[2].drift
    assert opened.rules["positions"] == "off"
    assert (opened.budgets.usd, opened.budgets.minutes, opened.budgets.rounds) == ("2.50", 90, 3)
    assert "nobody attacks" in {one.text for one in opened.predict}


def test_the_worked_example_goes_as_it_says(tmp_path: Path) -> None:
    """R-26: there was none. Set up, refused, handed in and decided as on the page."""
    page = (SKILL / "references" / "example.md").read_text("utf-8")
    set_up, urgency, impact = (json.loads(block) for block in re.findall(r"```json\n(.+?)```", page, re.S))
    quoted = re.findall(r"^> (.+)$", page, re.M)

    async def main() -> tuple[str, list[str]]:
        async with connected(tmp_path) as client:
            opened = (await client.call_tool("new", set_up)).structured_content
            assert opened is not None
            errors = ""
            for role, reply in (("urgency", urgency), ("impact", impact)):
                step = {"run": opened["run"], "step": f"r1.rating.{role}", "token": opened["tokens"][role]}
                short = {**reply, "levels": reply["levels"][:2]}
                first = await client.call_tool("submit", {**step, "reply": json.dumps(short)})
                assert first.structured_content is not None
                (errors,) = first.structured_content["errors"]
                done = (
                    await client.call_tool("submit", {**step, "reply": json.dumps(reply)})
                ).structured_content
                assert done is not None
                assert done["accepted"], done["errors"]
        book = RunStore(tmp_path / opened["run"]).book()
        finals = [
            event.text for event in book.events if isinstance(event, Decision) and event.type == "final"
        ]
        asked = [event.text for event in book.events if isinstance(event, Concern) and event.for_human]
        return errors, [*finals, *asked]

    errors, texts = anyio.run(main)
    assert errors in page
    assert texts == quoted
