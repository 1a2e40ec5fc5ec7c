"""The skill keeps the format's rules, names only what exists, and is installed and removed without harm."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")

from mcp import Client

from moot.cli import VERBS
from moot.mcp.server import build
from rounds.protocols import PROTOCOLS
from tests.cli.conftest import Said, moot

__all__ = ["moot"]

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "skills" / "structured-deliberation"
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
    plugin = json.loads((ROOT / ".claude-plugin" / "plugin.json").read_text())
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    assert plugin["name"] == market["plugins"][0]["name"] == "moot"
    assert json.loads((ROOT / ".mcp.json").read_text())["mcpServers"]["moot"]["args"] == ["mcp"]


def test_install_and_uninstall(moot: object, tmp_path: Path) -> None:
    def call(*arguments: object) -> Said:
        return moot("install-skill", "--to", tmp_path / "skills", *arguments)  # type: ignore[operator,no-any-return]

    assert call("--dry-run").code == 0
    assert not (tmp_path / "skills").exists()
    assert call("--uninstall").code == 2
    assert call().code == 0
    target = tmp_path / "skills" / "structured-deliberation"
    assert (target / "SKILL.md").read_text("utf-8") == TEXT
    assert call().code == 0
    (target / "SKILL.md").write_text("mine")
    assert call().code == 2
    assert call("--uninstall").code == 2
    assert (target / "SKILL.md").read_text() == "mine"
    (target / "SKILL.md").write_text(TEXT, "utf-8")
    assert call("--uninstall", "--json").json["done"] == "removed"
    assert not target.exists()


def test_the_worked_examples_open_as_they_stand(tmp_path: Path) -> None:
    page = (SKILL / "references" / "set-up.md").read_text("utf-8")
    examples = [json.loads(block) for block in re.findall(r"```json\n(.+?)```", page, re.S)]
    assert [one["protocol"] for one in examples] == ["structured", "adversarial", "priority"]

    async def main() -> None:
        async with Client(build(tmp_path)) as client:
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
