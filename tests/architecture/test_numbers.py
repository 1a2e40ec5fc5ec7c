"""The numbers of replies that people are told are those that the protocols ask for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from detectors.parameters import gate_parameters
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


def test_the_page_of_failure_modes_has_the_thresholds() -> None:
    p = gate_parameters()
    wanted = {
        "FM-1": f"| {p.giving_in.p0:.0%}; {p.only_robust.p0:.0%} | {p.only_robust.units_at_least} |",
        "FM-2": f"| {p.pro_forma_broken.p0:.0%} | {p.pro_forma_broken.units_at_least} |",
        "FM-3": f"| {p.drift_unanchored.p0:.0%} ({p.drift_unanchored.p0_where_asked:.0%} where the forms ask for the"
        f" goal); {p.drift_failed.p0:.0%} | {p.drift_unanchored.units_at_least} |",
        "FM-4": f"| an even share and {100 * p.domination_cited.above_share:.0f} points; and"
        f" {100 * p.domination_led.above_share:.0f} points | {p.domination_cited.citations_at_least} |",
        "FM-5": f"| {p.inflation.mean}; certain | {p.inflation.rounds_at_least} rounds |",
        "FM-6": f"| {p.bypass.p0:.0%} | {p.bypass.units_at_least} |",
        "FM-9": f"| certain | {p.examined.others_tested_at_least} claims |",
    }
    page = (ROOT / "docs" / "failure-modes.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (FM-\d) (\|.*)$", page.partition("## Rates")[0], re.M))
    assert {mode: rows[mode] for mode, text in wanted.items() if not rows[mode].endswith(text)} == {}
    assert f"E of {p.watch_at:g} is `WATCH`, {p.alarm_at:g} is `ALARM`" in page
