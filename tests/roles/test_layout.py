"""Layouts: every column that a step may see has its place, and what briefs have in common stands at their beginning."""

from __future__ import annotations

from itertools import chain

import pytest

from roles.brief import derive
from roles.brief.layout import LAYOUTS, SCOPES, Reader, Reading
from roles.protocol import Column, Protocol, View
from rounds.protocols import PROTOCOLS
from rounds.protocols.structured import STRUCTURED
from rounds.protocols.structured.visibility import VISIBILITY
from tests.roles.runs import installed, run, step_of, steps_of_run

READINGS = [
    pytest.param(reading, id=f"{version}-{reader}")
    for version, layout in LAYOUTS.items()
    for reader, reading in layout.readings.items()
]


def reader_of(kind: str, view: View) -> Reader:
    """Who reads the brief of a kind of step."""
    judges = view[Column.QUESTION].extent == "goals"
    if kind.startswith("S."):
        return "resolver" if judges else "reviewer"
    return "judge" if judges else "writer"


@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize("kind", VISIBILITY)
def test_every_column_that_a_step_may_see_has_one_place(version: int, kind: str) -> None:
    view = VISIBILITY[kind]
    reading = LAYOUTS[version].readings[reader_of(kind, view)]
    places = list(chain.from_iterable(row.columns for row in reading.rows))
    assert set(view) <= set(places)
    assert len(places) == len(set(places))


@pytest.mark.parametrize("reading", READINGS)
def test_from_row_to_row_a_scope_grows_narrower(reading: Reading) -> None:
    reach = [SCOPES.index(row.scope) for row in reading.rows]
    assert reach == sorted(reach)


@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize("step", steps_of_run())
def test_from_block_to_block_a_scope_grows_narrower(version: int, step: str) -> None:
    ledger = run(version)
    brief = derive(ledger, STRUCTURED, step_of(ledger, step), installed())
    reach = [SCOPES.index(block.scope) for block in brief.blocks]
    assert reach == sorted(reach)
    assert [block.name for block in brief.blocks if block.scope == "step"][-2:] == ["role", "task"]


@pytest.mark.parametrize("version", [1, 3])
def test_what_is_the_runs_is_the_same_for_all_who_see_the_question(version: int) -> None:
    ledger = run(version)
    briefs = [derive(ledger, STRUCTURED, step_of(ledger, step), installed()) for step in steps_of_run()]
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
