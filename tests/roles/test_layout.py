"""Layouts: every column that a step may see has its place, and what briefs have in common stands at their beginning."""

from __future__ import annotations

import json
from itertools import chain
from typing import get_args

import pytest

from roles.brief import derive
from roles.brief.context import SCOPES, Reader, ReaderLayout, layout_of
from roles.prompt_set import PromptSet, PromptSetError, installed_prompt_set, read_prompt_set
from roles.protocol import Column, View
from rounds.protocols import PROTOCOLS
from rounds.protocols.structured import STRUCTURED
from rounds.protocols.structured.visibility import VISIBILITY
from rounds.setup.size import played
from tests.pages.protocols import widest_opening
from tests.roles.runs import brief_of, installed, run, step_of, steps_of_run

LAYOUTS = {
    name: layout_of(read_prompt_set(installed_prompt_set(name)))
    for name in sorted({p.prompts for p in PROTOCOLS.values()})  # the same order in every worker
}
READINGS = [
    pytest.param(reading, id=f"{name}-{reader}")
    for name, layout in LAYOUTS.items()
    for reader, reading in layout.readings.items()
]


def reader_of(kind: str, view: View) -> Reader:
    """Who reads the brief of a kind of step."""
    question = view.get(Column.QUESTION)
    judges = question is not None and question.extent in ("goals", "all_to_judge")
    if kind.startswith("S."):
        return "resolver" if judges else "reviewer"
    return "judge" if judges else "writer"


@pytest.mark.parametrize("kind", VISIBILITY)
def test_every_column_that_a_step_may_see_has_one_place(kind: str) -> None:
    view = VISIBILITY[kind]
    reading = LAYOUTS["structured"].readings[reader_of(kind, view)]
    places = list(chain.from_iterable(row.columns for row in reading.rows))
    assert set(view) <= set(places)
    assert len(places) == len(set(places))


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name != "structured"])
def test_every_column_of_a_short_protocol_has_a_place(name: str) -> None:
    protocol = PROTOCOLS[name]
    for state, groups in played(protocol, widest_opening(protocol)):
        for step in chain.from_iterable(group.steps for group in groups):
            view = protocol.view(state, step)
            reading = LAYOUTS[protocol.prompts].readings[reader_of(step.name.phase + ".", view)]
            assert set(view) <= set(chain.from_iterable(row.columns for row in reading.rows)), step.id


@pytest.mark.parametrize("reading", READINGS)
def test_from_row_to_row_a_scope_grows_narrower(reading: ReaderLayout) -> None:
    reach = [SCOPES.index(row.scope) for row in reading.rows]
    assert reach == sorted(reach)


@pytest.mark.parametrize("step", steps_of_run())
def test_from_block_to_block_a_scope_grows_narrower(step: str) -> None:
    brief = derive(run(), STRUCTURED, step_of(run(), step), installed())
    reach = [SCOPES.index(block.scope) for block in brief.blocks]
    assert reach == sorted(reach)
    assert [block.name for block in brief.blocks if block.scope == "step"][-2:] == ["role", "task"]


def test_what_is_the_runs_is_the_same_for_all_who_see_the_question() -> None:
    briefs = [derive(run(), STRUCTURED, step_of(run(), step), installed()) for step in steps_of_run()]
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


# ---------------------------------------------------------------- the layout of a prompt set


def _with(layout: object) -> PromptSet:
    return {**installed(), "layout": layout}


def _rows(*rows: tuple[str, str]) -> object:
    reading = {
        "rows": [{"scope": scope, "columns": [column]} for scope, column in rows],
        "claims": "as_found",
    }
    return {"readings": dict.fromkeys(get_args(Reader), reading)}


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
