"""The numbers of replies that people are told are those that the protocols ask for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rounds.protocols import PROTOCOLS
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from rounds.setup.size import replies_of

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "integrations" / "plugin" / "skills" / "structured-deliberation"
ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \|", re.M)


def replies(protocol: str, **more: str) -> int:
    """What a run asks for when every step is answered."""
    table = {
        "deliberation": {
            "question": "Which one?",
            "protocol": protocol,
            "options": ["a", "b"],
            "plan": more.pop("plan", None),
        },
        "rules": more,
    }
    return replies_of(resolve(checked(table), {}, moot="0").event).total()


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "structured"])
def test_a_protocol_says_how_many_replies_it_takes(protocol: str) -> None:
    asked = replies(protocol)
    said = [int(number) for number in re.findall(r"\d+", PROTOCOLS[protocol].calls)]
    in_a_range = " to " in PROTOCOLS[protocol].calls and min(said) <= asked <= max(said)
    assert asked in said or asked - 1 in said or in_a_range, (asked, PROTOCOLS[protocol].calls)
    page = (SKILL / "references" / "protocols.md").read_text("utf-8")
    (row,) = re.findall(rf"^\| `{protocol}` \| [^|]+ \| ([^|]+) \|", page, re.M)
    assert asked in [int(number) for number in re.findall(r"\d+", row)], (asked, row)


@pytest.mark.parametrize(("plan", "most"), [("short-5", 84), ("minimum-8", 142), ("standard-13", 258)])
def test_structured_takes_as_many_as_is_said_everywhere(plan: str, most: int) -> None:
    assert replies("structured", plan=plan) == most
    for page in (ROOT / "docs" / "start.md", SKILL / "SKILL.md", SKILL / "references" / "protocols.md"):
        assert str(most) in page.read_text("utf-8"), page
    assert str(most) in PROTOCOLS["structured"].calls
