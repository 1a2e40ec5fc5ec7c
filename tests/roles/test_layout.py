"""Layouts: every column that a step may see has its place, and what briefs have in common stands at their beginning."""

from __future__ import annotations

import json
from itertools import chain
from typing import get_args

import pytest

from roles.brief import derive
from roles.brief.layout import LAYOUTS, SCOPES, Reader, ReaderLayout, layout_of
from roles.prompt_set import PromptSet, PromptSetError, installed_prompt_set, read_prompt_set
from roles.protocol import Column, Protocol, View
from rounds.protocols import PROTOCOLS
from rounds.protocols.structured import STRUCTURED_1 as STRUCTURED
from rounds.protocols.structured.visibility import VISIBILITY, VISIBILITY_1
from tests.roles.runs import brief_of, installed, run, step_of, steps_of_run

READINGS = [
    pytest.param(reading, id=f"{version}-{reader}")
    for version, layout in LAYOUTS.items()
    for reader, reading in layout.readings.items()
]


def reader_of(kind: str, view: View) -> Reader:
    """Who reads the brief of a kind of step."""
    judges = view[Column.QUESTION].extent in ("goals", "all_to_judge")
    if kind.startswith("S."):
        return "resolver" if judges else "reviewer"
    return "judge" if judges else "writer"


OWN = layout_of(read_prompt_set(installed_prompt_set("structured")), 3)


@pytest.mark.parametrize("version", [1, 3, "own"])
@pytest.mark.parametrize("kind", VISIBILITY)
def test_every_column_that_a_step_may_see_has_one_place(version: int | str, kind: str) -> None:
    view = (VISIBILITY if version == "own" else VISIBILITY_1).get(kind, {})
    if not view:
        return  # a step that came later
    layout = OWN if isinstance(version, str) else LAYOUTS[version]
    reading = layout.readings[reader_of(kind, view)]
    places = list(chain.from_iterable(row.columns for row in reading.rows))
    assert set(view) <= set(places)
    assert len(places) == len(set(places))


@pytest.mark.parametrize("reading", READINGS)
def test_from_row_to_row_a_scope_grows_narrower(reading: ReaderLayout) -> None:
    reach = [SCOPES.index(row.scope) for row in reading.rows]
    assert reach == sorted(reach)


@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize("step", steps_of_run())
def test_from_block_to_block_a_scope_grows_narrower(version: int, step: str) -> None:
    ledger = run(version)
    brief = derive(ledger, STRUCTURED, step_of(ledger, step), _without())
    reach = [SCOPES.index(block.scope) for block in brief.blocks]
    assert reach == sorted(reach)
    assert [block.name for block in brief.blocks if block.scope == "step"][-2:] == ["role", "task"]


@pytest.mark.parametrize("version", [1, 3])
def test_what_is_the_runs_is_the_same_for_all_who_see_the_question(version: int) -> None:
    ledger = run(version)
    briefs = [derive(ledger, STRUCTURED, step_of(ledger, step), _without()) for step in steps_of_run()]
    of_run = {tuple(block for block in brief.blocks if block.scope == "run") for brief in briefs}
    assert len(of_run) == 2, "the question, or the goals alone"


def test_what_is_the_rounds_is_the_same_for_its_checks() -> None:
    checks = [step for step in steps_of_run() if step.startswith("r1.E.check") and "check4" not in step]
    briefs = [derive(run(), STRUCTURED, step_of(run(), step), installed()) for step in checks]
    wide = {
        tuple(block for block in brief.blocks if block.scope in ("run", "earlier", "round"))
        for brief in briefs
    }
    assert len(checks) > 1
    assert len(wide) == 1


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda protocol: protocol.name)
def test_every_protocol_has_a_layout(protocol: Protocol) -> None:
    assert protocol.brief_version in LAYOUTS


# ---------------------------------------------------------------- the layout of a prompt set


def _with(layout: object) -> PromptSet:
    return {**installed(), "layout": layout}


def _rows(*rows: tuple[str, str]) -> object:
    reading = {
        "rows": [{"scope": scope, "columns": [column]} for scope, column in rows],
        "claims": "as_found",
    }
    return {"readings": dict.fromkeys(get_args(Reader), reading)}


def _without() -> PromptSet:
    return {key: value for key, value in installed().items() if key != "layout"}


@pytest.mark.parametrize(
    "protocol",
    [STRUCTURED, *(one for one in PROTOCOLS.values() if one.name not in ("structured", "crux"))],
    ids=lambda protocol: protocol.name,
)
def test_an_installed_set_has_the_layout_that_runs_had_before_it_lay_there(protocol: Protocol) -> None:
    prompt_set = read_prompt_set(installed_prompt_set(protocol.prompts))
    assert layout_of(prompt_set, protocol.brief_version) == LAYOUTS[protocol.brief_version]


@pytest.mark.parametrize("version", LAYOUTS)
def test_a_set_without_a_layout_has_the_one_of_the_version(version: int) -> None:
    assert layout_of(_without(), version) is LAYOUTS[version]


def test_another_order_is_data() -> None:
    layout = json.loads(json.dumps(installed()["layout"]))
    writer = layout["readings"]["writer"]
    writer["rows"][2]["columns"].reverse()
    names = [block.name for block in brief_of(run(), "r1.F.critic", _with(layout)).blocks]
    assert names.index("verdicts") < names.index("claims") < names.index("plan")
    before = brief_of(run(), "r1.F.critic")
    assert brief_of(run(), "r1.F.critic", _with(layout)).saw == before.saw
    assert brief_of(run(), "r1.F.critic", _with(layout)).prompt_set != before.prompt_set


@pytest.mark.parametrize(
    ("layout", "says"),
    [
        (None, "cannot be read"),
        ({"readings": {}, "words": "columns"}, "nothing for judge"),
        ({"readings": {}, "words": "songs"}, "cannot be read"),
        ({"readings": {}, "colour": "red"}, "cannot be read"),
        (_rows(("run", "moon")), "cannot be read"),
        (_rows(("step", "plan"), ("run", "claims")), "out of order"),
        (_rows(("run", "plan"), ("run", "plan")), "twice"),
    ],
)
def test_a_layout_that_cannot_be_read_is_said(layout: object, says: str) -> None:
    with pytest.raises(PromptSetError, match=says):
        brief_of(run(), "r1.F.critic", _with(layout))
